"""The tables of a study file and what each key expects; descriptions continue the sentence "expected ..."."""

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from pesky.problem.task import Failures

Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1, lt=2**63)]
Text = Annotated[str, Field(min_length=1)]

RuleName = Literal[
    "pesc",
    "pesc-ep",
    "jesc",
    "cmes",
    "eic",
    "eic-decoupled",
    "al",
    "ieci",
    "evr",
    "rs",
    "rsdg",
    "pes",
    "sobol",
    "random",
]
"""The names of `pesky.acquire.RULES`, which to import takes seconds."""

_FUNCTION = 'a text with a module and a function in it, like "toy:measure"'
_COMMAND = 'a program and its arguments, like ["./measure.sh"] or "python measure.py"'


class Table(BaseModel):
    """One table: other keys are refused, and a number in quotes is no number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)


class StudyTable(Table):
    """The top of the file; what is in its tables is checked one by one."""

    name: Text | None = Field(default=None, description='the study\'s name in the storage, like "toy"')
    storage: Text | None = Field(default=None, description='a text like "sqlite:///toy.db"')
    minimize: Text | None = Field(default=None, description="the name of the outcome to minimize")
    maximize: Text | None = Field(default=None, description="the name of the outcome to maximize")
    constraints: list[Any] = Field(default=[], description='a list of constraints, like ["latency_ms <= 2"]')
    noise: float | dict[str, Any] | None = Field(
        default=None, description="a standard deviation, or a table with one for each outcome, like { f = 0.1 }"
    )
    outcomes: dict[str, Any] = Field(default={}, description="a table for each outcome, like [outcomes.error]")
    known: dict[str, Any] = Field(
        default={}, description='a table with a function for each known outcome, like { cost = "prices:total" }'
    )
    function: Text | None = Field(default=None, description=_FUNCTION)
    command: Text | list[str] | None = Field(default=None, description=_COMMAND)
    parameters: dict[str, Any] = Field(default={}, description="a table with a line for each parameter")
    tasks: dict[str, Any] | None = Field(default=None, description="a table for each task, like [tasks.train]")
    resources: dict[str, Any] | None = Field(
        default=None, description="a table for each resource, like [resources.gpu]"
    )
    strategy: Text | list[dict[str, Any]] | None = Field(
        default=None, description='"default", "paper" or "plain", or its steps, each below [[strategy]]'
    )
    budget: dict[str, Any] = Field(default={}, description="a table, [budget]")
    run: dict[str, Any] = Field(default={}, description="a table, [run]")


class RealTable(Table):
    """A real parameter."""

    type: Literal["real"]
    low: float = Field(description="a number")
    high: float = Field(description="a number")
    log: bool = Field(default=False, description="true or false")


class IntegerTable(Table):
    """A whole-number parameter."""

    type: Literal["integer"]
    low: int = Field(description='a whole number (or type = "real")')
    high: int = Field(description='a whole number (or type = "real")')
    log: bool = Field(default=False, description="true or false")
    step: Count = Field(default=1, description="a whole number, 1 or above")


class ChoiceTable(Table):
    """A parameter that is one of a few options."""

    type: Literal["choice"]
    options: list[str | bool | int | float] = Field(description='a list of texts or numbers, like ["relu", "tanh"]')


class ConstraintTable(Table):
    """A constraint with a confidence of its own."""

    outcome: Text = Field(description="the name of an outcome")
    sense: Literal[">=", "<=", "is"] = Field(description='">=", "<=", or "is" for a yes or no')
    threshold: bool | float = Field(description="a number, or true or false where the sense is")
    confidence: Share = Field(default=0.95, description="a number between 0 and 1")


class OutcomeTable(Table):
    """The range that an outcome never leaves."""

    low: float | None = Field(default=None, description="a number")
    high: float | None = Field(default=None, description="a number")


class TaskTable(Table):
    """What is measured together, and what to call for it."""

    outcomes: list[Text] = Field(description='a list of outcomes, like ["error"]')
    cost: Positive | Literal["measured"] = Field(default=1.0, description='a number above 0, or "measured"')
    failures: Failures = Field(default="record", description='"record", "learn" or "random"')
    timeout: Positive | None = Field(default=None, description="a number of seconds above 0")
    parameters: list[Text] | None = Field(
        default=None, description='a list of the parameters that it depends on, like ["units"]'
    )
    function: Text | None = Field(default=None, description=_FUNCTION)
    command: Text | list[str] | None = Field(default=None, description=_COMMAND)


class ResourceTable(Table):
    """What tasks run on."""

    tasks: list[Text] = Field(description='a list of tasks, like ["train"]')
    slots: Count = Field(default=1, description="a whole number, 1 or above")


class BudgetTable(Table):
    """When to stop; the first limit reached ends a run."""

    evaluations: Count | None = Field(default=None, description="a whole number, 1 or above")
    cost: Positive | None = Field(default=None, description="a number above 0")
    seconds: Positive | None = Field(default=None, description="a number above 0")
    gain_per_cost: Positive | None = Field(default=None, description="a number above 0")
    confirm: Annotated[int, Field(ge=0)] | None = Field(default=None, description="a whole number, 0 or above")

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        return any(limit is not None for limit in (self.evaluations, self.cost, self.seconds, self.gain_per_cost))


class RunTable(Table):
    """How to run; everything has a default."""

    workers: Count | None = Field(default=None, description="a whole number, 1 or above")
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(default=0, description="a whole number, 0 or above")
    initial: Annotated[int, Field(ge=0, lt=2**63)] | None = Field(
        default=None, description="a whole number, 0 or above"
    )
    rule: RuleName | dict[str, Any] | None = Field(
        default=None,
        description=f'one of {", ".join(get_args(RuleName))}, or a table like {{ name = "eic", noise_factor = false }}',
    )
    setting: Literal["default", "ep", "paper"] | None = Field(default=None, description='"default", "ep" or "paper"')
    samples: Count | None = Field(default=None, description="a whole number, 1 or above")
    min_probability: Share | None = Field(default=None, description="a number between 0 and 1")
    deciding_share: Positive | None = Field(default=None, description="a number above 0")
    confirming_share: Annotated[float, Field(ge=0, lt=1)] | None = Field(
        default=None, description="a number from 0 to below 1"
    )
    tolerance: Annotated[float, Field(ge=0, lt=1)] | None = Field(
        default=None, description="a number from 0 to below 1"
    )
    device: Annotated[str, Field(min_length=1)] = Field(default="cpu", description='"cpu" or "cuda"')
    lease: Positive = Field(default=60.0, description="a number of seconds above 0")
    attempts: Count = Field(default=3, description="a whole number, 1 or above")
    losses: Count | None = Field(default=None, description="a whole number, 1 or above")


PARAMETERS: dict[str, type[Table]] = {"real": RealTable, "integer": IntegerTable, "choice": ChoiceTable}
SECTIONS: dict[str, type[Table]] = {
    "[tasks.NAME]": TaskTable,
    "[resources.NAME]": ResourceTable,
    "[budget]": BudgetTable,
    "[run]": RunTable,
}
