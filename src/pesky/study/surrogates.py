"""From evaluations to observations, and to what is believed given them."""

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import accumulate, islice
from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool
from torch import Tensor

from pesky.model.belief import Belief, for_hyper_samples, over_hyper_samples
from pesky.model.exact import with_exact_rows, without_exact_rows
from pesky.model.gp import GaussianProcess
from pesky.model.hyper import Hyperparameters
from pesky.model.limited import with_conditions, without_conditions
from pesky.model.outliers import MOST_DATA, SHARE, is_outlier, least_data, suspects
from pesky.model.surrogate import FEWEST, GP, GROWN, Fitted
from pesky.model.through import with_others
from pesky.numerics.runtime import threads_for
from pesky.observations import Observations, collect, conditions_of
from pesky.optimum.active_set import Parted, active_set, has_many
from pesky.problem import Problem
from pesky.space import Space
from pesky.space.exact import Exact, exact_outcomes
from pesky.store import Evaluation, State
from pesky.store.evaluation import told_by
from pesky.study.learnt import Learnt
from pesky.study.outliers import Announcer, Outlier, Place, trusted
from pesky.study.points import Points
from pesky.study.slips import hopeless

if TYPE_CHECKING:
    from botorch.models.model import Model

LOOKED_AT = 2
"""How many suspect values of a row are looked at."""

FitBotorch = Callable[[list[tuple[Tensor, Tensor]]], "Model"]
"""A function that fits a BoTorch model; see `Study`."""

DataKey = tuple[tuple[int, int, bool, int], ...]
"""What identifies the data: the evaluations that told something, how much, whether they failed, and how often they were
corrected, excluded or included."""


def data_key(evaluations: Mapping[int, Evaluation]) -> DataKey:
    """The same for evaluations that have told the same."""
    told = (e for e in evaluations.values() if e.outcomes or e.state is State.FAILED)
    return tuple((e.id, len(e.outcomes), e.state is State.FAILED, len(e.corrections)) for e in told)


@dataclass(frozen=True)
class Believed:
    """A belief, the data that it is of, and the values among them that it leaves out."""

    key: DataKey
    condition: Callable[[], Belief]
    """What is believed, where it is asked for: a fit that others go on from is not, mostly."""
    observations: Observations
    outliers: tuple[Outlier, ...]
    fitted: Fitted | None
    """Where the next fit may start."""
    acquitted: Mapping[tuple[int, str, float], int]
    """Values that were suspect to no avail, and how many their outcome had then."""

    @cached_property
    def belief(self) -> Belief:
        return self.condition()


