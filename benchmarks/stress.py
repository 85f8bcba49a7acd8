"""`python -m benchmarks.stress`: EP on random beliefs of every size, scale and noise; nothing may fail.

Each run is one x* sample of one belief: K = 0 to 6 constraints, N = 1 to 60 points, d = 1 to 6, noise from 0 to 1 of
the amplitude, repeated points, outcomes in units of 1e-8 to 1e8, coupled and decoupled data. Of every belief the gain
and its gradient are evaluated as well.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import torch
from rich.table import Table

from benchmarks.report import build_table, console, progress_bar, write_json
from pesky.acquire.pesc.gain import information_gain
from pesky.model import GaussianProcess, Hyperparameters
from pesky.model.hyper import NOISE_FLOOR, padded_gram
from pesky.model.kernel import Kernel
from pesky.optimum import sample_optima

SAMPLES = 8
SCALES = (1e-8, 1e-3, 1.0, 1e3, 1e8)
NOISES = (0.0, 1e-6, 1e-2, 1.0)


@dataclass(frozen=True)
class Situation:
    """What a belief is made of; `scales` are the units of its rows, `noise` a share of the amplitude."""

    seed: int
    K: int
    N: int
    d: int
    noise: float
    scales: tuple[float, ...]
    is_decoupled: bool
    is_repeated: bool
    kernel: Kernel
    offset: float
    """Mean of the constraints, in deviations: mostly feasible above, mostly infeasible below zero."""


@dataclass(frozen=True)
class Outcome:
    """What became of the EP runs of one belief."""

    runs: int
    halved: int
    stopped: int
    unconverged: int
    iterations: float
    is_finite: bool


def situation(seed: int) -> Situation:
    """A random situation; the first ones take the extremes of every size."""
    g = torch.Generator().manual_seed(seed)

    def pick(options: Sequence) -> float:
        return options[int(torch.randint(len(options), (1,), generator=g))]

    extremes = ((0, 1, 1), (6, 60, 6), (6, 1, 6), (0, 60, 1), (3, 60, 1), (6, 2, 1))
    K, N, d = (
        extremes[seed]
        if seed < len(extremes)
        else (int(pick(range(7))), int(pick(range(1, 61))), int(pick(range(1, 7))))
    )
    return Situation(
        seed=seed,
        K=K,
        N=N,
        d=d,
        noise=pick(NOISES),
        scales=tuple(pick(SCALES) for _ in range(K + 1)),
        is_decoupled=bool(pick((False, True))),
        is_repeated=bool(pick((False, True))),
        kernel="se" if pick((0, 1)) else "matern52",
        offset=pick((-5.0, -1.0, 0.0, 1.0, 10.0)),
    )


def make_belief(s: Situation) -> GaussianProcess:
    """A belief on data drawn from its own prior."""
    g = torch.Generator().manual_seed(s.seed + 1_000_000)

    def rand(*size: int) -> torch.Tensor:
        return torch.rand(*size, generator=g, dtype=torch.float64)

    rows = s.K + 1
    X = rand(rows, s.N, s.d) if s.is_decoupled else rand(s.N, s.d).expand(rows, s.N, s.d)
    if s.is_repeated:
        X = torch.cat([X, X[:, : (s.N + 1) // 2]], 1)[:, : s.N + 1]
    n = X.shape[1]
    scale = torch.tensor(s.scales, dtype=torch.float64)
    mean = torch.full((rows,), s.offset, dtype=torch.float64)
    mean[0] = 0.0
    unit = Hyperparameters(
        0.05 * 40 ** rand(rows, s.d), torch.ones_like(scale), torch.full_like(scale, max(s.noise, NOISE_FLOOR)), mean
    )
    mask = torch.ones(rows, n, dtype=torch.bool)
    gram = padded_gram(s.kernel, X, mask, unit) + 1e-9 * torch.eye(n, dtype=torch.float64)
    normal = torch.randn(rows, n, 1, generator=g, dtype=torch.float64)
    y = mean[:, None] + (torch.linalg.cholesky(gram) @ normal)[..., 0]
    if s.is_repeated:
        # what is repeated without noise has the same value again
        y[:, s.N :] = y[:, : n - s.N] if s.noise == 0 else y[:, s.N :]
    if s.is_decoupled and s.K > 0 and s.seed % 5 == 0:
        mask[int(torch.randint(rows, (1,), generator=g))] = False  # one outcome not observed at all
    h = Hyperparameters(unit.lengthscale, unit.amplitude * scale**2, unit.noise * scale**2, mean * scale)
    return GaussianProcess(s.kernel, X.contiguous(), torch.where(mask, y * scale[:, None], 0.0), mask, h)


def stress(s: Situation) -> Outcome:
    """EP for every x* sample of the situation's belief, and the gain with its gradient at a few points."""
    g = torch.Generator().manual_seed(s.seed)
    belief = make_belief(s)
    is_plain = s.seed % 2 == 0
    optima = sample_optima(belief, SAMPLES, None if is_plain else 4 * SAMPLES, 64, 3, g)
    gain = information_gain(belief, optima, None if is_plain else 0.2, g)
    fresh = torch.rand(8, s.d, generator=g, dtype=torch.float64)
    X = torch.cat([fresh, belief.points[:4], optima.chosen.x[:4]]).requires_grad_()
    gains = gain(X)
    (gradient,) = torch.autograd.grad(gains.sum(), X)
    info = gain.conditioning.info
    return Outcome(
        runs=info.iterations.numel(),
        halved=int((info.halvings > 0).sum()),
        stopped=int(info.stopped.sum()),
        unconverged=int((~info.converged & ~info.stopped).sum()),
        iterations=float(info.iterations.double().mean()),
        is_finite=bool(torch.isfinite(gains).all() and torch.isfinite(gradient).all()),
    )


