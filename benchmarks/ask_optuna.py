"""One ask of Optuna's `GPSampler` with constraints, at its defaults."""

from collections.abc import Callable

import optuna
from optuna.distributions import BaseDistribution, FloatDistribution

from benchmarks.case import Measured


def prepare_optuna(measured: Measured, seed: int) -> Callable[[], None]:
    """An ask of a study that has been told all of `measured`."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.GPSampler(seed=seed))
    names = [f"x{i}" for i in range(measured.X.shape[-1])]
    space: dict[str, BaseDistribution] = {name: FloatDistribution(0.0, 1.0) for name in names}
    for x, y in zip(measured.X.tolist(), measured.Y.tolist(), strict=True):
        # Optuna holds a constraint feasible when it is <= 0.
        slack = {f"c{row}": -value for row, value in enumerate(y) if row > 0}
        params = dict(zip(names, x, strict=True))
        study.add_trial(optuna.create_trial(value=y[0], params=params, distributions=space, constraints=slack))

    def ask() -> None:
        trial = study.ask()
        for name in names:
            trial.suggest_float(name, 0.0, 1.0)

    return ask