class Surrogates:
    """The models of a problem's rows, fitted anew when there are new data."""

    def __init__(
        self,
        problem: Problem,
        space: Space,
        model: GP | FitBotorch,
        seed: int,
        announcer: Announcer | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        self.problem, self.space, self.model, self.seed = problem, space, model, seed
        self.points = Points(space, device)
        self.learnt = Learnt(problem, self.points)
        self._last: Believed | None = None
        self._due: Believed | None = None
        self._afresh: Believed | None = None
        self._announcer = Announcer() if announcer is None else announcer
        self._spread: tuple[DataKey, Belief] | None = None

    def anew(self) -> "Surrogates":
        """The same models, which have seen nothing yet: to look at some of the data disturbs nothing here."""
        return Surrogates(
            self.problem, self.space, self.model, self.seed, Announcer(is_silent=True), self.points.device
        )

    def check_known(self) -> None:
        """Nothing, or a ProblemError if a known outcome's function does not work: before anything is measured."""
        for outcome in self._exact.values():
            _ = outcome.spread

    def observations(self, evaluations: Mapping[int, Evaluation], left_out: Collection[Place] = ()) -> Observations:
        """Everything measured but what is left out, per row, in scaled units; running a task measures its success."""
        every = trusted(self.learnt(evaluations), left_out).values()
        told = [(self.points.of(e), values) for e in every if (values := told_by(e, self.problem))]
        return collect(self.problem, self.space, told, self._exact).to(self.points.device)

    def believe(self, evaluations: Mapping[int, Evaluation]) -> tuple[Belief, Observations]:
        """The belief that all measurements support, hyperparameters refitted, and the observations that it is of.

        It follows from the measurements, whatever was asked when: that of a study that is loaded is the same. Only
        chains of samples of hyperparameters go on from where they were.
        """
        key = data_key(evaluations)
        if self._last is None or self._last.key != key:
            with threads_for(len(key)):
                before = self._last if self._is_chain else self._when_due(evaluations)
                self._last = self._believe(evaluations, key, before)
                _ = self._last.belief
            if before is None:
                self._due = self._afresh = self._last
            self._announcer.say(self._last.outliers)
        return self._last.belief, self._last.observations

    def believe_afresh(self, evaluations: Mapping[int, Evaluation]) -> tuple[Belief, Observations]:
        """The same by chains of samples that start anew, if there are any: what a study that is loaded believes, too.

        Answers rest on this one.
        """
        found = self._believed_afresh(evaluations)
        return found.belief, found.observations

    def outliers(self, evaluations: Mapping[int, Evaluation]) -> tuple[Outlier, ...]:
        """The values that answers leave out."""
        return self._believed_afresh(evaluations).outliers

    @property
    def left_out(self) -> tuple[Outlier, ...]:
        """The values that the last belief which questions rest on leaves out."""
        return () if self._last is None else self._last.outliers

    def _believed_afresh(self, evaluations: Mapping[int, Evaluation]) -> Believed:
        if not self._is_chain:
            self.believe(evaluations)
            assert self._last is not None
            return self._last
        key = data_key(evaluations)
        if self._afresh is None or self._afresh.key != key:
            with threads_for(len(key)):
                self._afresh = self._believe(evaluations, key, None)
                _ = self._afresh.belief
            self._announcer.say(self._afresh.outliers)
        return self._afresh

    @property
    def _is_chain(self) -> bool:
        """Whether hyperparameters are samples of a Markov chain."""
        return isinstance(self.model, GP) and self.model.hyperparameters == "slice"

    def _when_due(self, evaluations: Mapping[int, Evaluation]) -> Believed | None:
        """What was to be believed when hyperparameters were due to be sought from all starts; None if they are now."""
        learnt = self.learnt(evaluations)
        some = dict(islice(learnt.items(), self._count_when_due(learnt)))
        if len(some) == len(learnt):
            return None
        key = data_key(some)
        if self._due is None or self._due.key != key:
            self._due = self._believe(some, key, None)
        return self._due

    def _count_when_due(self, learnt: Mapping[int, Evaluation]) -> int:
        """How many evaluations there were then: the first with so many values, which grow by a constant factor."""
        numbers = set(self._names).intersection(self.problem.outcomes) - self.problem.yes_no
        values = [*accumulate(len(e.outcomes.keys() & numbers) for e in learnt.values())]
        is_searched = isinstance(self.model, GP) and self.model.is_searched
        if not is_searched or not numbers or not values or values[-1] < FEWEST * len(numbers):
            return len(values)
        of_each = GROWN ** math.floor(math.log(values[-1] / len(numbers), GROWN))
        return 1 + bisect_left(values, of_each * len(numbers))

    def _believe(self, evaluations: Mapping[int, Evaluation], key: DataKey, before: Believed | None) -> Believed:
        """What all measurements support but those that all others contradict; these are found one after the other.

        It goes on from what was believed `before`.
        """
        previous = None if before is None else before.fitted
        goes_on = previous is not None and previous.searched > 0
        unusable = self._hopeless(evaluations)
        left_out = [*dict.fromkeys(unusable + (self._unchanged(evaluations, before) if goes_on else []))]
        acquitted = {} if before is None else dict(before.acquitted)
        while True:
            o = self.observations(evaluations, left_out)
            condition, o, fitted = self._fit(o, len(key), previous)
            if left_out and goes_on and (fitted is None or previous is None or fitted.searched != previous.searched):
                left_out, goes_on = unusable, False  # whenever all starts are tried again, all values are judged again
                continue
            more = None if fitted is None else self._outlier(evaluations, left_out, fitted, acquitted)
            if more is None:
                break
            left_out = [*left_out, more]
            # with one value less, the others of its outcome are judged again
            acquitted = {known: count for known, count in acquitted.items() if known[1] != more[1]}
        learnt = self.learnt(evaluations)
        found = Believed(key, cache(condition), o, (), fitted, acquitted)
        described = (self._described(learnt[id_], outcome, found.belief, o) for id_, outcome in sorted(left_out))
        return replace(found, outliers=tuple(described)) if left_out else found

    def _hopeless(self, evaluations: Mapping[int, Evaluation]) -> list[Place]:
        """The values of the objective that no model can use."""
        if not isinstance(self.model, GP) or not self.model.outliers:
            return []
        return [(each.evaluation, each.outcome) for each in hopeless(self.problem, self.learnt(evaluations).values())]

    def _unchanged(self, evaluations: Mapping[int, Evaluation], before: Believed | None) -> list[Place]:
        """What was left out before and was not corrected or excluded since."""
        now = self.learnt(evaluations)
        return [
            (each.evaluation, each.outcome)
            for each in (() if before is None else before.outliers)
            if each.evaluation in now and now[each.evaluation].outcomes.get(each.outcome) == each.value
        ]

    def believe_spread(self, evaluations: Mapping[int, Evaluation]) -> Belief:
        """The same with hyperparameters as uncertain as the data leave them, in as many samples."""
        key = data_key(evaluations)
        if self._spread is None or self._spread[0] != key:
            belief, o = self.believe_afresh(evaluations)
            with threads_for(len(key)):
                self._spread = key, self._with_spread(belief, o, len(key))
        return self._spread[1]

    def _with_spread(self, belief: Belief, o: Observations, count: int) -> Belief:
        gp = without_exact_rows(without_conditions(belief))
        if not isinstance(self.model, GP) or not isinstance(gp, GaussianProcess):
            return belief
        measured = self._measured(o)
        relevant = self._relevant(self._names)
        generator = torch.Generator().manual_seed(self.seed + count)
        h = self.model.spread(_alike(measured, relevant), gp.hyperparameters, generator)
        if h is gp.hyperparameters:
            return belief
        spread = self.model.condition(measured, _constant(h, relevant), self._snap)
        return self._completed(spread, o)

    def observations_like(self, units: Observations, evaluations: Mapping[int, Evaluation]) -> Observations:
        """Everything measured but what the last belief left out, in the units of earlier data."""
        return self.observations(evaluations, self._unchanged(evaluations, self._last)).in_units_of(units)

    def condition(self, before: Belief, o: Observations) -> Belief:
        """The belief given these observations, at the hyperparameters of an earlier one: they are in its units."""
        gp = without_exact_rows(without_conditions(before))
        assert isinstance(self.model, GP)
        assert isinstance(gp, GaussianProcess)
        return self._condition(self._measured(o), gp.hyperparameters, o)

    def _fit(
        self, o: Observations, count: int, previous: Fitted | None
    ) -> tuple[Callable[[], Belief], Observations, Fitted | None]:
        """What is believed, once it is asked for, and how it was found."""
        measured = self._measured(o)
        if isinstance(self.model, GP):
            generator = torch.Generator().manual_seed(self.seed + count)
            names, has_objective = self._names, self.problem.objective not in self.problem.known
            relevant = self._relevant(names)
            alike = _alike(measured, relevant)
            last = self.model.fit_warped(alike, names, self._snap, previous, generator, has_objective)
            found = last.belief.hyperparameters
            believed, h = self.model.noiseless(last.observations, found)
            h = self.model.doubted(believed, h, generator)
            if believed.warp is not None:
                o = o.warped(believed.warp.spread(self._is_measured))
            o = replace(o, noise=o.noise.masked_scatter(self._is_measured.to(o.noise.device), believed.noise))
            if relevant is None and h is found and not has_many(believed):
                return partial(self._completed, last.belief, o), o, last
            believed = replace(believed, X=measured.X)
            return partial(self._condition, believed, _constant(h, relevant), o), o, last
        # as BoTorch itself, only for those who give a model of theirs
        from pesky.model.botorch import BotorchBelief

        rows = [(x[m], y[m][:, None]) for x, y, m in zip(measured.X, measured.y, measured.mask, strict=True)]
        feasible = dict.fromkeys(range(1, len(rows)), (0.0, None))
        belief = BotorchBelief.of(self.model(rows), 0, False, feasible, snap=self._snap)
        return partial(self._completed, belief, o), o, None

    def _condition(self, measured: Observations, h: Hyperparameters, o: Observations) -> Belief:
        """What these observations of the measured rows say: of rows with many values, by way of an active set."""
        model = self.model
        assert isinstance(model, GP)

        def believe(parted: Parted) -> Belief:
            kept = model.condition(parted.kept, h, self._snap)
            return self._completed(with_others(kept, parted.others), o)

        if has_many(measured):
            return believe(active_set(measured, h, believe, self.space, self.seed))
        return self._completed(model.condition(measured, h, self._snap), o)

    def _completed(self, belief: Belief, o: Observations) -> Belief:
        """The belief of the measured rows with those that are known, and what must hold of all."""
        whole = with_exact_rows(belief, o, self.problem.rows, self._exact, self._snap)
        return with_conditions(whole, conditions_of(self.problem, o))

    def _outlier(
        self,
        evaluations: Mapping[int, Evaluation],
        left_out: list[Place],
        fitted: Fitted,
        acquitted: dict[tuple[int, str, float], int],
    ) -> Place | None:
        """A value that all others contradict, if there is one.

        Those that were acquitted wait until there are more values, or one close by.
        """
        if not isinstance(self.model, GP) or not self.model.outliers or not isinstance(self.model.hyperparameters, str):
            return None
        counts, least = fitted.observations.mask.sum(-1).tolist(), least_data(self.space.dim)
        may = []
        for name, is_number, count in zip(
            self._names, fitted.belief.likelihoods.is_gaussian.tolist(), counts, strict=True
        ):
            found = sum(outcome == name for _, outcome in left_out)
            is_noisy = is_number and self.problem.noise.get(name) != 0
            may.append(is_noisy and least <= count <= MOST_DATA and found < (count + found) // SHARE)
        if not any(may):
            return None
        told = trusted(self.learnt(evaluations), left_out)
        for row, suspected in enumerate(suspects(fitted, torch.tensor(may))):
            name = self._names[row]
            places = [(e.id, name) for e in told.values() if name in e.outcomes] if suspected else []
            for datum in suspected[:LOOKED_AT]:
                place = places[datum]
                known = (*place, told[place[0]].outcomes[name])
                then = acquitted.get(known, 0)
                since = slice(then, counts[row])
                if counts[row] <= GROWN * then and not _is_any_near(fitted.belief, row, datum, since):
                    continue
                whole, rest = (self._row(evaluations, without, row) for without in (left_out, [*left_out, place]))
                value, minimized = told[place[0]].outcomes[name], row == 0 and name == self.problem.objective
                if is_outlier(self.model, whole, rest, datum, value, minimized):
                    return place
                acquitted[known] = counts[row]
        return None

    def _row(self, evaluations: Mapping[int, Evaluation], left_out: Collection[Place], row: int) -> Observations:
        """The data of one row."""
        one = torch.arange(len(self._names)) == row
        measured = self._measured(self.observations(evaluations, left_out))
        return _alike(measured, self._relevant(self._names)).select(one)

    def _described(self, evaluation: Evaluation, outcome: str, belief: Belief, o: Observations) -> Outlier:
        """An outlier, with what the others expect of a measurement there."""
        row = self.problem.rows.index(outcome)
        with torch.no_grad():
            here = for_hyper_samples(belief, self.points.stack([evaluation]))
            mean = over_hyper_samples(belief, belief.mean(here)[..., 0])[:, row]
            variance = over_hyper_samples(belief, belief.variance(here)[..., 0])[:, row]
            deviation = (variance + over_hyper_samples(belief, belief.noise)[:, row]).sqrt()
        expected = float(o.to_user(row, mean).mean())
        deviation = float((o.to_user(row, mean + deviation) - o.to_user(row, mean - deviation)).abs().mean() / 2)
        others = int(o.mask[row].sum())
        return Outlier(evaluation.id, outcome, evaluation.outcomes[outcome], expected, deviation, others)

    def _relevant(self, rows: tuple[str, ...]) -> Bool[Tensor, "j d"] | None:
        """Which columns each of these rows depends on; None where all depend on all."""
        if all(task.parameters is None for task in self.problem.tasks.values()):
            return None
        return torch.stack([self.space.columns_of(self.problem.depends_on(row)) for row in rows])

    @property
    def _names(self) -> tuple[str, ...]:
        """The rows that are not known."""
        return tuple(name for name in self.problem.rows if name not in self.problem.known)

    def _measured(self, o: Observations) -> Observations:
        """The observations of the rows that are not known."""
        return o.select(self._is_measured)

    @property
    def _is_measured(self) -> Bool[Tensor, " J"]:
        return torch.tensor([name not in self.problem.known for name in self.problem.rows])

    @property
    def _snap(self) -> Callable[[Tensor], Tensor] | None:
        return None if self.space.is_continuous else self.space.snap

    @cached_property
    def _exact(self) -> dict[str, Exact]:
        """The known outcomes, with what was found out about their functions."""
        return exact_outcomes(self.problem, self.space)


def _is_any_near(belief: GaussianProcess, row: int, datum: int, others: slice) -> bool:
    """Whether any of these data of a row is within a lengthscale of one."""
    lengthscale = belief.hyperparameters.first().lengthscale[row]
    return bool((((belief.X[row, others] - belief.X[row, datum]) / lengthscale).norm(dim=-1) < 1.0).any())


def _alike(measured: Observations, relevant: Bool[Tensor, "j d"] | None) -> Observations:
    """The observations, each row in the middle of what does not matter to it: there its data say nothing of that."""
    return measured if relevant is None else replace(measured, X=torch.where(relevant[:, None], measured.X, 0.5))


def _constant(h: Hyperparameters, relevant: Bool[Tensor, "j d"] | None) -> Hyperparameters:
    """Those that vary over no lengthscale, and so exactly not at all, along columns that do not matter."""
    return h if relevant is None else h._replace(lengthscale=torch.where(relevant, h.lengthscale, torch.inf))
