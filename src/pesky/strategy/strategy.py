"""A strategy: who asks next, as data."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from pesky.acquire.base import Rule
from pesky.acquire.pesc.rule_ep import EntropySearchByEP
from pesky.acquire.registry import rule_of
from pesky.errors import DataError, ProblemError, unknown_name
from pesky.problem.values import check_params
from pesky.strategy.acquire import Acquire
from pesky.strategy.check import CheckModel
from pesky.strategy.confirm import Confirm
from pesky.strategy.feasible import SeekFeasible
from pesky.strategy.initial import Initial
from pesky.strategy.options import CoverOptions
from pesky.strategy.query import Query
from pesky.strategy.situation import Situation
from pesky.strategy.step import Step
from pesky.strategy.steps import STEPS

S = TypeVar("S", bound=Step)
NAMES = "default", "paper", "plain"


@dataclass(frozen=True, init=False, repr=False)
class Strategy:
    """Steps that are asked in order: the first that proposes a query decides. Its `repr` is the whole policy.

    What may not be asked holds for every step: constraints on parameters, points whose answers are known, and the
    study's `min_probability`.
    """

    steps: tuple[Step, ...]

    def __init__(self, steps: Iterable[Step]) -> None:
        given = tuple(steps)
        for each in given:
            if not isinstance(each, Step) or not is_dataclass(each):
                raise ProblemError(
                    f"a step of the strategy was {each!r}: expected one like Initial(points=3), a dataclass."
                )
        if sum(isinstance(each, Acquire) for each in given) != 1 or not isinstance(given[-1], Acquire):
            raise ProblemError("a strategy has one step Acquire(rule), the last, which asks where no other step does.")
        object.__setattr__(self, "steps", given)

    @classmethod
    def default(cls, rule: Any = "pesc") -> "Strategy":
        """What a study asks by, unless told otherwise."""
        acquire = Acquire(rule)
        if not rule_of(rule).learns:
            return cls([Initial(), Confirm(share=0.0), acquire])
        return cls([Initial(), CoverOptions(), Confirm(), SeekFeasible(), CheckModel(), acquire])

    @classmethod
    def paper(cls) -> "Strategy":
        """PESC as in 2015: three points of a Latin hypercube, and then the maximum of its gain for every query."""
        return cls([Initial(points=3), Acquire(EntropySearchByEP.paper())])

    @classmethod
    def plain(cls, rule: Any = "pesc") -> "Strategy":
        """Initial points, and a rule alone."""
        return cls([Initial(), Acquire(rule)])

    @classmethod
    def of(cls, given: object) -> "Strategy":
        """The strategy itself, or the one of this name, or the one of these steps as plain data."""
        if isinstance(given, Strategy):
            return given
        if isinstance(given, str):
            if given not in NAMES:
                raise ProblemError(unknown_name("strategy", given, NAMES))
            return getattr(cls, given)()
        steps = given.get("steps") if isinstance(given, Mapping) else given
        if isinstance(steps, list | tuple):
            return cls(each if isinstance(each, Step) else step_of(each) for each in steps)
        raise ProblemError(
            f"the strategy was {given!r}: expected Strategy([..]), or one of {', '.join(map(repr, NAMES))}."
        )

    def propose(self, situation: Situation) -> Query | None:
        """The query of the first step that has one; of steps of the user's own, one that may be asked."""
        for step in self.steps:
            query = step.propose(situation)
            if query is not None and (type(step) in STEPS.values() or _may_be_asked(query, step, situation)):
                return query
        return None

    def get(self, kind: type[S]) -> S | None:
        """The step of this kind, if there is one."""
        return next((step for step in self.steps if isinstance(step, kind)), None)

    @property
    def acquire(self) -> Acquire:
        """The step of the rule."""
        return next(step for step in self.steps if isinstance(step, Acquire))

    @property
    def rule(self) -> Rule:
        """The rule that asks where no other step does."""
        return rule_of(self.acquire.rule)

    def changed(
        self,
        rule: Rule | None = None,
        initial: int | None = None,
        confirming_share: float | None = None,
        deciding_share: float | None = None,
    ) -> "Strategy":
        """The same with another rule, number of initial points, share of the answer or share of deciding.

        Where a rule begins or ceases to learn from the data, as "random" does not, it is the default of that rule.
        """
        found = self
        if rule is not None and rule.learns == self.rule.learns:
            found = found._with(Acquire, rule=rule)
        elif rule is not None:
            own = self.get(Initial) or Initial(points=0)
            found = Strategy.default(rule)._with(Initial, points=own.points)
            found = found._with(Acquire, deciding_share=self.acquire.deciding_share)
        for kind, name, wanted in ((Initial, "initial", initial), (Confirm, "confirming_share", confirming_share)):
            if wanted and found.get(kind) is None:
                raise ProblemError(
                    f"{name} was {wanted!r}, and the strategy has no step {kind.__name__}, of which it is a figure: "
                    "leave it out, or give a strategy that has one."
                )
        if initial is not None:
            found = found._with(Initial, points=initial)
        if confirming_share is not None:
            found = found._with(Confirm, share=confirming_share)
        return found if deciding_share is None else found._with(Acquire, deciding_share=deciding_share)

    def _with(self, kind: type[Step], **figures: Any) -> "Strategy":
        return Strategy(
            replace(step, **figures) if isinstance(step, kind) else step  # pyright: ignore[reportArgumentType]
            for step in self.steps
        )

    def to_plain(self) -> dict[str, object]:
        """Its steps as plain data, from which `of` makes an equal one."""
        return {"steps": [step.to_plain() for step in self.steps]}

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        return "\n".join(["Strategy([", *(f"    {step!r}," for step in self.steps), "])"])


def _may_be_asked(query: Query, step: Step, situation: Situation) -> bool:
    """Whether nothing forbids it; a ProblemError if it is no query of the problem."""
    problem, name = situation.problem, type(step).__name__
    if query.task not in problem.tasks:
        raise ProblemError(f"the step {name}: {unknown_name('task', query.task, problem.tasks)}")
    try:
        check_params(problem.parameters, query.params)
    except DataError as error:
        raise ProblemError(f"the step {name}: {error}") from error
    is_told = problem.place_of(query.task, query.params) in situation.answered.get(query.task, {})
    may = query.task in situation.tasks and not is_told and situation.is_inside(query.params)
    return may and situation.is_allowed(query.params)


def step_of(given: object) -> Step:
    """The step of a mapping with its name and figures."""
    if not isinstance(given, Mapping) or given.get("step") not in STEPS:
        name = given.get("step") if isinstance(given, Mapping) else given
        raise ProblemError(unknown_name("step of a strategy", name, STEPS))
    kind = STEPS[str(given["step"])]
    known = [each.name for each in fields(kind)]  # pyright: ignore[reportArgumentType]
    for name in given:
        if name not in (*known, "step"):
            raise ProblemError(f"the step {kind.__name__}: {unknown_name('figure', name, known)}")
    return kind(**{str(name): value for name, value in given.items() if name != "step"})