def run_all(runs: int, report: Callable[[int], None] = lambda done: None) -> list[tuple[Situation, Outcome]]:
    """Situations until there were `runs` EP runs; `report` hears how many each one added."""
    results, done = [], 0
    while done < runs:
        s = situation(len(results))
        outcome = stress(s)
        results.append((s, outcome))
        done += outcome.runs
        report(outcome.runs)
    return results


def tabulate(results: Sequence[tuple[Situation, Outcome]]) -> Table:
    """One line per number of constraints, and one for all."""
    groups = [(f"K = {k}", [o for s, o in results if k == s.K]) for k in range(7)]
    groups += [
        ("coupled", [o for s, o in results if not s.is_decoupled]),
        ("decoupled", [o for s, o in results if s.is_decoupled]),
        ("noise-free", [o for s, o in results if s.noise == 0]),
        ("all", [o for _, o in results]),
    ]
    lines = []
    for label, outcomes in groups:
        if not outcomes:
            continue
        runs = sum(o.runs for o in outcomes)
        mean = sum(o.runs * o.iterations for o in outcomes) / runs
        counts = (
            sum(o.halved for o in outcomes),
            sum(o.stopped for o in outcomes),
            sum(o.unconverged for o in outcomes),
            sum(not o.is_finite for o in outcomes),
        )
        lines.append([label, str(len(outcomes)), str(runs), f"{mean:.1f}", *map(str, counts)])
    columns = [
        "",
        "beliefs",
        "EP runs",
        "mean\niterations",
        "step\nhalved",
        "stopped\nearly",
        "not\nconverged",
        "not\nfinite",
    ]
    caption = "EP runs are x* samples; `not finite` counts the beliefs whose gain or gradient is not."
    return build_table(
        "EP under stress: N = 1 to 60, d = 1 to 6, noise 0 to 1, units 1e-8 to 1e8", columns, lines, caption
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs and prints; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stress", description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, help="EP runs at least, default %(default)s")
    parser.add_argument("--json", metavar="FILE", help="write the same as data")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    with progress_bar() as bar:
        work = bar.add_task("EP runs", total=given.runs)
        results = run_all(given.runs, lambda done: bar.advance(work, done))
    console.print(tabulate(results))
    write_json(given.json, {"results": [{**asdict(s), **asdict(o)} for s, o in results]})


if __name__ == "__main__":
    main()
