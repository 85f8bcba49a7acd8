"""What a study of Optuna's knows, taken over into one of ours."""

import logging
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pesky.errors import DataError, PeskyError, ProblemError, unknown_name
from pesky.extras import to_install
from pesky.problem import Parameter, Real
from pesky.store import Datum
from pesky.store.evaluation import OPTUNA
from pesky.study.data import StudyData
from pesky.study.optuna_reading import TASK, Reading, reading_of

if TYPE_CHECKING:
    from optuna import Study as OptunaStudy
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

log = logging.getLogger("pesky")


def imported(
    study: object, *, parameters: Mapping[str, Parameter] | None = None, **given: Any
) -> tuple[Reading, list["FrozenTrial"]]:
    """How a study of Optuna's is read, and its trials; an error that says what cannot be."""
    found = _study(study)
    trials = found.get_trials(deepcopy=False)
    if len(found.directions) > 1:
        raise ProblemError(
            f"the Optuna study {found.study_name!r} has {len(found.directions)} objectives: expected one; of the "
            "others, set constraints, and read the study anew."
        )
    complete = [trial for trial in trials if trial.state.name == "COMPLETE"]
    if not complete:
        raise DataError(
            f"the Optuna study {found.study_name!r} has no complete trial, and so no parameters: expected at least "
            "one; for a new study, write Study(Problem(...))."
        )
    space = _space(complete, parameters)
    # a function that is asked here gets values, and not the number of a step
    stepped = {name: _real(each) for name, each in space.items() if isinstance(getattr(each, "step", None), float)}
    objective = (found.metric_names or ["value"])[0]
    is_maximized = found.direction.name == "MAXIMIZE"
    chosen = stepped | dict(parameters or {})
    how: dict[str, Any] = {"objective": objective, "is_maximized": is_maximized, "parameters": chosen}
    reading = reading_of(space, trials, **how, **given)
    _check_told(reading, trials)
    return reading, trials


def take_in(study: StudyData, reading: Reading, trials: Sequence["FrozenTrial"], source: str) -> None:
    """Keep what finished trials told as data, in their order; what is there already is not taken twice.

    A failed trial is a failed evaluation, and a pruned one tells its constraints.
    """
    there = {e.attributes.get(OPTUNA) for e in study.evaluations.values()}
    data: list[Datum] = []
    left_out = 0
    for trial in trials:
        origin = f"{source} #{trial.number}"
        if origin in there:
            continue
        params, told = reading.params(trial.params), reading.outcomes(trial)
        finite = {name: float(value) for name, value in told.items() if math.isfinite(value)}
        if params is None or not trial.state.is_finished():
            left_out += 1
            continue
        others = {key: value for key, value in trial.user_attrs.items() if key not in told}
        has_failed = trial.state.name == "FAIL" or len(finite) < len(told)
        if has_failed or finite:
            why = _why(trial, told) if has_failed else None
            data.append(Datum(TASK, params, finite, {OPTUNA: origin, **others}, why))
    study.store.add_all(study.identity, data)
    if left_out:
        log.warning(
            "%d of %d trials of %s are left out: they are not finished, or lack a parameter",
            left_out,
            len(trials),
            source,
        )


def _why(trial: "FrozenTrial", told: Mapping[str, float]) -> str:
    odd = [f"{name} was {value}" for name, value in told.items() if not math.isfinite(value)]
    return ", ".join(odd) or str(trial.system_attrs.get("fail_reason") or "the trial failed")


def _study(given: object) -> "OptunaStudy":
    try:
        import optuna
    except ImportError as error:
        raise PeskyError(f"Optuna is not installed, whose study this is: {to_install('optuna')}.") from error
    if not isinstance(given, optuna.Study):
        raise DataError(
            f"the study was {given!r}: expected one of Optuna's, like "
            'optuna.load_study(study_name="name", storage="sqlite:///file.db").'
        )
    return given


def _space(
    complete: Sequence["FrozenTrial"], parameters: Mapping[str, Parameter] | None
) -> dict[str, "BaseDistribution"]:
    """The distributions of the parameters; a ProblemError where trials do not agree upon one that is not given."""
    found: dict[str, BaseDistribution] = {}
    for trial in complete:  # the last one counts
        found.update(trial.distributions)
    if parameters is not None:
        if unknown := next((name for name in parameters if name not in found), None):
            raise ProblemError(f"parameters: {unknown_name('parameter', unknown, found)}")
        return {name: each for name, each in found.items() if name in parameters}
    for name, last in found.items():
        where = sum(name in trial.distributions for trial in complete)
        if where < len(complete):
            raise ProblemError(
                f"the parameter {name!r} is in {where} of {len(complete)} complete trials: a conditional space is no "
                "box. Give the parameters that are to be optimized, `parameters={...}`; trials without one of them are "
                "left out."
            )
        if any(trial.distributions[name] != last for trial in complete):
            raise ProblemError(
                f"the parameter {name!r} has several distributions, {complete[0].distributions[name]} and {last} among "
                f"them: say which range it has, `parameters={{{name!r}: ..., ...}}` with all that are to be optimized."
            )
    return {name: each for name, each in found.items() if not each.single()}


def _check_told(reading: Reading, trials: Sequence["FrozenTrial"]) -> None:
    """Nothing, or a ProblemError if a constraint is on something that no trial tells."""
    told = {name for trial in trials for name in reading.outcomes(trial)}
    for outcome in reading.problem.outcomes:
        if outcome not in told:
            attributes = {key for trial in trials for key, value in trial.user_attrs.items() if _is_number(value)}
            known = sorted({*reading.keys, *attributes, reading.problem.objective})
            raise ProblemError(
                f"no trial tells {outcome!r}, neither as a constraint nor as a user attribute. "
                f"{unknown_name('outcome', outcome, known)}"
            )


def _real(distribution: Any) -> Real:
    return Real(distribution.low, distribution.high)


def _is_number(value: object) -> bool:
    return isinstance(value, float | int)
