"""The command of every figure: run its rules, keep how far they are, write the curves and draw them."""

import argparse
import shlex
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import numpy as np
import torch

from experiments import checkpoint
from experiments.curves import Curve, save
from experiments.experiment import Experiment
from experiments.files import OUT, RUNS
from experiments.lockstep import Lockstep, Progressed
from experiments.pictures import draw_if_possible
from experiments.progress import Progress

SAVE_EVERY = 30.0
"""Seconds between two checkpoints."""
TOGETHER = {"cpu": 20, "cuda": 500}
"""Realisations in one lockstep, on each kind of device."""


class Job(NamedTuple):
    """Some realisations of one contender; everything in it can be sent to another process."""

    module: str
    figure: str
    label: str
    seeds: tuple[int, ...]
    evaluations: int
    every: int
    device: str
    together: int | None
    runs: Path
    deadline: float | None

    @property
    def experiment(self) -> Experiment:
        """The experiment that it is a part of."""
        found = vars(import_module(self.module)).values()
        return next(each for each in found if isinstance(each, Experiment) and each.figure == self.figure)

    @property
    def path(self) -> Path:
        """Where it is kept how far it is."""
        label = self.label.replace(" ", "_")
        return self.runs / f"{self.figure}-{label}-{self.seeds[0]}-{len(self.seeds)}-{self.every}.pt"

    def command(self, realisations: int) -> str:
        """What makes this contender's curve."""
        what = f"python -m {self.module} --figures {self.figure} --rules {shlex.quote(self.label)}"
        cut = f" --evaluations {self.evaluations}" if self.evaluations != self.experiment.evaluations else ""
        together = "" if self.together is None else f" --together {self.together}"
        return f"{what} --realisations {realisations}{cut} --every {self.every} --device {self.device}{together}"


def run(job: Job) -> Progressed | None:
    """The realisations, all evaluations done; None if time was up before."""
    torch.set_num_threads(1 if job.device == "cpu" else torch.get_num_threads())
    experiment = job.experiment
    worlds, rule = experiment.build(job.label, job.seeds, job.device)
    lockstep = Lockstep(worlds, rule, job.seeds)
    identity = f"{rule!r} {worlds.problem.to_json()} {worlds.model!r}"
    state = checkpoint.load(job.path, identity, job.device) or lockstep.begin()
    unit = lockstep.functions if experiment.is_single else 1

    def count() -> int:
        return unit * state.told.u.shape[1] if len(lockstep.measured) == 1 else state.told.u.shape[1]

    saved = monotonic()
    with Progress(f"{job.figure} {job.label}", realisations=len(job.seeds), steps=job.evaluations) as bar:
        bar.skip(count())
        while True:
            began = monotonic()
            due = count() % job.every == 0 or count() % 10 == 0 or count() >= job.evaluations
            if due and count() not in state.counts:
                lockstep.recommend(state, count())
            if count() >= job.evaluations:
                checkpoint.save(job.path, identity, state)
                state.previous = None  # on the device, where no other process should look for it
                return state
            if job.deadline is not None and monotonic() > job.deadline:
                checkpoint.save(job.path, identity, state)
                return None
            lockstep.step(state)
            bar.advance(count(), monotonic() - began)
            if monotonic() - saved > SAVE_EVERY:
                checkpoint.save(job.path, identity, state)
                saved = monotonic()


def attempt(job: Job) -> Progressed | None:
    """The same; None also if the device has no room for it beside what others compute there."""
    try:
        return run(job)
    except torch.OutOfMemoryError:
        print(
            f"{job.figure} {job.label}: no memory left on {job.device}: give fewer --workers, or a smaller --together"
        )
        return None


def curve_of(job: Job, parts: Sequence[Progressed], device: str) -> Curve:
    """What all realisations of a contender come to; the job is any one of its."""
    steps = sum(part.steps for part in parts)
    seconds = {stage: sum(part.seconds.get(stage, 0.0) for part in parts) for stage in parts[0].seconds}
    # A block that went on from a shorter run, or further in a longer one, has counts that the others may not have.
    shared = set.intersection(*(set(part.counts) for part in parts))
    counts = sorted(count for count in shared if count <= job.evaluations) or [min(shared)]

    def collect(name: str) -> np.ndarray:
        columns = [[getattr(part, name)[part.counts.index(count)] for count in counts] for part in parts]
        return np.concatenate([torch.stack(each, 1).numpy() for each in columns])

    return Curve(
        label=job.label,
        counts=counts,
        gaps=collect("gaps"),
        feasible=collect("feasible"),
        device=device,
        seconds=sum(seconds.values()),
        per_step={stage: each / max(1, steps) for stage, each in seconds.items()},
        command=job.command(sum(len(part.gaps[0]) for part in parts)),
    )


