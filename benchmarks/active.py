"""`python -m benchmarks.active`: what is lost where a row has more values than what is believed rests on as they are.

On random functions with an objective and two constraints, noise 0.1 and none, and data as they are at random points
("spread"), or mostly gathered around the solution ("study"). What is believed by way of an active set is compared with
what is believed exactly, at the places where x* may be: the error of the mean in posterior deviations (root mean
square) and the ratio of the variances, beside the log density of the truth at random points, the log10 gap of the
answer, and what the next question is worth, as a share of the largest exact gain. "alone": the same values, without
what the others say by way of them. "evenly": as many of the values, evenly chosen in their order, alone.
"""

import argparse
import math
import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import process_time
from unittest.mock import patch

import torch
from jaxtyping import Float
from torch import Tensor

import pesky
from benchmarks.report import build_table, console, progress_bar, write_json
from pesky.inference import inference
from pesky.model import through
from pesky.model.belief import Belief
from pesky.observations import Observations, evenly
from pesky.optimum import active_set
from pesky.optimum.measured import best_measured
from pesky.optimum.sample import sample_cells
from pesky.test_functions.base import Benchmark
from pesky.test_functions.gp_samples import gp_sample

ALL = 10**9
KINDS = ("spread", "study")
GATHERED, FARTHEST, NEAREST = 0.6, -0.7, -2.5
"""The share of a study's data around the solution, and the powers of ten between which they are away from it."""
COLUMNS = ("mean off by", "variance", "density", "log10 gap", "question", "CPU s")


@contextmanager
def resting_on(kept: int, way: str = "active") -> Iterator[None]:
    """What is believed within it rests on so many values of each row that has more."""

    def alone(belief: Belief, _: Observations) -> Belief:
        return belief

    def in_order(o: Observations, *_: object) -> active_set.Parted:
        nothing = torch.full_like(o.mask[:, :1], -1, dtype=torch.long)
        return active_set.Parted(o.taken(evenly(o.mask, kept)), o.taken(nothing))

    with patch.object(through, "EXACT", kept), patch.object(active_set, "KEPT", kept):
        if way == "active":
            yield
        elif way == "alone":
            with patch.object(inference, "with_others", alone):
                yield
        else:
            with patch.object(inference, "active_set", in_order):
                yield


def points(benchmark: Benchmark, count: int, kind: str, generator: torch.Generator) -> Float[Tensor, "n d"]:
    """Where something is measured."""
    d = len(benchmark.optimum)
    X = torch.rand(count, d, generator=generator, dtype=torch.float64)
    if kind == "spread":
        return X
    away = 10 ** (NEAREST + (FARTHEST - NEAREST) * torch.rand(count, 1, generator=generator, dtype=torch.float64))
    near = benchmark.optimum + away * torch.randn(count, d, generator=generator, dtype=torch.float64)
    is_near = torch.rand(count, generator=generator) < GATHERED
    return torch.where(is_near[:, None], near.clamp(0.0, 1.0), X)


