"""One ask of a pesky study, with the CPU seconds of its parts."""

from collections.abc import Callable
from time import process_time

import pesky
from benchmarks.case import Measured

PARTS = ("hyperparameters", "x*", "given x*", "maximizing")


def prepare_pesc(measured: Measured, seed: int, options: str) -> Callable[[], dict[str, float]]:
    """An ask of PESC with these options, that returns the CPU seconds of each of `PARTS`."""
    d, rows = measured.X.shape[1], measured.Y.shape[1]
    constraints = [f"c{k} >= 0" for k in range(1, rows)]
    problem = pesky.Problem({f"x{i}": pesky.Real(0.0, 1.0) for i in range(d)}, minimize="f", constraints=constraints)
    study = pesky.Study(problem, seed=seed, rule={"name": "pesc", "options": options})
    for x, y in zip(measured.X.tolist(), measured.Y.tolist(), strict=True):
        params = {f"x{i}": value for i, value in enumerate(x)}
        study.add(params, dict(zip(problem.outcomes, y, strict=True)))

    def ask() -> dict[str, float]:
        start = process_time()
        study.belief()
        fitted = process_time()
        study.ask()
        assert study.decision is not None
        stages = study.decision.seconds
        return dict(
            zip(
                PARTS,
                (fitted - start, stages["x*"], stages.get("ep", 0.0) + stages.get("samples", 0.0), stages["maximize"]),
                strict=True,
            )
        )

    return ask