def main(experiments: Sequence[Experiment], arguments: Sequence[str] | None = None) -> int:
    """Runs them; 0 if all is done, 3 if time or memory was short: the same command then goes on."""
    parser = _parser(experiments)
    given = parser.parse_args(arguments)
    jobs = _jobs(experiments, given)
    if not jobs:
        parser.error(f"nothing to run: {' and '.join(given.figures)} has none of these rules: {', '.join(given.rules)}")
    if given.workers == 1:
        states = [attempt(job) for job in jobs]
    else:
        with ProcessPoolExecutor(given.workers, get_context("spawn")) as pool:
            states = list(pool.map(attempt, jobs))
    found: dict[tuple[str, str], list[tuple[Job, Progressed | None]]] = {}
    for job, state in zip(jobs, states, strict=True):
        found.setdefault((job.figure, job.label), []).append((job, state))
    device = torch.cuda.get_device_name() if given.device == "cuda" else "CPU"
    for each in experiments:
        curves = []
        for label in each.contenders:
            of_label = found.get((each.figure, label), [])
            parts = [state for _, state in of_label if state is not None]
            if parts and len(parts) == len(of_label):
                curves.append(curve_of(of_label[0][0], parts, device))
                _report(each.figure, curves[-1], parts[0].steps)
        if curves:
            path = given.out / f"{each.figure}.json"
            save(path, each.figure, each.statistic, curves)
            print(path)
            draw_if_possible(path)
    is_done = all(state is not None for state in states)
    if not is_done:
        print("not all is done: the same command goes on where it stopped")
    return 0 if is_done else 3


def _jobs(experiments: Sequence[Experiment], given: argparse.Namespace) -> list[Job]:
    """What was asked for, in blocks of realisations that go in lockstep."""
    together = given.together or TOGETHER[given.device]
    deadline = None if given.seconds is None else monotonic() + given.seconds
    seeds = tuple(range(given.realisations))
    blocks = [seeds[first : first + together] for first in range(0, given.realisations, together)]
    return [
        Job(
            module=_module_of(each),
            figure=each.figure,
            label=label,
            seeds=block,
            evaluations=given.evaluations or each.evaluations,
            every=given.every,
            device=given.device,
            together=given.together,
            runs=given.runs,
            deadline=deadline,
        )
        for each in experiments
        if given.figures is None or each.figure in given.figures
        for label in each.contenders
        if given.rules is None or label in given.rules
        for block in blocks
    ]


def _report(figure: str, curve: Curve, steps: int) -> None:
    """What was measured, in a line; and where the time went."""
    total = sum(curve.per_step.values()) or 1.0
    shares = ", ".join(f"{stage} {each / total:.0%}" for stage, each in curve.per_step.items() if each / total > 0.005)
    value = np.median(curve.gaps[:, -1]), curve.gaps[:, -1].mean()
    print(
        f"{figure} {curve.label}: {len(curve.gaps)} realisations, gap after {curve.counts[-1]} evaluations "
        f"{value[0]:.3g} (median) {value[1]:.3g} (mean); {curve.seconds:.0f} s on {curve.device}, "
        f"{total:.2f} s a step of {steps}: {shares}"
    )


def _module_of(experiment: Experiment) -> str:
    """Where the experiment is defined, whoever runs it."""
    name = experiment.figure.partition("_")[0]
    return f"experiments.figure_{name}" if name[0].isdigit() else f"experiments.{name}"


def _parser(experiments: Sequence[Experiment]) -> argparse.ArgumentParser:
    figures = [each.figure for each in experiments]
    labels = list(dict.fromkeys(label for each in experiments for label in each.contenders))
    parser = argparse.ArgumentParser(description=f"Utility gaps of rules: {', '.join(figures)}.")
    parser.add_argument("--figures", nargs="+", choices=figures, help="all by default")
    parser.add_argument("--rules", nargs="+", choices=labels, help="all by default")
    parser.add_argument("--realisations", type=int, default=20, metavar="N")
    parser.add_argument("--evaluations", type=int, metavar="N", help="of each realisation; as in the figure by default")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="evaluations between recommendations (1)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--together", type=int, metavar="N", help="realisations in one lockstep (20 or, on cuda, 500)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes that share the device (1)")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop after so long; the same command goes on")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FOLDER", help=f"where curves and pictures go ({OUT})")
    parser.add_argument("--runs", type=Path, default=RUNS, metavar="FOLDER", help=f"where checkpoints go ({RUNS})")
    return parser
