"""What is run for the README's table: studies and comparisons, each small enough for one process of one thread."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

import numpy as np

from benchmarks.gain_curves import gain_curves, named
from benchmarks.measure import measure_agreement
from benchmarks.oracle import read_oracle
from benchmarks.peers.contest import contest, initial_count
from benchmarks.peers.results import Entry
from examples.cheap_check import runs as cheap_check
from examples.crashing_simulator import compare as crashing_simulator
from pesky.test_functions import PROBLEMS, problem_by_name

EVALUATIONS = 40
PEERS = {"pesky": "pesc-undeclared", "Optuna": "optuna-gp"}
"""Both infer the noise: neither is told it."""
MOST_PARAMETERS = 4
JOINT = 25
"""Evaluations of both tasks that the budget of `cheap_check` pays for."""
ORACLE = Path(__file__).parents[1] / "oracles" / "one_dimension.json"
OPTIONS = ("default", "paper")
SAMPLES = 50


@dataclass(frozen=True)
class Job:
    """One of the runs that a part of the table is made of."""

    part: str
    case: str
    way: str
    seed: int


def compared_problems() -> list[str]:
    """Those of few parameters whose outcomes are numbers and measured together: what both take, and is soon done."""
    found = {name: problem_by_name(name).problem for name in (*PROBLEMS, "gp2")}
    few = {name: each for name, each in found.items() if len(each.parameters) <= MOST_PARAMETERS}
    return [name for name, each in few.items() if not each.yes_no and len(each.tasks) == 1]


def noisy_problems(names: Sequence[str]) -> list[str]:
    """Those of them whose measurements scatter."""
    noise = {name: problem_by_name(name).problem.noise for name in names}
    return [name for name in names if any((noise[name] or {}).values())]


def list_jobs(parts: Sequence[str], problems: Sequence[str], seeds: int) -> list[Job]:
    """What the parts need, the longest first, and seed by seed."""
    ways = {
        "separately": [("", way) for way in get_args(cheap_check.Way)],
        "crashes": [("", way) for way in get_args(crashing_simulator.Failures)],
        "accuracy": [("", options) for options in OPTIONS],
        "peers": [(problem, peer) for problem in problems for peer in PEERS],
    }
    return [Job(part, case, way, seed) for part in parts for seed in range(seeds) for case, way in ways[part]]


def run(job: Job) -> tuple[Job, Any]:
    """What came of it, as plain data."""
    return job, RUNS[job.part](job)


def _peers(job: Job) -> dict[int, float]:
    count = initial_count(problem_by_name(job.case).problem)
    result = contest(Entry(job.case, PEERS[job.way], job.seed, EVALUATIONS, count))
    if result.error:
        raise RuntimeError(f"{job}: {result.error}")
    return result.answers


def _separately(job: Job) -> dict[str, Any]:
    return asdict(cheap_check.optimize(job.way, job.seed, JOINT * cheap_check.TOGETHER))  # pyright: ignore[reportArgumentType]


def _crashes(job: Job) -> dict[str, Any]:
    evaluations = crashing_simulator.FILE.budget.evaluations
    assert evaluations is not None
    done = crashing_simulator.optimize(job.way, job.seed, evaluations)  # pyright: ignore[reportArgumentType]
    return {"crashes": done.crashes, "recommended": done.badness is None}


def _accuracy(job: Job) -> float:
    oracle, rule = read_oracle(str(ORACLE)), named(job.way, SAMPLES)
    (agreements,) = measure_agreement(oracle, rule, 1, lambda data, X, rule, _: gain_curves(data, X, rule, job.seed))
    return fmean(each.efficiency for each in agreements)


RUNS = {"separately": _separately, "crashes": _crashes, "accuracy": _accuracy, "peers": _peers}
"""The parts of the table, the longest jobs first."""


def gathered(done: Sequence[tuple[Job, Any]]) -> dict[str, Any]:
    """The results of all jobs by part, as the file has them, in whatever order they finished: lists are by seed."""
    by_part: dict[str, dict[tuple[str, str], list[Any]]] = {}
    order = ["", *PROBLEMS, "gp2"]
    for job, found in sorted(done, key=lambda each: (each[0].seed, order.index(each[0].case), each[0].way)):
        by_part.setdefault(job.part, {}).setdefault((job.case, job.way), []).append(found)
    data: dict[str, Any] = {}
    if "peers" in by_part:
        for (problem, peer), answers in by_part["peers"].items():
            gaps = {str(n): [rounded(each[n]) for each in answers] for n in answers[0]}
            data.setdefault("peers", {}).setdefault(problem, {})[peer] = gaps
        data["noisy"] = noisy_problems(list(data["peers"]))
    if "separately" in by_part:
        ways = [
            [cheap_check.Run(**each) for each in by_part["separately"]["", way]] for way in ("coupled", "decoupled")
        ]
        found = cheap_check.Comparison.of(list(zip(*ways, strict=True)))
        hours = {
            way: [rounded(run.cost_to(found.target) / 3600) for run in runs]
            for way, runs in zip(("together", "separately"), ways, strict=True)
        }
        data["separately"] = {"budget": rounded(JOINT * cheap_check.TOGETHER / 3600), "hours": hours}
    if "crashes" in by_part:
        data["crashes"] = {"evaluations": crashing_simulator.FILE.budget.evaluations} | {
            way: {name: [each[name] for each in found] for name in ("crashes", "recommended")}
            for (_, way), found in by_part["crashes"].items()
        }
    if "accuracy" in by_part:
        efficiency = {way: [rounded(each) for each in found] for (_, way), found in by_part["accuracy"].items()}
        data["accuracy"] = {"sets": len(read_oracle(str(ORACLE)).datasets), "efficiency": efficiency}
    return data


def rounded(value: float) -> float:
    """Four digits: more would be noise."""
    return float(f"{np.float64(value):.4g}")
