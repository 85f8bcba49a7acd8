"""A study: questions asked, results told, the belief that follows from them, and the recommendation."""

import logging
import numbers
import secrets
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from pesky.acquire.base import Rule
from pesky.answer.prediction import Prediction, predict
from pesky.answer.recommend import best_from, recommendation_from
from pesky.answer.recommendation import Recommendation
from pesky.answer.what_if import Tradeoff, recommendation_under, thresholds_of, tradeoffs
from pesky.data.outliers import Outlier
from pesky.data.snapshot import Snapshot
from pesky.errors import DataError, ProblemError
from pesky.inference.inference import FitBotorch, Inference
from pesky.inference.inferred import TOLERANCE, Inferred
from pesky.inference.noise import noise_of
from pesky.model.belief import Belief
from pesky.model.surrogate import GP
from pesky.observations import Observations
from pesky.problem import Constraint, Option, Parameter, Problem
from pesky.problem.fields import whole
from pesky.problem.known import KnownFunction
from pesky.problem.task import Failures
from pesky.problem.values import by_name
from pesky.run.budget import Budget, Ending
from pesky.run.loop import Loop
from pesky.run.progress import Progress
from pesky.run.slots import Function
from pesky.run.spending import beyond, kept_by_store, spent
from pesky.space import Space
from pesky.store import Evaluation, Limit, Store, open_store
from pesky.strategy import Confirm, Strategy
from pesky.strategy.asker import Asker
from pesky.strategy.explain import Explanation
from pesky.strategy.limits import Request, several
from pesky.strategy.schedule import TimeBudget
from pesky.study import export
from pesky.study.changes import check_current, opened
from pesky.study.checks import (
    check_asked,
    check_counts,
    checked_changes,
    checked_device,
    checked_model,
    checked_rule,
    checked_tasks,
    partial_share,
    share,
)
from pesky.study.data import StudyData
from pesky.study.described import AT_HAND, described, shown
from pesky.study.from_optuna import imported, take_in
from pesky.study.kept_strategy import strategy_kept
from pesky.study.own_questions import copies, questions_at
from pesky.study.rows import Row, data_of, rows_of
from pesky.study.stored import all_problems, name_in, stored_problem

if TYPE_CHECKING:
    import optuna
    import pandas
    import torch

    from pesky.strategy.select import Decision
    from pesky.strategy.task_values import TaskValues


log = logging.getLogger("pesky")