def told(benchmark: Benchmark, X: Float[Tensor, "n d"], seed: int) -> pesky.Study:
    """A study that was told all outcomes at these points."""
    study, names = pesky.Study(benchmark.problem, seed=seed), [*benchmark.problem.parameters]
    noise = torch.randn(len(X), 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    Y = benchmark.truth(X) + benchmark.noise * noise
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        study.add(dict(zip(names, x, strict=True)), dict(zip(benchmark.problem.outcomes, y, strict=True)))
    return study


def density(belief: Belief, study: pesky.Study, benchmark: Benchmark, X: Float[Tensor, "x d"]) -> float:
    """Mean log density of the truth of all rows, in scaled units."""
    o = study.inferred().observations
    truth = torch.stack([o.from_user(row, own) for row, own in enumerate(benchmark.truth(X).mT)])
    mean, variance = belief.mean(X), belief.variance(X)
    return float((-0.5 * ((truth - mean).square() / variance + variance.log() + math.log(2 * math.pi))).mean())


def compare(
    benchmark: Benchmark, X: Float[Tensor, "n d"], ways: Sequence[tuple[int, str]], seed: int
) -> Iterator[dict]:
    """What is believed exactly, and then by each of these ways."""
    source, d = torch.Generator().manual_seed(seed), X.shape[-1]
    elsewhere = torch.rand(400, d, generator=source, dtype=torch.float64)
    with resting_on(ALL):
        study = told(benchmark, X, seed)
        exact = study.belief()
        candidates = torch.cat([torch.rand(512, d, generator=source, dtype=torch.float64), best_measured(exact)])
        cells = sample_cells(exact, 200, 384, candidates, 5, source).chosen
        values = study.task_values(study.evaluations)
        mean, variance = exact.mean(cells.x), exact.variance(cells.x)
        best = float(values.per_cost(cells.x).max())
    for kept, way in [(ALL, "exact"), *ways]:
        with resting_on(kept, "active" if way == "exact" else way):
            study = told(benchmark, X, seed)
            began = process_time()
            question, answer = study.ask(), study.recommend()
            seconds, belief = process_time() - began, study.belief()
            apart = (belief.mean(cells.x) - mean).square() / variance
            at = torch.tensor([[*question.params.values()]], dtype=torch.float64)
            worth = float(values.per_cost(at).max())
            best = max(best, worth) if way == "exact" else best
            found = (
                float((apart * cells.weight).sum(-1).mean().sqrt()),
                float((belief.variance(cells.x) / variance * cells.weight).sum(-1).mean()),
                density(belief, study, benchmark, elsewhere),
                math.log10(max(benchmark.utility_gap(answer.params), 1e-12)),
                worth / best if best > 0 else math.nan,
                seconds,
            )
        yield {"values": len(X) if way == "exact" else kept, "way": way, **dict(zip(COLUMNS, found, strict=True))}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures and prints; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.active", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the same as data")
    parser.add_argument("--problems", type=int, default=2, help="random problems of each kind, default %(default)s")
    parser.add_argument("--dims", default="2,6,10", help="parameters, default %(default)s")
    parser.add_argument("--values", type=int, default=1000, help="of each outcome, default %(default)s")
    parser.add_argument("--kept", default="250,500", help="values as they are, default %(default)s")
    parser.add_argument("--ways", default="active,alone,evenly", help="default %(default)s")
    parser.add_argument("--noise", type=float, default=0.1, help="deviation, default %(default)s")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    ways = [(int(kept), way) for kept in given.kept.split(",") for way in given.ways.split(",")]
    cases = [(int(d), kind, seed) for d in given.dims.split(",") for kind in KINDS for seed in range(given.problems)]
    results: list[dict] = []
    with progress_bar() as bar:
        work = bar.add_task("asking", total=len(cases))
        for d, kind, seed in cases:
            generator = torch.Generator().manual_seed(seed)
            drawn = gp_sample(d, generator, 2, lengthscale=0.2 * d**0.5, noise=given.noise**2, points=1000)
            X = points(drawn, given.values, kind, generator)
            results += [{"d": d, "data": kind, **found} for found in compare(drawn, X, ways, seed)]
            write_json(given.json, {"results": results})
            bar.advance(work)
    keys = list(dict.fromkeys((each["d"], each["data"], each["values"], each["way"]) for each in results))
    lines = []
    for key in keys:
        own = [each for each in results if (each["d"], each["data"], each["values"], each["way"]) == key]
        lines.append([*map(str, key), *(f"{statistics.mean(each[of] for each in own):.3g}" for of in COLUMNS)])
    size = f"{given.values} values of each outcome, noise {given.noise:g}, mean of {given.problems} random problems"
    console.print(build_table(size, ["d", "data", "kept", "way", *COLUMNS], lines, labels=4))


if __name__ == "__main__":
    main()
