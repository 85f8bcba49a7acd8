"""How an experiment of Ax's is read: metrics are outcomes, outcome constraints limits, arms of trials evaluations."""

import logging
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ax.core.base_trial import BaseTrial
from ax.core.data import Data
from ax.core.experiment import Experiment
from ax.core.objective import Objective
from ax.core.outcome_constraint import OutcomeConstraint
from ax.core.types import ComparisonOp

from pesky.adapt.ax_space import SpaceReading, read_constraints, read_space
from pesky.errors import ProblemError
from pesky.problem import Constraint, Problem, Real, Task
from pesky.problem.task import Failures
from pesky.store import Datum
from pesky.store.evaluation import AX
from pesky.study import Study
from pesky.study.asked_elsewhere import await_rest
from pesky.study.optuna_reading import TASK, names_of

log = logging.getLogger("pesky")


@dataclass(frozen=True)
class Told:
    """What one metric's last datum of an arm in a trial says."""

    mean: float
    error: float
    """Its standard error; not a number where it is not known."""
    is_step: bool
    """Whether it is a point of a curve, and of a trial that goes on not the last one."""


Tellings = Mapping[tuple[int, str, str], Told]
"""By trial, arm and outcome."""


@dataclass(frozen=True)
class ExperimentReading:
    """The problem that an experiment is, and how its trials are read."""

    problem: Problem
    space: SpaceReading
    tellings: Tellings

    def take_in(self, study: Study, experiment: Experiment) -> None:
        """Have the study know what trials told, that they failed, and that others are under way, in their order."""
        ended: list[Datum] = []
        left_out = 0
        for trial in experiment.trials.values():
            abandoned = {each.name for each in trial.abandoned_arms}
            for arm in trial.arms:
                params = self.space.read(arm.parameters)
                if trial.status.is_stale or params is None:
                    left_out += params is None
                    continue
                is_abandoned = trial.status.is_abandoned or arm.name in abandoned
                told = {} if is_abandoned else dict(self._outcomes(trial, arm.name))
                finite = {name: value for name, value in told.items() if math.isfinite(value)}
                has_failed = trial.status.is_failed or len(finite) < len(told)
                why = _why(trial, told) if has_failed else None
                datum = Datum(TASK, params, finite, {AX: _named(trial, arm.name)}, why)
                if has_failed or finite.keys() == set(self.problem.tasks[TASK].outcomes):
                    ended.append(datum)
                else:  # under way, or never to be told: nobody need ask there again
                    study.store.add_all(study.identity, ended)
                    ended = []
                    await_rest(study, datum)
        study.store.add_all(study.identity, ended)
        if left_out:
            log.warning("%d arms are left out: they lack a parameter, or have a value that it has no more", left_out)

    def _outcomes(self, trial: BaseTrial, arm: str) -> Iterator[tuple[str, float]]:
        for name in self.problem.tasks[TASK].outcomes:
            told = self.tellings.get((trial.index, arm, name))
            if told is not None and (trial.status.is_completed or not told.is_step):
                yield name, told.mean


def read_experiment(
    experiment: Experiment,
    data: Data,
    *,
    noise: float | Mapping[str, float | None] | None,
    failures: Failures,
) -> ExperimentReading:
    """What an experiment asks, in our words; a ProblemError for what cannot be asked."""
    config = experiment.optimization_config
    if config is None:
        raise ProblemError(
            'the experiment has no optimization_config: expected client.configure_optimization("-loss", ...).'
        )
    space = read_space(experiment.search_space)
    metric, is_minimized = _objective(config.objective)
    limits = [_limit(each) for each in config.outcome_constraints]
    names = names_of(dict.fromkeys([metric, *(each.outcome for each in limits)]), space.parameters)
    tellings = _tellings(data, names)
    constraints = [Constraint(names[each.outcome], each.sense, each.threshold) for each in limits]
    problem = Problem(
        space.parameters,
        **{"minimize" if is_minimized else "maximize": names[metric]},  # pyright: ignore[reportArgumentType]
        constraints=[*constraints, *read_constraints(experiment.search_space.parameter_constraints, space)],
        tasks={TASK: Task(tuple(names.values()), failures=failures)},
        noise=_noise(tellings, names) if noise is None else _renamed(noise, names),
    )
    return ExperimentReading(problem, space, tellings)


def _objective(given: Objective) -> tuple[str, bool]:
    if not given.is_single_objective:
        raise ProblemError(
            f"the objective was {given.expression!r}: PeskyNode expects one metric. Make limits of the others, "
            'client.configure_optimization("-a", outcome_constraints=["b <= 2"]), or give a sum as a metric of its own.'
        )
    (metric,) = given.metric_names
    return metric, given.minimize


def _limit(given: OutcomeConstraint) -> Constraint:
    what = f"the outcome constraint {given.expression!r}"
    if given.relative:
        raise ProblemError(
            f"{what} is relative to a baseline: PeskyNode expects a number; measure the baseline, and write what it "
            "comes to."
        )
    if len(given.metric_names) != 1:
        raise ProblemError(f"{what} is on several metrics: PeskyNode expects one; give the sum as a metric of its own.")
    ((_, weight),) = given.metric_weights
    is_lower = (given.op is ComparisonOp.GEQ) == (weight > 0)
    return Constraint(given.metric_names[0], ">=" if is_lower else "<=", float(given.bound) / float(weight))


def _tellings(data: Data, names: Mapping[str, str]) -> dict[tuple[int, str, str], Told]:
    """What was told of each outcome; the last step of curves."""
    found: dict[tuple[int, str, str], tuple[float, Told]] = {}
    for row in data.full_df.to_dict("records"):
        if (name := names.get(str(row["metric_name"]))) is None:
            continue
        step = float(row.get("step", math.nan))
        is_step = not math.isnan(step)
        key, order = (int(row["trial_index"]), str(row["arm_name"]), name), step if is_step else math.inf
        if key not in found or order >= found[key][0]:
            found[key] = order, Told(float(row["mean"]), float(row.get("sem", math.nan)), is_step)
    return {key: told for key, (_, told) in found.items()}


def _noise(tellings: Tellings, names: Mapping[str, str]) -> dict[str, float | None]:
    """The root mean square of each outcome's standard errors; None, to be inferred, unless all are known."""
    noise: dict[str, float | None] = {}
    for name in names.values():
        errors = [told.error for (_, _, outcome), told in tellings.items() if outcome == name]
        is_known = bool(errors) and not any(math.isnan(each) for each in errors)
        noise[name] = math.sqrt(sum(each**2 for each in errors) / len(errors)) if is_known else None
    return noise


def check_noise(noise: float | Mapping[str, float | None] | None) -> None:
    """Nothing, or an error if it is none whatever the metrics are called."""
    each = noise if isinstance(noise, Mapping) else {"metric": noise}
    for metric, name in names_of(each).items():
        Problem({"parameter of none": Real(0, 1)}, minimize=name, noise={name: each[metric]})


def _renamed(noise: float | Mapping[str, float | None], names: Mapping[str, str]) -> Any:
    return {names.get(key, key): each for key, each in noise.items()} if isinstance(noise, Mapping) else noise


def _named(trial: BaseTrial, arm: str) -> str:
    """What a person calls the arm of a trial, in Ax."""
    return f"trial {trial.index}" + (f", arm {arm}" if len(trial.arms) > 1 else "")


def _why(trial: BaseTrial, told: Mapping[str, float]) -> str:
    odd = [f"{name} was {value}" for name, value in told.items() if not math.isfinite(value)]
    return ", ".join(odd) or str(trial.status_reason or "the trial failed")
