"""One optimizer on one problem: the points that it measured, and its answers on the way."""

from time import process_time

import torch

from benchmarks.peers import PEERS
from benchmarks.peers.base import Measured, Params, Question, best_measured
from benchmarks.peers.judge import gap, scale_of
from benchmarks.peers.results import Entry, Result
from benchmarks.peers.shares import shares_of
from pesky.problem import Problem
from pesky.space import Space
from pesky.space.region import Region
from pesky.strategy import Initial
from pesky.test_functions import problem_by_name

ROUNDING = 1e-9


def initial_count(problem: Problem) -> int:
    """The points that a study of pesky's measures first, by default."""
    return Initial().points


def initial_points(problem: Problem, seed: int, count: int) -> list[Params]:
    """Those points: the same for every optimizer."""
    space = Space.of(problem)
    return [dict(params) for params in Initial(count).design(space, Region.of(problem, space), seed)]


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
    problem = benchmark.problem
    result.scale = scale_of(benchmark)
    peer = PEERS[entry.peer](problem, entry.seed, entry.evaluations)
    noise = torch.Generator().manual_seed(entry.seed)
    waiting = [Question(params) for params in initial_points(problem, entry.seed, entry.initial)]
    shares, spent = shares_of(problem), 0.0
    milestones = list(entry.milestones)

    def answer_within(budget: float) -> None:
        """Answers at all milestones that so much spending has reached."""
        while milestones and budget > milestones[0] - ROUNDING:
            n = milestones.pop(0)
            best = best_measured(problem, result.points)
            result.measured[n] = gap(benchmark, None if best is None else best.params)
            result.answers[n] = gap(benchmark, peer.answer())

    while milestones:
        if waiting:
            question = waiting.pop(0)
        else:
            began = process_time()
            question = peer.ask()
            result.seconds.append(process_time() - began)
        params, task = question.params, question.task
        # What would cost more than is left comes too late for an answer then.
        answer_within(spent + shares[task] - 2 * ROUNDING)
        if not milestones:
            break
        values = benchmark.evaluate(params, noise)
        if task is not None:
            values = {name: values[name] for name in problem.tasks[task].outcomes}
        spent += shares[task]
        peer.tell(params, values)
        result.points.append(Measured(dict(params), values, spent))
        answer_within(spent)