class Study(StudyData):
    """Ask what to measure next, tell what came out, and get the recommendation at any time.

    Args:
        problem: What is asked.
        storage: Where the study is kept: "sqlite:///file.db", "postgresql://user:password@host/database", or a store of
            your own; in memory if not given. A study that is there already is continued.
        name: What the study is called there.
        seed: The same seed and the same data give the same questions; None draws one. A continued study keeps its own.
        model: `GP(...)`, or a function that fits a BoTorch model. It gets one pair (X, Y) per row, X (n, d) in the unit
            cube and Y (n, 1), and returns a fitted `ModelListGP`. Row 0 is the objective, to be minimized, the others
            are outcomes with constraints, feasible at zero and above; all are scaled to about unit size. Rows that are
            known are not among them.
        strategy: Who asks next: "default", "paper" (PESC as published, and nothing else), "plain" (initial points and a
            rule), or `pesky.Strategy([..])` with steps of `pesky.strategy`. `study.strategy` shows it. It is stored as
            text. If not given, it is the one that the study was asked by before, and the default for a new study.
        rule: The acquisition function of the strategy: "pesc" or another name of `pesky.acquire.RULES`, a mapping with
            options, like {"name": "pesc", "samples": 20} or {"name": "eic", "noise_factor": False}, or a rule itself.
        initial: Points of its step `Initial`, that every task is measured at first; 0 with data of your own.
        min_probability: Ask only where all constraints hold with at least this probability. It holds for every question
            and so needs data of your own: without a value of each constrained outcome nothing is asked.
        deciding_share: Of its step `Acquire`: deciding takes at most so many times the time of measuring, and quicker
            decisions fill in between full ones. Without it every decision is a full one.
        confirming_share: The share of its step `Confirm`, of the cost of all questions: what goes to the point that
            would be recommended, and to where a better measured point is expected.
        tolerance: The part of the range of the objective's measured values (of two or more where all constraints held,
            of these) below which a measured point is preferred to one that can be promised to be better; 0.00001 if not
            given.
        device: Where models are fitted, and questions and answers found: "cpu", or an accelerator, "cuda".
    """

    def __init__(
        self,
        problem: Problem,
        *,
        storage: str | Store | None = None,
        name: str = "study",
        seed: int | None = 0,
        model: GP | FitBotorch | None = None,
        strategy: "str | Strategy | Mapping[str, Any] | None" = None,
        rule: str | Mapping[str, Any] | Rule | None = None,
        initial: int | None = None,
        min_probability: float | None = None,
        deciding_share: float | None = None,
        confirming_share: float | None = None,
        tolerance: float | None = None,
        device: "str | torch.device" = "cpu",
    ) -> None:
        if not isinstance(problem, Problem):
            raise ProblemError(
                f"a study needs a Problem, and was given {problem!r}: write Problem(parameters=..., ...)."
            )
        if not isinstance(name, str) or not name.strip():
            raise ProblemError(f"the study's name was {name!r}: expected a text.")
        self.space = Space.of(problem)
        seed = secrets.randbelow(2**31) if seed is None else whole("seed", seed)
        given = None if strategy is None else Strategy.of(strategy)
        change = checked_changes(problem, self.space, rule, initial, confirming_share, deciding_share)
        asked = change(given or Strategy.default())
        checked_model(model, problem, self.space, asked.rule)
        least, device = share("min_probability", min_probability), checked_device(device)
        least_step = TOLERANCE if tolerance is None else partial_share("tolerance", tolerance)
        store = open_store(storage) if storage is None or isinstance(storage, str) else storage
        kept = opened(store, name, problem, seed)
        self.strategy = strategy_kept(store, kept, given, change)
        fitted = checked_model(model, problem, self.space, checked_rule(self.rule, problem, self.space))
        super().__init__(problem, store, kept)
        self.seed = kept.seed
        self._inference = Inference(problem, self.space, fitted, self.seed, device=device, tolerance=least_step)
        self._asker = Asker(self._inference, self.strategy, least)
        # The store takes care of itself. Deciding takes seconds: nobody who tells waits for it.
        self._deciding = threading.RLock()

    @classmethod
    def load(
        cls,
        storage: str | Store,
        name: str | None = None,
        *,
        known: Mapping[str, KnownFunction | str] | None = None,
        **settings: Any,
    ) -> "Study":
        """The study that is kept under this name, or the only one there is; `settings` are those of a new study.

        Nothing that is stored is ever imported or called: of known outcomes, `known` gives the functions again.
        """
        store = open_store(storage, create=False) if isinstance(storage, str) else storage
        name = name_in(store, name)
        problem = stored_problem(store.load(name))
        return cls(problem if known is None else problem.knowing(known), storage=store, name=name, **settings)

    @classmethod
    def from_optuna(
        cls,
        study: "optuna.Study",
        constraints: Iterable[str | Constraint] | None = None,
        *,
        parameters: Mapping[str, Parameter] | None = None,
        noise: float | Mapping[str, float | None] | None = None,
        failures: Failures = "record",
        name: str | None = None,
        **settings: Any,
    ) -> "Study":
        """A study with the problem and the data of one of Optuna's; trials that are here already are not taken twice.

        Complete trials are data of your own, failed ones are failures, and pruned ones tell their constraints. Options
        of a `PeskySampler` that made the trials are not taken over: give `noise` and `failures` again.

        Args:
            study: Optuna's, with one objective, which is called "value" here unless its metric has a name.
            constraints: On what trials have set as constraints or as user attributes, on the objective, or on
                parameters: ["latency_ms <= 2"]. If not given, those that trials have set, each at zero and below.
            parameters: Those to optimize, where trials differ in them or in their ranges; trials that lack one are left
                out.
            noise: As in `Problem`.
            failures: As in `Task`: "learn" makes the success of a trial a constraint of its own, "random" one that
                holds by chance.
            name: What the study is called here; what it is called there if not given.
            settings: Those of a new study, like `storage` and `rule`.
        """
        how: dict[str, Any] = {"parameters": parameters, "noise": noise, "failures": failures}
        reading, trials = imported(study, constraints=constraints, **how)
        found = cls(reading.problem, name=study.study_name if name is None else name, **settings)
        take_in(found, reading, trials, study.study_name)
        return found

    @property
    def problems(self) -> list[tuple[datetime, Problem]]:
        """The problems that the study had, each since when, the present one last."""
        times = [datetime.fromtimestamp(each.since, UTC) for each in self.store.problems(self.identity)]
        return list(zip(times, all_problems(self.store, self.identity), strict=False))

    @property
    def confirms(self) -> bool:
        """Whether the strategy has a step for the answer: a run keeps a part of its budget for it."""
        return self.strategy.get(Confirm) is not None

    @property
    def rule(self) -> Rule:
        """The rule of the strategy."""
        return self.strategy.rule

    @property
    def decision(self) -> "Decision | None":
        """How the last question was chosen, with its diagnostics; None where no rule was asked."""
        return self._asker.last.decision

    @property
    def time_budget(self) -> TimeBudget:
        """How many decisions were made of which kind, and how long they took."""
        return self._asker.schedule

    # -- ask ---------------------------------------------------------------------------------------------------------

    @overload
    def ask(
        self,
        tasks: str | Collection[str] | None = None,
        *,
        n: None = None,
        worker: str | None = None,
        lease: float | None = None,
        losses: int | None = None,
        limit: Limit = Limit(),  # noqa: B008
        gain_per_cost: float | None = None,
        confirm: bool = False,
        params: Mapping[str, Option] | None = None,
    ) -> Evaluation: ...
    @overload
    def ask(self, tasks: int, **given: Any) -> list[Evaluation]: ...
    @overload
    def ask(self, tasks: str | Collection[str] | None = None, *, n: int, **given: Any) -> list[Evaluation]: ...
    def ask(  # pyright: ignore[reportInconsistentOverload]
        self,
        tasks: str | Collection[str] | int | None = None,
        *,
        n: int | None = None,
        worker: str | None = None,
        lease: float | None = None,
        losses: int | None = None,
        limit: Limit = Limit(),  # noqa: B008
        gain_per_cost: float | None = None,
        confirm: bool = False,
        params: Mapping[str, Option] | None = None,
    ) -> Evaluation | list[Evaluation]:
        """The next question: what was enqueued first, then a lost one, the initial design, and the most gain per cost.

        `study.ask(4)` is a list of four, each of which knows of those before it; fewer where no more are left.

        Args:
            tasks: The tasks to choose among; all of them if not given.
            n: How many questions: `study.ask("train", n=4)`.
            worker: A name for who is going to measure it.
            lease: Seconds after which, unless renewed, the evaluation counts as lost and is free to be asked again.
                Without a lease it is awaited for ever.
            losses: How often the workers of one evaluation may fall silent before it counts as failed; any number of
                times if not given.
            limit: What the study may ask in all; `Exhausted` is raised instead of a question beyond it.
            gain_per_cost: Nats per unit of cost below which no question is worth asking: `Exhausted` again.
            confirm: For the answer: measure what was not measured yet where the best point is expected, if there is
                anything, the check first that most probably fails for its price. That point is recommended already, or
                may turn out better than the one that is. A run does so at its end by itself.
            params: Ask at these parameters, instead of where it is worth most: the first of the tasks, and enqueue the
                others.
        """
        check_asked(tasks, n, limit, gain_per_cost, worker)
        if isinstance(tasks, int | numbers.Real) or n is not None:
            tasks, count = (None, tasks) if isinstance(tasks, int | numbers.Real) else (tasks, n)
            how = {"worker": worker, "lease": lease, "losses": losses, "limit": limit, "gain_per_cost": gain_per_cost}
            return several(partial(self.ask, tasks, confirm=confirm, params=params, **how), whole("ask: n", count, 1))
        request = Request(checked_tasks(tasks, self.problem), limit, gain_per_cost, confirm)
        check_counts(self.rule, gain_per_cost)
        limit = kept_by_store(limit, self.problem)
        claim = partial(
            self.store.claim, self.identity, request.tasks, losses=losses, worker=worker, lease=lease, limit=limit
        )
        with self._deciding:
            check_current(self.store, self.identity, self.problem)
            if params is not None:
                first, *others = questions_at(self.problem, params, request.tasks, self.evaluations)
                append = partial(self.store.append, self.identity, first, known=None, limit=limit)
                if not isinstance(asked := append(worker=worker, lease=lease), Evaluation):
                    raise beyond(request.limit)
                self.store.enqueue(self.identity, others)
                return _callers(asked)
            while (waiting := claim()) is not None and not self.space.contains(waiting.params):
                self.store.abandon(self.identity, waiting.id)  # asked when the bounds were wider
            return _callers(self._ask_new(request, worker, lease) if waiting is None else waiting)

    def _ask_new(self, request: Request, worker: str | None, lease: float | None) -> Evaluation:
        """A new question, reconsidered for as long as others ask theirs meanwhile."""
        limit = kept_by_store(request.limit, self.problem)
        append = partial(self.store.append, self.identity, limit=limit, worker=worker, lease=lease)
        evaluations = self.evaluations
        question = self._asker.suggest(evaluations, request)
        while not isinstance(appended := append(question, known=len(evaluations)), Evaluation):
            if appended.is_beyond_limit:
                raise beyond(request.limit)
            evaluations = self.evaluations
            question = self._asker.reconsider(question, evaluations, request)
        return appended

    def spent(self) -> dict[str, float]:
        """What each task has cost so far: its price for every time it was asked, or the seconds that it took."""
        return spent(self.evaluations, self.problem)

    # -- tell --------------------------------------------------------------------------------------------------------

    @overload
    def add(self, params: Mapping[str, Option], outcomes: Mapping[str, float]) -> Evaluation: ...

    @overload
    def add(self, params: "pandas.DataFrame | Sequence[Mapping[str, object]]") -> list[Evaluation]: ...

    def add(
        self,
        params: "Mapping[str, Option] | pandas.DataFrame | Sequence[Mapping[str, object]]",
        outcomes: Mapping[str, float] | None = None,
    ) -> Evaluation | list[Evaluation]:
        """Take in data of your own: any outcomes at any point of the space, or a table of them, wholly or not at all.

        A table is a pandas frame or a list of mappings. Its columns are parameters and outcomes, all others become
        attributes; empty cells are outcomes that were not measured. Rows may lie outside of the bounds.
        """
        if outcomes is None:
            return self.add_rows(rows_of(params))
        return _callers(self.add_one(by_name(self.problem.parameters, params), outcomes))

    def add_rows(self, rows: Sequence[Row]) -> list[Evaluation]:
        """The same for rows that each say where they are from, as `pesky.study.rows` reads them."""
        added = self.store.add_all(self.identity, data_of(self.problem, rows))
        if outside := sum(not self.space.contains(e.params) for e in added):
            log.warning(
                "%d of %d rows are outside of the bounds: they are data, and never recommended", outside, len(added)
            )
        return [_callers(e) for e in added]

    def adopt(self, other: "Study", fixed: Mapping[str, Option] | None = None) -> list[Evaluation]:
        """Take over what can be kept of another study, as data of your own; what is here already is not taken twice.

        `fixed` gives a value to each parameter that only one of the two has: what the data were measured at of a new
        one, and of one that is no more the value at which data are still good.
        """
        source = f"{other.name} ({other.identity[:6]})"
        data = copies(self.problem, self.evaluations, other.problem, other.evaluations, source, fixed or {})
        return [_callers(e) for e in self.store.add_all(self.identity, data)]

    def enqueue(self, params: Mapping[str, Option], tasks: str | Collection[str] | None = None) -> list[Evaluation]:
        """Have these parameters measured before anything else, by whoever asks next; by all tasks if none is named."""
        names = checked_tasks(tasks, self.problem)
        questions = questions_at(self.problem, params, names, self.evaluations)
        return [_callers(e) for e in self.store.enqueue(self.identity, questions)]

    # -- believe and recommend ---------------------------------------------------------------------------------------

    def observations(self) -> Observations:
        """Everything told, per row, in the scaled units of the models."""
        return self._inference.observations(self._snapshot())

    def belief(self) -> Belief:
        """What is believed of the objective and each constraint, given all that was told."""
        with self._deciding:
            return self._inference.of(self._snapshot()).belief

    def inferred(
        self, evaluations: Mapping[int, Evaluation] | None = None, *, after: Inferred | None = None
    ) -> Inferred:
        """What answers rest on, for those who look closer: all that was told and is believed, or what some tell.

        With the inferred that there were `after` less was told, it is quick: hyperparameters stay as they were.
        """
        if evaluations is not None and after is not None:
            return self._inference.after(after, self._inference.snapshot(evaluations))
        if evaluations is not None:
            looking = self._inference.anew()
            return looking.afresh(looking.snapshot(evaluations)).checked()
        with self._deciding:
            return self._inference.afresh(self._snapshot()).checked()

    def _snapshot(self) -> Snapshot:
        return self._inference.snapshot(self.evaluations)

    def task_values(self, evaluations: Mapping[int, Evaluation]) -> "TaskValues":
        """What each task is worth to the rule at any point of the unit cube, given these evaluations."""
        return Asker(self._inference.anew(), self.strategy).values(evaluations)

    def predict(self, params: Mapping[str, Option]) -> Prediction:
        """What is believed of every outcome at these parameters, and how probably each constraint holds there."""
        point = self.space.encode(by_name(self.problem.parameters, params))
        return predict(self.inferred(), point)

    def recommend(self) -> Recommendation:
        """The point to use: of those that satisfy every constraint, the one whose objective can be promised lowest.

        The promise is the value that the objective keeps with a probability of 90 %; at a point measured without noise,
        the measured value. A measured point is preferred within the `tolerance`. Where no point satisfies every
        constraint with its confidence, it says so and gives the measured point that most probably does.
        """
        with self._deciding:
            return recommendation_from(self.inferred())

    def best(self) -> Recommendation:
        """The best point at which everything was measured and, by what is believed of it, every constraint holds.

        A DataError where no point was measured wholly yet; where none holds every constraint with its confidence, it
        says so and gives the one that most probably does.
        """
        with self._deciding:
            found = best_from(self.inferred())
        if found is None:
            raise DataError(
                "no point has all its outcomes measured yet: ask and tell until there is one; `recommend()` gives "
                "a point of which less is known."
            )
        return found

    def outliers(self) -> tuple[Outlier, ...]:
        """The values that all others of their outcome contradict: they are kept, and no belief or answer rests on them.

        None where an outcome has no noise, or has few values; `GP(outliers=False)` trusts every value.
        """
        with self._deciding:
            return self._inference.afresh(self._snapshot()).outliers

    def noise(self) -> dict[str, float]:
        """The deviation of a measurement of each outcome that is a number: as was declared, or else as its values say.

        What says for itself that it has none has 0.0. Of an outcome that is warped it is that near its best values, or
        near its limit.
        """
        with self._deciding:
            found = self._inference.afresh(self._snapshot())
            return noise_of(self.problem, found.belief, found.observations)

    def what_if(self, thresholds: Mapping[str, float]) -> Recommendation:
        """What would be recommended under other thresholds, like {"latency_ms": 2.5}; nothing is measured or changed.

        Of an outcome with two constraints, the name says which: "latency_ms <=".
        """
        others = thresholds_of(self.problem, thresholds)
        with self._deciding:
            return recommendation_under(self.inferred(), others)

    def tradeoffs(self) -> tuple[Tradeoff, ...]:
        """The expected objective against the threshold of each constraint: what a limit costs."""
        with self._deciding:
            return tradeoffs(self.inferred())

    def explain(self, evaluation: Evaluation | int) -> Explanation:
        """Why an evaluation was asked, as it was decided then: kept with it, for whoever asks later and elsewhere."""
        return Explanation.of(self.evaluations[self._asked(evaluation).id])

    # -- run and export ----------------------------------------------------------------------------------------------

    def run(
        self,
        functions: Function | Mapping[str, Function],
        budget: float | Budget,
        *,
        workers: int | None = None,
        executor: Executor | None = None,
        tasks: Collection[str] | None = None,
        watch: Callable[[Progress[Any]], None] | None = None,
        lease: float = 60.0,
        attempts: int = 3,
        losses: int | None = None,
        on_interrupt: Literal["wait", "release"] = "wait",
        keep_going: bool = False,
        progress: bool = True,
        callbacks: "Iterable[Callable[[Study, Evaluation], object]] | None" = None,
    ) -> Ending:
        """Ask, measure and tell until the budget is spent; what was spent before counts.

        Args:
            functions: What measures each task, by its name; the function alone if there is one task. It gets the
                parameters as a dict and returns the outcomes as a mapping, or one number for a task of one outcome.
                When it raises, lacks a name or returns NaN or a value outside of its range, the evaluation has failed
                and the study goes on; what it returns under other names is kept as attributes of the evaluation.
            budget: A `Budget`; a bare number is the total cost, which without costs is the number of evaluations.
            workers: Evaluations in flight, each in a process of its own; in this very process, one at a time, if not
                given (and no task has a time-out).
            executor: Any `concurrent.futures.Executor` to run them in, such as Dask's.
            tasks: The tasks that may be run here; all of them if not given.
            watch: Is called with a `Progress` after every change, and twice a second.
            lease: Seconds without a sign of life after which others may take over an evaluation of this process.
            attempts: How often an evaluation is tried when the process that runs its function dies; then it has failed.
            losses: The same for evaluations whose workers fell silent, killed or cut off; any number of times if not
                given, since that says nothing of the function.
            on_interrupt: On Ctrl-C, wait for what is running, or let go of it at once, to be asked again next time; a
                second Ctrl-C always lets go. SIGTERM and SIGHUP let go at once and end the process, unless it has
                handlers of its own for them.
            keep_going: Go on also if the first three evaluations of a task all fail in the same way.
            progress: Show how it goes: on a line of the terminal or the notebook that is written anew, and in the log
                "pesky" where there is neither.
            callbacks: Functions of the study and an evaluation, called in this process after each one of this run that
                is done or has failed. One that raises is warned about, and the study goes on.
        """
        given = Budget.of(budget)
        check_counts(self.rule, given.gain_per_cost)
        how = (workers, executor, tasks, watch, lease, attempts, losses, on_interrupt, keep_going, progress)
        return Loop(self, functions, given, *how, callbacks).run()

    def to_json(self) -> str:
        """The study as JSON text: its problem and every evaluation."""
        return export.to_json(self.name, self.problem, self.evaluations.values())

    def to_csv(self, path: str | None = None) -> str:
        """A table of all evaluations as CSV text, written to `path` if given."""
        return export.to_csv(self.problem, self.evaluations.values(), path)

    def to_frame(self) -> "pandas.DataFrame":
        """A table of all evaluations as a pandas frame."""
        return export.to_frame(self.problem, self.evaluations.values())

    def _repr_html_(self) -> str:
        return shown(self.name, self.problem, self.evaluations.values(), self._answer_at_hand())

    def _answer_at_hand(self) -> Recommendation | None:
        """The recommendation, unless nothing was told yet or it would take long."""
        if len(self.evaluations) > AT_HAND:
            return None
        with suppress(DataError):
            return self.recommend()
        return None

    def __repr__(self) -> str:
        return described(self.name, self.problem, self.evaluations.values(), self.store)


def _callers(evaluation: Evaluation) -> Evaluation:
    """A copy whose parameters are the caller's to change; the study's are not."""
    return replace(evaluation, params=dict(evaluation.params))
