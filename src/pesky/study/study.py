"""A study in memory: questions asked, results told, the belief that follows from them."""

import operator
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from botorch.models.model import Model
from jaxtyping import Float
from torch import Tensor

from pesky.acquire.pending import Pending
from pesky.acquire.settings import SETTINGS, Setting
from pesky.data import Observations, check_outcomes, collect
from pesky.decide import Decision, choose, recommend
from pesky.errors import DataError, ProblemError, unknown_name
from pesky.model.belief import Belief
from pesky.model.beliefs import GP
from pesky.model.botorch import BotorchBelief
from pesky.problem import Option, Problem
from pesky.problem.fields import Named
from pesky.space import Space
from pesky.study.evaluation import Evaluation
from pesky.study.recommendation import Recommendation
from pesky.threads import threads_for

FitBotorch = Callable[[list[tuple[Tensor, Tensor]]], Model]
"""A function that fits a BoTorch model; see `Study`."""


class Study:
    """Ask what to measure next, tell what came out, and get the recommendation at any time.

    Args:
        problem: What is asked.
        seed: The same seed and the same data give the same questions; None draws one.
        model: `GP(...)`, or a function that fits a BoTorch model. It gets one pair (X, Y) per row, X (n, d) in the unit
            cube and Y (n, 1), and returns a fitted `ModelListGP`. Row 0 is the objective, to be minimized, the others
            are the constraints, feasible at zero and above; all are scaled to about unit size.
        setting: "default", "paper", or a `Setting` of your own.
        samples: M, the number of x* samples, if not the setting's.
        initial: Points of the Latin hypercube that every task is measured at first.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        seed: int | None = 0,
        model: GP | FitBotorch | None = None,
        setting: str | Setting = "default",
        samples: int | None = None,
        initial: int = 3,
    ) -> None:
        if not isinstance(problem, Problem):
            raise ProblemError(
                f"a study needs a Problem, and was given {problem!r}: write Problem(parameters=..., ...)."
            )
        self.problem, self.space = problem, Space.of(problem)
        self.seed = secrets.randbelow(2**31) if seed is None else _whole("seed", seed, None)
        self.model: GP | FitBotorch = _checked_model(model, problem, self.space)
        chosen = SETTINGS.get(setting) if isinstance(setting, str) else setting
        if not isinstance(chosen, Setting):
            raise ProblemError(unknown_name("setting", setting, SETTINGS))
        self.setting = chosen if samples is None else replace(chosen, samples=_whole("samples", samples, 1))
        initial = _whole("initial", initial, 1)
        self.initial = initial
        self.evaluations: dict[int, Evaluation] = {}
        self.decision: Decision | None = None
        """How the last question was chosen, with its diagnostics; None for the initial design."""
        self._told: dict[int, dict[str, float]] = {}
        self._abandoned: set[int] = set()
        self._belief: tuple[Belief, Observations] | None = None
        self._previous = None
        self._design = self.space.latin(initial, torch.Generator().manual_seed(self.seed))

    # -- ask ---------------------------------------------------------------------------------------------------------

    def ask(self) -> Evaluation:
        """The next question: the initial design first, then the task and point with the most gain per cost."""
        for u in self._design:
            for task in self.problem.tasks:
                if self._wants(task) and not self._asked(task, u):
                    return self._record(task, self.space.decode(u), None)
        names = list(self.problem.tasks)
        with threads_for(len(self._told)):
            self.decision = decision = choose(
                self.belief(),
                self.space,
                self._shares(),
                torch.tensor([self.problem.tasks[name].cost for name in names], dtype=torch.float64),
                self.setting,
                self._confidence(),
                torch.Generator().manual_seed(self._seed_of_next()),
                self._pending(),
            )
        return self._record(names[decision.task], self.space.decode(decision.u), decision.gain)

    def _wants(self, task: str) -> bool:
        """Whether an outcome of the task has fewer values, told or pending, than the initial design gives."""
        counts = dict.fromkeys(self.problem.outcomes, 0)
        for id_, evaluation in self.evaluations.items():
            told = self._told.get(id_, {})
            expected = () if id_ in self._abandoned else self.problem.tasks[evaluation.task].outcomes
            for name in {*told, *expected}:
                counts[name] += 1
        return any(counts[name] < self.initial for name in self.problem.tasks[task].outcomes)

    def _asked(self, task: str, u: Float[Tensor, " d"]) -> bool:
        params = self.space.decode(u)
        return any(e.task == task and e.params == params for e in self.evaluations.values())

    def _record(self, task: str, params: Mapping[str, Option], gain: float | None) -> Evaluation:
        evaluation = Evaluation(len(self.evaluations), task, Named(params), gain)
        self.evaluations[evaluation.id] = evaluation
        # The caller's copy is theirs to change; the study's is not.
        return replace(evaluation, params=dict(params))

    def _seed_of_next(self) -> int:
        """One stream of random numbers per question, whatever was computed in between."""
        return (self.seed * 1_000_003 + len(self.evaluations) + 1) % 2**63

    def _shares(self) -> Float[Tensor, "t j"]:
        """How much of each row's gain a task gets; rows that share an outcome share its gain."""
        rows = self.problem.rows
        return torch.tensor(
            [
                [float(name in task.outcomes) / rows.count(name) for name in rows]
                for task in self.problem.tasks.values()
            ],
            dtype=torch.float64,
        )

    def _confidence(self) -> Float[Tensor, " k"]:
        return torch.tensor(self.problem.confidences, dtype=torch.float64)

    def _pending(self) -> Pending | None:
        """Points asked and not yet fully told, with the rows still to come."""
        points, rows = [], []
        for id_, evaluation in self.evaluations.items():
            missing = set(self.problem.tasks[evaluation.task].outcomes) - self._told.get(id_, {}).keys()
            if missing and id_ not in self._abandoned:
                points.append(self.space.encode(evaluation.params))
                rows.append([name in missing for name in self.problem.rows])
        return Pending(torch.stack(points), torch.tensor(rows)) if points else None

    # -- tell --------------------------------------------------------------------------------------------------------

    def tell(self, evaluation: Evaluation | int, outcomes: Mapping[str, float]) -> None:
        """Take in any subset of the evaluation's outcomes; the rest may come later.

        Telling the same again changes nothing; a different value for the same outcome is refused.
        """
        id_ = self._id(evaluation)
        asked = self.evaluations[id_]
        values = self._values(outcomes)
        task = self.problem.tasks[asked.task]
        for name in values:
            if name not in task.outcomes:
                raise DataError(
                    f"outcome {name!r} does not belong to task {asked.task!r}, which measures "
                    f"{', '.join(map(repr, task.outcomes))}: use `study.add(params, outcomes)` for more."
                )
        self._take(id_, values)

    def add(self, params: Mapping[str, Option], outcomes: Mapping[str, float]) -> Evaluation:
        """Take in data of your own: any outcomes at any point of the space."""
        self.space.check(params)
        values = self._values(outcomes)
        task = next(name for name, task in self.problem.tasks.items() if values.keys() & set(task.outcomes))
        evaluation = self._record(task, params, None)
        self._abandoned.add(evaluation.id)
        self._take(evaluation.id, values)
        return evaluation

    def abandon(self, evaluation: Evaluation | int) -> None:
        """Expect no further outcomes of this evaluation; what was told stays, and a late result is still accepted."""
        self._abandoned.add(self._id(evaluation))

    def _id(self, evaluation: Evaluation | int) -> int:
        id_ = evaluation.id if isinstance(evaluation, Evaluation) else evaluation
        if not isinstance(id_, int) or id_ not in self.evaluations:
            raise DataError(
                f"{id_!r} is no evaluation of this study: give what `ask` returned or its id, or use "
                "`study.add(params, outcomes)` for data of your own."
            )
        return id_

    def _values(self, outcomes: Mapping[str, float]) -> dict[str, float]:
        if not isinstance(outcomes, Mapping) or not outcomes:
            expected = ", ".join(f"{name!r}: ..." for name in self.problem.outcomes)
            raise DataError(
                f"the outcomes were {outcomes!r}: expected a mapping like {{{expected}}} with at least one of them; "
                "leave out what could not be measured, and `abandon` an evaluation that gave nothing."
            )
        return check_outcomes(self.problem, outcomes)

    def _take(self, id_: int, values: dict[str, float]) -> None:
        known = self._told.get(id_, {})
        for name, value in values.items():
            if name in known and known[name] != value:
                raise DataError(
                    f"evaluation {id_} already has {name} = {known[name]!r}, and was now told {value!r}: a result "
                    "is not replaced; add a repeated measurement with `study.add(params, outcomes)`."
                )
        if values.items() <= known.items():
            return
        self._told[id_] = {**known, **values}
        self._belief = None

    def outcomes(self, evaluation: Evaluation | int) -> dict[str, float]:
        """What was told of an evaluation so far."""
        return dict(self._told.get(evaluation.id if isinstance(evaluation, Evaluation) else evaluation, {}))

    # -- believe and recommend ---------------------------------------------------------------------------------------

    def observations(self) -> Observations:
        """Everything told, per row, in the scaled units of the models."""
        told = [(self.space.encode(self.evaluations[i].params), values) for i, values in self._told.items()]
        return collect(self.problem, self.space, told)

    def belief(self) -> Belief:
        """What is believed of the objective and each constraint, given all that was told."""
        return self._believe()[0]

    def _believe(self) -> tuple[Belief, Observations]:
        if self._belief is None:
            o = self.observations()
            snap = None if self.space.is_continuous else self.space.snap
            if isinstance(self.model, GP):
                generator = torch.Generator().manual_seed(self.seed + len(self._told))
                with threads_for(len(self._told)):
                    belief = self.model.believe(o, self.problem.rows, snap, self._previous, generator)
                self._previous = belief.hyperparameters
            else:
                rows = [(x[m], y[m][:, None]) for x, y, m in zip(o.X, o.y, o.mask, strict=True)]
                fitted = self.model(rows)
                feasible = dict.fromkeys(range(1, len(rows)), (0.0, None))
                belief = BotorchBelief.of(fitted, 0, False, feasible, snap=snap)
            self._belief = belief, o
        return self._belief

    def recommend(self) -> Recommendation:
        """The lowest expected objective where every constraint holds with its confidence, anywhere in the space.

        Where no point qualifies yet, it says so and gives the point most probably feasible.
        """
        if not any(self.problem.objective in values for values in self._told.values()):
            raise DataError(
                f"no value of the objective {self.problem.objective!r} was told yet: ask and tell until there is one."
            )
        belief, observations = self._believe()
        with threads_for(len(self._told)):
            advice = recommend(belief, self.space, self._confidence(), self.seed)
        texts = [str(constraint) for constraint in self.problem.constraints]
        expected = observations.to_user(0, torch.tensor(advice.mean, dtype=torch.float64))
        return Recommendation(
            params=self.space.decode(advice.u),
            objective=self.problem.objective,
            expected=float(expected),
            probabilities=dict(zip(texts, advice.probabilities.tolist(), strict=True)),
            is_confident=advice.is_confident,
        )

    def __repr__(self) -> str:
        waiting = self._pending()
        pending = 0 if waiting is None else len(waiting.X)
        return f"Study({self.problem.objective!r}: {len(self._told)} evaluations told, {pending} pending)"


def _whole(what: str, given: object, least: int | None) -> int:
    try:
        value = operator.index(given)  # pyright: ignore[reportArgumentType]
    except TypeError:
        value = None
    if value is None or isinstance(given, bool) or (least is not None and value < least) or abs(value) >= 2**63:
        expected = "a whole number" + ("" if least is None else f", at least {least}")
        raise ProblemError(f"{what} was {given!r}: expected {expected}.")
    return value


def _checked_model(given: object, problem: Problem, space: Space) -> GP | FitBotorch:
    if given is None:
        return GP()
    if isinstance(given, GP):
        given.check(problem.outcomes, space.dim)
        return given
    if isinstance(given, Model) or not callable(given):
        raise ProblemError(
            f"model was {type(given).__name__}: expected GP(...), or a function that fits a BoTorch model to "
            "(X, Y) pairs, since a study fits anew as data come in."
        )
    return given  # pyright: ignore[reportReturnType]
