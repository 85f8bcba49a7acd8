"""`python -m benchmarks.warps`: utility gaps of full studies whose outcomes are warped (METHOD 22), and are not.

The default rule, one study after the other; the gap is that of the point that the model finds best, measured or not.
"""

import argparse
from collections.abc import Sequence

import torch

from benchmarks.report import build_table, console, write_json
from pesky import GP, Study
from pesky.answer.recommend import best_anywhere
from pesky.inference.inference import Inference
from pesky.test_functions import problem_by_name

ENGINEERING = ("pressure-vessel", "spring", "welded-beam", "speed-reducer")


def gap(problem: str, seed: int, evaluations: int, warp: bool) -> float:
    """How far from the optimum the best point of the model is, after so many evaluations."""
    benchmark = problem_by_name(problem, seed)
    study = Study(benchmark.problem, seed=seed, model=GP(warp=warp))
    for _ in range(evaluations):
        evaluation = study.ask()
        study.tell(evaluation, benchmark.evaluate(evaluation.params))
    inference = Inference(benchmark.problem, study.space, GP(warp=warp), seed)
    return benchmark.utility_gap(best_anywhere(inference.of(inference.snapshot(study.evaluations))).params)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs and prints; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.warps", description=__doc__)
    parser.add_argument("--problem", action="append", help=f"by default each of {', '.join(ENGINEERING)}")
    parser.add_argument("--seeds", type=int, default=3, help="how many, default %(default)s")
    parser.add_argument("--evaluations", type=int, default=40, help="default %(default)s")
    parser.add_argument("--json", metavar="FILE", help="write the same as data")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    results = []
    for problem in given.problem or ENGINEERING:
        for seed in range(given.seeds):
            gaps = {key: gap(problem, seed, given.evaluations, key == "warped") for key in ("plain", "warped")}
            results.append({"problem": problem, "seed": seed, "evaluations": given.evaluations, **gaps})
    lines = [[each["problem"], str(each["seed"]), f"{each['plain']:.3g}", f"{each['warped']:.3g}"] for each in results]
    title = f"Utility gap of the model's best point after {given.evaluations} evaluations"
    console.print(build_table(title, ["problem", "seed", "plain", "warped"], lines, labels=2))
    write_json(given.json, {"runs": results})


if __name__ == "__main__":
    main()
