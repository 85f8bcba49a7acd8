"""`python -m experiments.accuracy`: the gains of PESC against rejection sampling, in one or two dimensions.

Its settings are the paper's, the default one, and that with one thing changed at a time. Every data set is kept as soon
as it is done, so that a run that was stopped goes on; the measuring is that of `benchmarks.accuracy --truth rs`.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.agreement import Agreement, summarize
from benchmarks.gain_curves import PESC, gain_curves
from benchmarks.measure import measure_agreement, true_errors
from benchmarks.oracle import Oracle
from benchmarks.truth import SIZES, draw_dataset, grid_of
from experiments.files import OUT, RUNS, write_json
from experiments.pictures import draw_if_possible
from experiments.progress import Progress
from experiments.settings import VARIED

COMPARED = {**PESC, **VARIED}


def measure(plan: dict[str, Any], i: int, device: str) -> dict[str, Any]:
    """What is kept of data set `i`: its name, the error of its truth, and each setting's figures, seed by seed."""
    start = perf_counter()
    grid = grid_of(plan["dim"]).to(device)
    dataset = draw_dataset(grid, i, plan["datasets"], 0, plan["truth_samples"])
    oracle = Oracle(grid, (dataset,))
    figures, cpu_seconds = {}, {}
    for setting in plan["settings"]:
        began = process_time()
        by_seed = measure_agreement(oracle, COMPARED[setting], plan["seeds"], gain_curves)
        cpu_seconds[setting] = round((process_time() - began) / plan["seeds"], 4)
        figures[setting] = [{name: round(value, 5) for name, value in asdict(only).items()} for (only,) in by_seed]
    errors = true_errors(oracle)
    assert errors is not None  # data sets drawn here know them
    return {
        **plan,
        "dataset": i,
        "name": dataset.name,
        "truth_error": errors[0],
        "figures": figures,
        "cpu_seconds": cpu_seconds,
        "device": device,
        "seconds": round(perf_counter() - start, 2),
    }


def read_done(path: Path, plan: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The data sets of this very plan that are done, whatever else is in the file."""
    lines = path.read_text().splitlines() if path.exists() else []
    known = [line for line in map(parsed, lines) if line is not None and plan.items() <= line.items()]
    return {line["dataset"]: line for line in known}


def parsed(line: str) -> dict[str, Any] | None:
    """The line's content; None of one that was cut off when its writer was killed."""
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        return None


def run(plan: dict[str, Any], path: Path, device: str) -> Iterator[dict[str, Any]]:
    """All data sets in order, those in the file and those done now, each of which is added to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = read_done(path, plan)
    with Progress(f"accuracy {plan['dim']}d", steps=plan["datasets"], realisations=plan["seeds"]) as bar:
        for i in range(plan["datasets"]):
            if i in done:
                bar.skip(i + 1)
            else:
                done[i] = measure(plan, i, device)
                with path.open("a") as file:
                    # A line of its own, even after one that was cut off.
                    file.write(f"\n{json.dumps(done[i])}\n")
                bar.advance(i + 1, done[i]["seconds"])
            yield done[i]


def collect(plan: dict[str, Any], found: Sequence[dict[str, Any]], command: str) -> dict[str, Any]:
    """The file of results: summaries, and the figures of every setting, seed and data set."""
    settings = plan["settings"]
    figures = {setting: list(zip(*(each["figures"][setting] for each in found), strict=True)) for setting in settings}
    spent = {setting: sum(each["cpu_seconds"][setting] for each in found) / len(found) for setting in settings}
    summaries = {
        setting: asdict(summarize([[Agreement(**each) for each in sets] for sets in by_seed]))
        for setting, by_seed in figures.items()
    }
    return {
        "figure": f"accuracy_{plan['dim']}d",
        **plan,
        "device": sorted({each["device"] for each in found}),
        "seconds": round(sum(each["seconds"] for each in found), 1),
        "command": command,
        "sets": [each["name"] for each in found],
        "truth_errors": [each["truth_error"] for each in found],
        "summary": {
            setting: {name: round(value, 5) for name, value in each.items()} for setting, each in summaries.items()
        },
        "cpu_seconds": {setting: round(each, 3) for setting, each in spent.items()},
        "figures": figures,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures what is missing, writes and draws."""
    parser = argparse.ArgumentParser(prog="python -m experiments.accuracy", description=__doc__)
    parser.add_argument("--dim", type=int, choices=list(SIZES), default=2)
    parser.add_argument("--datasets", type=int, default=30, metavar="N")
    parser.add_argument("--seeds", type=int, default=5, metavar="S", help="of PESC's samples, for each data set")
    parser.add_argument("--truth-samples", type=int, metavar="N", help="joint draws for the true gains")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FOLDER", help=f"where results go ({OUT})")
    parser.add_argument("--runs", type=Path, default=RUNS, metavar="FOLDER", help=f"where work is kept ({RUNS})")
    given = parser.parse_args(arguments)
    samples = given.truth_samples or SIZES[given.dim].samples
    plan = {"dim": given.dim, "datasets": given.datasets, "seeds": given.seeds, "truth_samples": samples}
    plan["settings"] = {name: repr(setting) for name, setting in COMPARED.items()}
    found = list(run(plan, given.runs / f"accuracy_{given.dim}d.jsonl", given.device))
    command = (
        f"python -m experiments.accuracy --dim {given.dim} --datasets {given.datasets} --seeds {given.seeds} "
        f"--device {given.device}"
    )
    path = given.out / f"accuracy_{given.dim}d.json"
    write_json(path, collect(plan, found, command))
    print(path)
    draw_if_possible(path)


if __name__ == "__main__":
    main()
