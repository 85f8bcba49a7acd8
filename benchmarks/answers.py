"""`python -m benchmarks.answers`: whether the search for the answer ends at the lowest point that qualifies.

The expected objective of a recommendation, less that of one that is searched for with many times as many starts and
steps, in prior deviations of the objective; and the CPU seconds of the search.
"""

import argparse
from collections.abc import Sequence
from time import process_time

import torch

from benchmarks.ask_pesky import study_of
from benchmarks.case import Case, measure
from benchmarks.report import build_table, console, progress_bar
from pesky.optimum import recommend

SIZES = ("30,2,2", "30,2,6", "60,8,4", "80,4,10", "30,2,20")
MANY_STARTS, MANY_STEPS = 40, 60
MISSED = 1e-3
"""Prior deviations by which an answer is not the lowest."""


def search(case: Case, seed: int) -> tuple[float, float]:
    """By how much the answer is above the lowest point found, and the CPU seconds of the search for it."""
    study = study_of(measure(case, seed), seed)
    belief, space = study.belief(), study.space
    confidence = torch.full((case.K,), 0.95, dtype=torch.float64)
    began = process_time()
    usual = recommend(belief, space, confidence, seed)
    seconds = process_time() - began
    longer = recommend(belief, space, confidence, seed, starts=MANY_STARTS, steps=MANY_STEPS)
    if bool(usual.is_confident) != bool(longer.is_confident):
        return torch.inf, seconds
    return float((usual.mean - longer.mean) / belief.amplitude[..., 0].sqrt().mean()), seconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Searches and prints; see `--help`."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.answers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--case", action="append", help="N,K,d; may be repeated. Default: " + " ".join(SIZES))
    parser.add_argument("--seeds", type=int, default=16, help="data sets of each size, default %(default)s")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    cases = [Case.parse(text) for text in given.case or SIZES]
    lines = []
    with progress_bar() as bar:
        for case in bar.track(cases, description="answers"):
            found = [search(case, seed) for seed in range(given.seeds)]
            gaps, seconds = (torch.tensor(each) for each in zip(*found, strict=True))
            missed = int((gaps > MISSED).sum())
            lines.append([str(case), f"{missed} of {len(gaps)}", f"{gaps.max():.1e}", f"{seconds.median():.3f}"])
    console.print(build_table("Answers above the lowest", ["size", "missed", "at most", "CPU seconds"], lines))


if __name__ == "__main__":
    main()
