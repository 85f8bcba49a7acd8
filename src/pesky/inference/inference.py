"""From snapshots to what is inferred of them: models of all rows, fitted anew when there are new data."""

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import accumulate
from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool
from torch import Tensor

from pesky.data.outliers import Announcer, Outlier, Place
from pesky.data.points import Points
from pesky.data.slips import hopeless
from pesky.data.snapshot import Snapshot
from pesky.inference.inferred import TOLERANCE, Inferred
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
from pesky.store import Evaluation
from pesky.store.evaluation import told_by

if TYPE_CHECKING:
    from botorch.models.model import Model

LOOKED_AT = 2
"""How many suspect values of a row are looked at."""

FitBotorch = Callable[[list[tuple[Tensor, Tensor]]], "Model"]
"""A function that fits a BoTorch model; see `Study`."""


@dataclass(frozen=True, eq=False)
class Fit(Inferred):
    """The same, with what the next one may go on from."""

    fitted: Fitted | None = None
    acquitted: Mapping[tuple[int, str, float], int] = field(default_factory=dict)
    """Values that were suspect to no avail, and how many their outcome had then."""
    due: "Fit | None" = None
    """What was inferred when hyperparameters were due to be sought from all starts; None if that is this one."""


class Inference:
    """What a study's snapshots are inferred with; remembers the last one, to be faster."""

    def __init__(
        self,
        problem: Problem,
        space: Space,
        model: GP | FitBotorch,
        seed: int,
        announcer: Announcer | None = None,
        device: torch.device | str = "cpu",
        tolerance: float = TOLERANCE,
    ) -> None:
        self.problem, self.space, self.model, self.seed, self.tolerance = problem, space, model, seed, tolerance
        self.points = Points(space, device)
        self._announcer = Announcer() if announcer is None else announcer
        self._last: Fit | None = None
        self._afresh: Fit | None = None
        """The same by chains that start anew, if there are any."""

    def anew(self) -> "Inference":
        """The same models, which have seen nothing yet: to look at some of the data disturbs nothing here."""
        silent, device = Announcer(is_silent=True), self.points.device
        return Inference(self.problem, self.space, self.model, self.seed, silent, device, self.tolerance)

    def snapshot(self, evaluations: Mapping[int, Evaluation]) -> Snapshot:
        """All that is known of these evaluations."""
        return Snapshot(self.problem, self.points, evaluations)

    def check_known(self) -> None:
        """Raise ProblemError if a known outcome's function does not work: before anything is measured."""
        for outcome in self._exact.values():
            _ = outcome.spread

    def of(self, snapshot: Snapshot) -> Inferred:
        """What all measurements support, with hyperparameters fitted to them: what questions rest on.

        It follows from the measurements, whatever was asked when: a study that is loaded infers the same. Only chains
        of samples of hyperparameters go on from where they were.
        """
        if self._last is None or self._last.snapshot.key != snapshot.key:
            with threads_for(len(snapshot.key)):
                before = self._last if self._is_chain else self._when_due(snapshot)
                self._last = self._infer(snapshot, before)
                _ = self._last.belief
            if self._is_chain and before is None:
                self._afresh = self._last
            self._announcer.say(self._last.outliers)
        return self._last.seen_as(snapshot)

    def afresh(self, snapshot: Snapshot) -> Inferred:
        """The same by chains of samples that start anew, if there are any, as a study that is loaded infers it.

        Answers rest on this one.
        """
        if not self._is_chain:
            return self.of(snapshot)
        if self._afresh is None or self._afresh.snapshot.key != snapshot.key:
            with threads_for(len(snapshot.key)):
                self._afresh = self._infer(snapshot, None)
                _ = self._afresh.belief
            self._announcer.say(self._afresh.outliers)
        return self._afresh.seen_as(snapshot)

    def after(self, before: Inferred, snapshot: Snapshot) -> Inferred:
        """What a snapshot says at the hyperparameters of an earlier one, whose fit takes most of the time.

        A model of BoTorch's, which has none that are known here, stays as it was.
        """
        if not isinstance(self.model, GP):
            return before
        o = self.observations(snapshot, before.left_out).in_units_of(before.observations)
        with threads_for(len(snapshot.learnt)):
            belief, spread = (self.condition(each, o) for each in (before.belief, before.spread))
        noisy = replace(o, noise=before.observations.noise)
        made = lambda: belief, lambda: spread
        return Inferred(snapshot, noisy, before.outliers, before.seed, *made, self.tolerance)

    @property
    def left_out(self) -> tuple[Outlier, ...]:
        """The values that what was inferred last leaves out."""
        return () if self._last is None else self._last.outliers

    @property
    def _is_chain(self) -> bool:
        """Whether hyperparameters are samples of a Markov chain."""
        return isinstance(self.model, GP) and self.model.hyperparameters == "slice"

    def _when_due(self, snapshot: Snapshot) -> Fit | None:
        """What was inferred when hyperparameters were due to be sought from all starts; None if they are now."""
        some = snapshot.first(self._count_when_due(snapshot.learnt))
        if some is snapshot:
            return None
        known = None if self._last is None else self._last.due or self._last
        return known if known is not None and known.snapshot.key == some.key else self._infer(some, None)

    def _count_when_due(self, learnt: Mapping[int, Evaluation]) -> int:
        """How many evaluations there were then: the first with so many values, which grow by a constant factor."""
        numbers = set(self._names).intersection(self.problem.outcomes) - self.problem.yes_no
        values = [*accumulate(len(e.outcomes.keys() & numbers) for e in learnt.values())]
        is_searched = isinstance(self.model, GP) and self.model.is_searched
        if not is_searched or not numbers or not values or values[-1] < FEWEST * len(numbers):
            return len(values)
        of_each = GROWN ** math.floor(math.log(values[-1] / len(numbers), GROWN))
        return 1 + bisect_left(values, of_each * len(numbers))

    def _infer(self, snapshot: Snapshot, before: Fit | None) -> Fit:
        """What all measurements support but those that all others contradict; these are found one after the other.

        It goes on from what was inferred `before`.
        """
        previous, learnt = None if before is None else before.fitted, snapshot.learnt
        goes_on = previous is not None and previous.searched > 0
        unusable = self._hopeless(learnt.values())
        left_out = [*dict.fromkeys(unusable + (_unchanged(learnt, before) if goes_on else []))]
        acquitted = {} if before is None else dict(before.acquitted)
        while True:
            o = self.observations(snapshot, left_out)
            condition, o, fitted = self._fit(o, len(snapshot.key), previous)
            if left_out and goes_on and (fitted is None or previous is None or fitted.searched != previous.searched):
                left_out, goes_on = unusable, False  # whenever all starts are tried again, all values are judged again
                continue
            more = None if fitted is None else self._outlier(snapshot, left_out, fitted, acquitted)
            if more is None:
                break
            left_out = [*left_out, more]
            # with one value less, the others of its outcome are judged again
            acquitted = {known: count for known, count in acquitted.items() if known[1] != more[1]}
        due = None if before is None or self._is_chain else before.due or before
        believe = cache(condition)
        spread = cache(lambda: self._spread(believe(), o, len(snapshot.key)))
        found = Fit(snapshot, o, (), self.seed, believe, spread, self.tolerance, fitted, acquitted, due)
        described = (self._described(learnt[id_], outcome, found.belief, o) for id_, outcome in sorted(left_out))
        return replace(found, outliers=tuple(described)) if left_out else found

    def _hopeless(self, evaluations: Collection[Evaluation]) -> list[Place]:
        """The values of the objective that no model can use."""
        if not isinstance(self.model, GP) or not self.model.outliers:
            return []
        return [(each.evaluation, each.outcome) for each in hopeless(self.problem, evaluations)]

    def _spread(self, belief: Belief, o: Observations, count: int) -> Belief:
        """The belief with hyperparameters as uncertain as the data leave them, in as many samples."""
        gp = without_exact_rows(without_conditions(belief))
        if not isinstance(self.model, GP) or not isinstance(gp, GaussianProcess):
            return belief
        with threads_for(count):
            measured = self._measured(o)
            relevant = self._relevant(self._names)
            generator = torch.Generator().manual_seed(self.seed + count)
            h = self.model.spread(_alike(measured, relevant), gp.hyperparameters, generator)
            if h is gp.hyperparameters:
                return belief
            spread = self.model.condition(measured, _constant(h, relevant), self._snap)
            return self._completed(spread, o)

    def observations(self, snapshot: Snapshot, left_out: Collection[Place] = ()) -> Observations:
        """Everything measured but what is left out, per row, in scaled units; running a task measures its success."""
        every = snapshot.without(left_out).values()
        told = [(self.points.of(e), values) for e in every if (values := told_by(e, self.problem))]
        return collect(self.problem, self.space, told, self._exact).to(self.points.device)

    def observations_like(self, units: Observations, snapshot: Snapshot) -> Observations:
        """Everything measured but what the last belief left out, in the units of earlier data."""
        return self.observations(snapshot, _unchanged(snapshot.learnt, self._last)).in_units_of(units)

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
        snapshot: Snapshot,
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
        told = snapshot.without(left_out)
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
                whole, rest = (self._row(snapshot, without, row) for without in (left_out, [*left_out, place]))
                value, minimized = told[place[0]].outcomes[name], row == 0 and name == self.problem.objective
                if is_outlier(self.model, whole, rest, datum, value, minimized):
                    return place
                acquitted[known] = counts[row]
        return None

    def _row(self, snapshot: Snapshot, left_out: Collection[Place], row: int) -> Observations:
        """The data of one row."""
        one = torch.arange(len(self._names)) == row
        measured = self._measured(self.observations(snapshot, left_out))
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


def _unchanged(learnt: Mapping[int, Evaluation], before: Inferred | None) -> list[Place]:
    """What was left out before and was not corrected or excluded since."""
    return [
        (each.evaluation, each.outcome)
        for each in (() if before is None else before.outliers)
        if each.evaluation in learnt and learnt[each.evaluation].outcomes.get(each.outcome) == each.value
    ]


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
