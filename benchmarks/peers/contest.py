"""One optimizer on one problem: the points that it measured, and its answers on the way."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

import torch

from benchmarks.peers import PEERS
from benchmarks.peers.base import Measured, Params, best_measured
from pesky.space import Space
from pesky.test_functions import Benchmark, problem_by_name

INITIAL = 3
MILESTONES = (10, 20, 30, 40)


@dataclass(frozen=True)
class Entry:
    """What is run: points, noise and drawn functions depend on the seed alone, not on the optimizer."""

    problem: str
    peer: str
    seed: int
    evaluations: int

    @property
    def milestones(self) -> list[int]:
        """The evaluations after which there is an answer."""
        return [*(n for n in MILESTONES if n < self.evaluations), self.evaluations]


@dataclass
class Result:
    """What came of it.

    answers:   of each milestone, the true utility gap of the optimizer's own answer
    measured:  of each milestone, that of the best point which, as measured, held every constraint
    points:    all that was measured, in its order
    seconds:   CPU seconds of each ask, with whatever is fitted for it
    """

    entry: Entry
    answers: dict[int, float] = field(default_factory=dict)
    measured: dict[int, float] = field(default_factory=dict)
    points: list[Measured] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    error: str = ""
    """Why it ended early, if it did."""


def contest(entry: Entry) -> Result:
    """The run of an entry; one that raises ends there, and the others go on."""
    result = Result(entry)
    try:
        _optimize(entry, result)
    except Exception as error:
        result.error = f"{type(error).__name__}: {error}"
    return result


def _optimize(entry: Entry, result: Result) -> None:
    benchmark = problem_by_name(entry.problem, entry.seed)
    problem, space = benchmark.problem, Space.of(benchmark.problem)
    peer = PEERS[entry.peer](problem, entry.seed, entry.evaluations)
    noise = torch.Generator().manual_seed(entry.seed)
    first = [space.decode(u) for u in space.latin(INITIAL, torch.Generator().manual_seed(entry.seed))]
    for n in range(1, entry.evaluations + 1):
        if n <= INITIAL:
            params = first[n - 1]
        else:
            began = process_time()
            params = peer.ask()
            result.seconds.append(process_time() - began)
        values = benchmark.evaluate(params, noise)
        peer.tell(params, values)
        result.points.append(Measured(dict(params), values))
        if n in entry.milestones:
            best = best_measured(problem, result.points)
            result.measured[n] = gap(benchmark, None if best is None else best.params)
            result.answers[n] = gap(benchmark, peer.answer())


def gap(benchmark: Benchmark, params: Params | None) -> float:
    """The utility gap of a point; where there is none, that of the worst."""
    if params is None:
        return abs(benchmark.worst_value - benchmark.optimum_value)
    return benchmark.utility_gap(params)


def read_results(path: Path | None) -> dict[Entry, Result]:
    """The results that a file has, a line each."""
    if path is None or not path.exists():
        return {}
    results = [read_result(json.loads(line)) for line in path.read_text().splitlines()]
    return {result.entry: result for result in results if not result.error}


def read_result(given: dict[str, Any]) -> Result:
    """The result that was written as plain data."""
    return Result(
        Entry(**given["entry"]),
        {int(n): value for n, value in given["answers"].items()},
        {int(n): value for n, value in given["measured"].items()},
        [Measured(**point) for point in given["points"]],
        given["seconds"],
        given["error"],
    )


def append_result(path: Path | None, result: Result) -> None:
    """Keeps a result at once, so that an interruption loses nothing that is finished."""
    if path is not None:
        with path.open("a") as file:
            file.write(json.dumps(asdict(result)) + "\n")
