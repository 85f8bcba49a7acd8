"""`python -m benchmarks.speed`: CPU seconds and memory of an ask, of PESC and of its peers, on the same data.

One thread; the median of three asks after a warm-up; each rule at each size in a fresh process.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence

from rich.table import Table

from benchmarks.ask_pesky import PARTS
from benchmarks.case import CASES, Case
from benchmarks.report import build_table, console, progress_bar, write_json

RULES = {
    "pesc": "PESC",
    "ep": "PESC by EP",
    "logei": "BoTorch LogEI",
    "qlognei": "BoTorch qLogNEI",
    "optuna": "Optuna GPSampler",
}


def time_in_process(rule: str, case: Case) -> dict:
    """What `benchmarks.timing` measures, in a fresh one-thread process."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "benchmarks.timing", rule, str(case)]
    done = subprocess.run(command, env={**os.environ, **one_thread}, capture_output=True, text=True)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    raise RuntimeError(f"{' '.join(command[1:])} failed:\n{done.stderr}")


COMPARED = {"optuna": "/ Optuna", "logei": "/ LogEI"}
"""The peers whose time is a unit."""


def ratios(results: Sequence[dict], result: dict) -> list[str]:
    """The time of an ask over that of each of the compared at the same size; empty where it was not measured."""
    unit = {each["rule"]: each["seconds"] for each in results if each["case"] == result["case"]}
    return [f"{result['seconds'] / unit[rule]:.2f}" if rule in unit else "" for rule in COMPARED]


def tabulate(results: Sequence[dict]) -> Table:
    """One line per size and rule: CPU seconds of an ask, their ratio to peers', those of its parts, and peak memory."""
    lines = []
    for result in results:
        parts = (f"{result['split'][part]:.3f}" if part in result["split"] else "" for part in PARTS)
        label = [result["case"], RULES[result["rule"]]]
        seconds = [f"{result['seconds']:.3f}", *ratios(results, result)]
        lines.append([*label, *seconds, *parts, f"{result['memory_mb']:.0f}"])
    title = "CPU seconds per ask, one thread, median of 3, all rules constrained; size (N, K, d)"
    # Optuna's local searches run one after another, at twice the time, where greenlet is not installed.
    is_batched = importlib.util.find_spec("greenlet") is not None
    caption = "" if is_batched else "Optuna ran without greenlet: install it for its faster batched search."
    return build_table(title, ["size", "rule", "ask", *COMPARED.values(), *PARTS, "peak MB"], lines, caption, labels=2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures and prints; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the same as data")
    parser.add_argument("--rules", default=",".join(RULES), help="comma-separated, default %(default)s")
    parser.add_argument("--case", type=Case.parse, action="append", metavar="N,K,d", help="only this size")
    given = parser.parse_args(arguments)
    jobs = [(rule, case) for case in given.case or CASES for rule in given.rules.split(",")]
    results = []
    with progress_bar() as bar:
        work = bar.add_task("asking", total=len(jobs))
        for rule, case in jobs:
            bar.update(work, description=f"{RULES[rule]} {case}")
            results.append(time_in_process(rule, case))
            bar.advance(work)
    console.print(tabulate(results))
    write_json(given.json, {"results": results})


if __name__ == "__main__":
    main()
