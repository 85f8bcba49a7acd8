"""The command of the real experiments: run the contenders, repetition by repetition, keep what came out and draw it."""

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import monotonic

import torch

from experiments.files import OUT, RUNS
from experiments.pictures import draw_if_possible
from experiments.progress import Progress
from experiments.real import RealExperiment, RealRun
from experiments.real_results import save_runs
from experiments.real_run import advance, is_done, load_run

FIRST = ("pesc", "pesc decoupled", "eic", "random")
"""The contenders that are run where none are named."""


def parser(experiment: RealExperiment, about: str | None) -> argparse.ArgumentParser:
    """What every real experiment takes."""
    made = argparse.ArgumentParser(
        prog=f"python -m experiments.figure_{experiment.figure}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--contenders", nargs="+", choices=experiment.contenders, default=list(FIRST), metavar="NAME",
                      help=f"of {', '.join(experiment.contenders)}; by default the first four")  # fmt: skip
    made.add_argument("--repetitions", type=int, default=10, metavar="R", help="of each contender (10)")
    made.add_argument("--evaluations", type=int, default=50, metavar="N", help="of each, by their cost (50)")
    made.add_argument("--seconds", type=float, metavar="S", help="stop after so long; the same command goes on")
    made.add_argument("--workers", type=int, default=1, metavar="N", help="processes, a run in each (1)")
    made.add_argument("--out", type=Path, default=OUT, metavar="FOLDER", help=f"where results and pictures go ({OUT})")
    made.add_argument("--runs", type=Path, default=RUNS, metavar="FOLDER", help=f"where the studies are ({RUNS})")
    return made


def main(experiment: RealExperiment, given: argparse.Namespace) -> int:
    """Runs it; 0 if all is done, 3 if time was up: the same command then goes on."""
    torch.set_num_threads(1)
    deadline = None if given.seconds is None else monotonic() + given.seconds
    runs = [
        load_run(given.runs, experiment, label, repetition)
        for repetition in range(given.repetitions)
        for label in given.contenders
    ]
    how = (given.evaluations, given.runs, deadline)
    if given.workers == 1:
        for run in runs:
            if not is_done(run, experiment, given.evaluations) and not _shown(experiment, run, *how):
                break
    else:
        waiting = [run for run in runs if not is_done(run, experiment, given.evaluations)]
        with ProcessPoolExecutor(given.workers, get_context("spawn")) as pool:
            list(pool.map(_shown, *zip(*[(experiment, run, *how) for run in waiting], strict=True)))
        runs = [load_run(given.runs, experiment, run.label, run.repetition) for run in runs]
    done = [run for run in runs if is_done(run, experiment, given.evaluations)]
    if done:
        path = given.out / f"{experiment.figure}.json"
        save_runs(path, experiment, given.evaluations, done)
        print(path)
        draw_if_possible(path)
    if len(done) < len(runs):
        print(f"{len(done)} of {len(runs)} runs are done: the same command goes on where it stopped")
    return 0 if len(done) == len(runs) else 3


def _shown(experiment: RealExperiment, run: RealRun, evaluations: int, runs: Path, deadline: float | None) -> bool:
    """Goes on with a run, and says how far it is; False if time was up before its end."""
    torch.set_num_threads(1)
    title = f"{experiment.figure} {run.label}, repetition {run.repetition}"
    steps = -(-evaluations // experiment.every) + experiment.repeats
    with Progress(title, steps=steps) as bar:
        bar.skip(len(run.looks) + len(run.last))
        began = monotonic()

        def watch() -> None:
            nonlocal began
            bar.advance(len(run.looks) + len(run.last), monotonic() - began)
            began = monotonic()

        return advance(experiment, run, evaluations, runs, deadline, watch)
