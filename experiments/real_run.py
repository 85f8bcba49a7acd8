"""A run is a `pesky.Study` on disk and a file of looks at its recommendations; it goes on where it stopped."""

import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from experiments.files import write_json
from experiments.real import Measurement, Params, RealExperiment, RealRun
from pesky import Budget, Study


def folder_of(runs: Path, experiment: RealExperiment, label: str, repetition: int) -> Path:
    """Where the run is kept, without its ending: .db is the study, .json the looks at its recommendations."""
    return runs / experiment.figure / f"{label.replace(' ', '_')}-{repetition}"


def load_run(runs: Path, experiment: RealExperiment, label: str, repetition: int) -> RealRun:
    """The run as it was left; a new one if there is none."""
    path = folder_of(runs, experiment, label, repetition).with_suffix(".json")
    return RealRun(**json.loads(path.read_text())) if path.exists() else RealRun(label, repetition)


def is_done(run: RealRun, experiment: RealExperiment, evaluations: int) -> bool:
    """Whether it went so far, and its end was measured."""
    return bool(run.looks) and run.looks[-1]["n"] >= evaluations and len(run.last) >= experiment.repeats


def advance(
    experiment: RealExperiment,
    run: RealRun,
    evaluations: int,
    runs: Path,
    deadline: float | None = None,
    watch: Callable[[], None] = lambda: None,
) -> bool:
    """Goes on until the run has spent what so many joint evaluations cost; False if time was up before.

    `watch` is called after every look.
    """
    path = folder_of(runs, experiment, run.label, run.repetition)
    path.parent.mkdir(parents=True, exist_ok=True)
    contender = experiment.contenders[run.label]
    study = Study(
        experiment.problem_of(run.label),
        storage=f"sqlite:///{path.with_suffix('.db')}",
        name=experiment.figure,
        seed=run.repetition,
        model=contender.model,
        rule=contender.rule,
    )
    functions = {task: _timed(experiment.functions[task], run, study) for task in study.problem.tasks}
    if run.looks and run.looks[-1]["n"] < evaluations:
        run.last = []  # it ended there once, and now goes on
    while not is_done(run, experiment, evaluations):
        if deadline is not None and monotonic() > deadline:
            return False
        began = monotonic()
        if not run.looks or run.looks[-1]["n"] < evaluations:
            n = min(evaluations, (run.looks[-1]["n"] if run.looks else 0) + experiment.every)
            # rounding must not cost the last evaluation
            study.run(
                functions, Budget(cost=n * experiment.price * (1 + 1e-9), confirm=0), keep_going=True, progress=False
            )
            run.looks.append({"n": n, **_look(experiment, run, study)})
            run.asked = {task: sum(e.task == task for e in study.evaluations.values()) for task in study.problem.tasks}
            run.failed = sum(e.state == "failed" for e in study.evaluations.values())
        else:
            seed = _seed(run, 2, len(run.last))
            run.last.append(_measured(experiment, run.looks[-1]["params"], seed))
        run.seconds += monotonic() - began
        write_json(path.with_suffix(".json"), vars(run))
        watch()
    return True


def _look(experiment: RealExperiment, run: RealRun, study: Study) -> dict[str, Any]:
    """The recommendation as it is now, and a measurement of it, or that of the look before if it is the same."""
    recommendation = study.recommend()
    found = {
        "spent": round(sum(study.spent().values()), 6),
        "params": dict(recommendation.params),
        "is_confident": recommendation.is_confident,
        "expected": recommendation.expected,
    }
    if run.looks and run.looks[-1]["params"] == found["params"]:
        return found | {"measured": run.looks[-1]["measured"]}
    return found | {"measured": _measured(experiment, recommendation.params, _seed(run, 1, len(run.looks)))}


def _measured(experiment: RealExperiment, params: Params, seed: int) -> dict[str, float] | None:
    """Everything, measured there once; None where that fails."""
    try:
        told = experiment.functions[experiment.task](dict(params), seed)
    except RuntimeError:
        return None
    return {name: told[name] for name in experiment.together.outcomes}


def _timed(function: Measurement, run: RealRun, study: Study) -> Callable[[Params], dict[str, float]]:
    """The function as a study calls it: with a seed of its own each time, and the time that it takes counted."""

    def call(params: Params) -> dict[str, float]:
        began = monotonic()
        try:
            return function(params, _seed(run, 0, len(study.evaluations)))
        finally:
            run.measuring += monotonic() - began

    return call


def _seed(run: RealRun, purpose: int, count: int) -> int:
    """Different for each repetition, purpose and count; contenders start from the same."""
    return 1_000_000 * run.repetition + 10_000 * purpose + count
