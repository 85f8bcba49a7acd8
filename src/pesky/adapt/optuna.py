"""A sampler for Optuna that learns constraints as it learns the objective, and asks where most is to be learnt."""

import logging
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pesky.acquire.base import Rule
from pesky.acquire.registry import rule_of
from pesky.errors import PeskyError, ProblemError
from pesky.extras import to_install
from pesky.inference.inference import FitBotorch
from pesky.model.surrogate import GP
from pesky.problem.fields import whole
from pesky.problem.task import Failures
from pesky.run.budget import Exhausted
from pesky.store import Datum
from pesky.store.evaluation import OPTUNA
from pesky.study import Study
from pesky.study.asked_elsewhere import await_rest
from pesky.study.from_optuna import take_in
from pesky.study.optuna_reading import TASK, Reading, reading_of

try:
    import optuna
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.samplers._base import _process_constraints_after_trial
    from optuna.search_space import intersection_search_space
    from optuna.trial import FrozenTrial, TrialState
except ImportError as missing:
    raise PeskyError(f"Optuna 5 is not installed, whose sampler this is: {to_install('optuna')}.") from missing

__all__ = ["PeskySampler"]

log = logging.getLogger("pesky")


class PeskySampler(BaseSampler):
    """A sampler for `optuna.create_study(sampler=...)`: constrained Bayesian optimization of one objective.

    Constraints are Optuna's: `trial.set_constraint(name, value)`, feasible at zero and below. Each is a function that
    is learnt by itself; a trial that sets them and raises `TrialPruned` has told them. Parameters that every complete
    trial has, over the same range, are decided together; all others, of a conditional or changing space, are left to
    `independent_sampler`, and their influence counts as noise. Trials that are running are taken into account.

    Args:
        seed: The same seed and the same trials give the same questions; None draws one.
        n_startup_trials: Points of a Latin hypercube, or trials in their place, before the model decides.
        constraints_func: A function from a finished trial to the values of its constraints, as older samplers have it.
        independent_sampler: What samples the first trial, and parameters that are not decided together; at random if
            not given.
        rule: How points are chosen, as in `pesky.Study`.
        model: The model of the outcomes, as in `pesky.Study`.
        noise: The standard deviation of the objective's and every constraint's noise; 0 if there is none, inferred if
            not given.
        failures: "learn" makes the success of a trial a constraint of its own, "random" one that holds by chance;
            "record" only avoids where it failed.
        warn_independent_sampling: Say once of each parameter that it is not decided together with the others.
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        n_startup_trials: int = 3,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        independent_sampler: BaseSampler | None = None,
        rule: str | Mapping[str, Any] | Rule = "pesc",
        model: GP | FitBotorch | None = None,
        noise: float | None = None,
        failures: Failures = "record",
        warn_independent_sampling: bool = True,
    ) -> None:
        if constraints_func is not None and not callable(constraints_func):
            raise ProblemError(f"constraints_func was {constraints_func!r}: expected a function of a finished trial.")
        if independent_sampler is not None and not isinstance(independent_sampler, BaseSampler):
            raise ProblemError(f"independent_sampler was {independent_sampler!r}: expected a sampler of Optuna's.")
        self._seed = _drawn() if seed is None else whole("seed", seed)
        self._independent_sampler = RandomSampler(seed=seed) if independent_sampler is None else independent_sampler
        self._constraints_func, self._warns = constraints_func, warn_independent_sampling
        self._declared: dict[str, Any] = {"noise": noise, "failures": failures}
        initial = whole("n_startup_trials", n_startup_trials, 1)
        self._settings: dict[str, Any] = {"rule": rule, "model": model, "initial": initial}
        self._asked: dict[tuple[str, int], dict[str, Any]] = {}
        """What trials were given that may not have taken it yet."""
        self._said: set[str] = set()
        self._deciding = threading.RLock()
        # what is wrong with these options is said now, and not at the second trial
        rule_of(rule)
        reading_of({"x": optuna.distributions.FloatDistribution(0, 1)}, [], **self._declared)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_deciding"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _deciding=threading.RLock())

    def reseed_rng(self) -> None:
        """Another seed, as Optuna wants it of those who run in parallel."""
        self._seed = _drawn()
        self._independent_sampler.reseed_rng()

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The parameters that every complete trial had, over the same range."""
        complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        space = intersection_search_space(complete)
        return {name: each for name, each in space.items() if not each.single()}

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The most informative values of these parameters, given all trials."""
        _check_one_objective(study)
        space = {name: each for name, each in search_space.items() if not each.single()}
        if not space:
            return {}
        # One after the other: two threads that decide at once would decide the same.
        with self._deciding:
            trials = [each for each in study.get_trials(deepcopy=False) if each.number != trial.number]
            is_maximized = study.direction.name == "MAXIMIZE"
            reading = reading_of(space, trials, is_maximized=is_maximized, **self._declared)
            own = self._study(reading)
            take_in(own, reading, [each for each in trials if each.state in _ENDED], study.study_name)
            self._await(own, reading, study.study_name, trials)
            try:
                params = reading.there(own.ask().params)
            except Exhausted as error:  # without noise, a space of few points has an end
                log.warning("%s: trial %d is one of them again", error, trial.number)
                sample = partial(self._independent_sampler.sample_independent, study, trial)
                return {name: sample(name, each) for name, each in space.items()}
            self._asked[study.study_name, trial.number] = params
            return params

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A value by the independent sampler: of the first trial, and where trials have different parameters."""
        _check_one_objective(study)
        is_new = self._warns and param_name not in self._said
        if is_new and any(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))):
            self._said.add(param_name)
            log.warning(
                "the parameter %r is sampled by %s, and not decided together with the others: not all trials have "
                "it, over the same range; warn_independent_sampling=False is silent about it",
                param_name,
                type(self._independent_sampler).__name__,
            )
        return self._independent_sampler.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        """What the independent sampler does then."""
        self._independent_sampler.before_trial(study, trial)

    def after_trial(
        self, study: optuna.Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Keep the values of the constraints with the trial, where a function gives them."""
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        self._independent_sampler.after_trial(study, trial, state, values)

    def _study(self, reading: Reading) -> Study:
        return Study(reading.problem, seed=self._seed, **self._settings)

    def _await(self, own: Study, reading: Reading, source: str, trials: Sequence[FrozenTrial]) -> None:
        """Await what running trials will tell, and what pruned ones never told: nobody need ask there again."""
        running = {(source, each.number): each for each in trials if each.state is TrialState.RUNNING}
        self._asked = {key: each for key, each in self._asked.items() if key[0] != source or key in running}
        for each in trials:
            given = self._asked.get((source, each.number), {}) | each.params
            if each.state not in (TrialState.RUNNING, TrialState.PRUNED) or (params := reading.params(given)) is None:
                continue
            await_rest(own, Datum(TASK, params, reading.outcomes(each), {OPTUNA: f"{source} #{each.number}"}))


_ENDED = (TrialState.COMPLETE, TrialState.FAIL)


def _drawn() -> int:
    return secrets.randbelow(2**31)


def _check_one_objective(study: optuna.Study) -> None:
    if len(study.directions) > 1:
        raise ProblemError(
            f"the study {study.study_name!r} has {len(study.directions)} objectives: PeskySampler expects one. Make "
            "limits of the others, with trial.set_constraint(name, value - limit), or use optuna.samplers.GPSampler."
        )
