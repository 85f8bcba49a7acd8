"""The README's table, and those of docs/benchmarks.md, from the files in docs/results."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.speed import COMPARED, RULES, ratios
from experiments.tables import PLACE, markdown

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
PAGES = (ROOT / "README.md", ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "answer.md")
HEADS = ["", "pesky", "compared with", "n", "details"]
SHOWN = ("10", "20", "40")
"""Evaluations after which the table of problems has gaps."""
TOY = "20"
"""And those after which the README has that of the toy problem."""
PEERS = {"optuna": "over Optuna's", "logei": "over LogEI's"}
"""The peers that the table of speed may have a column of."""


def table_of_claims(data: Mapping[str, Any]) -> str:
    """A line for each claim that the file has results for; all are of one run."""
    lines = []
    if "peers" in data:
        lines += _lines_of_peers(data["peers"], data["noisy"])
    if "separately" in data:
        hours, budget = data["separately"]["hours"], data["separately"]["budget"]
        lines.append([
            f"median hours until a gap that measuring together reaches in {budget:.0f} h (a check: 5 s, a print: 1 h)",
            f"{median(hours['separately']):.1f} h, measured separately",
            f"{median(hours['together']):.1f} h, measured together",
            f"{len(hours['together'])} runs",
            "[measuring separately](docs/benchmarks.md#measuring-separately)",
        ])  # fmt: skip
    if "crashes" in data:
        learn, record = (data["crashes"][way]["crashes"] for way in ("learn", "record"))
        lines.append([
            f"median crashes of {data['crashes']['evaluations']} runs, where a part of the space crashes",
            f"{median(learn):.1f} if failures are learnt",
            f"{median(record):.1f} if not",
            f"{len(learn)} runs",
            "[crashes](docs/benchmarks.md#crashes)",
        ])  # fmt: skip
    if "accuracy" in data:
        ours, paper = (fmean(data["accuracy"]["efficiency"][options]) for options in ("default", "paper"))
        seeds = len(data["accuracy"]["efficiency"]["default"])
        lines.append([
            "true gain of the question asked, over the best",
            f"{ours:.3f}",
            f"{paper:.3f} by the paper's approximation",
            f"{data['accuracy']['sets']} data sets, {seeds} seeds",
            "[accuracy](docs/benchmarks.md#accuracy)",
        ])  # fmt: skip
    return f"{markdown(HEADS, lines)}\n{origin(data)}\n"


def _lines_of_peers(peers: Mapping[str, Any], noisy: Sequence[str]) -> list[list[str]]:
    lines = []
    details = "[problem by problem](docs/benchmarks.md#beside-optuna)"
    exact = [name for name in peers if name not in noisy]
    for names, what in ((exact, "without noise"), (noisy, "with noise")):
        if names:
            last = str(max(map(int, peers[names[0]]["pesky"])))
            mine, other = (sum(_is_lower(peers[name], peer, last) for name in names) for peer in ("pesky", "Optuna"))
            runs = len(peers[names[0]]["pesky"][last])
            claim = f"problems {what}, of {len(names)}, on which the median gap is lower after {last} evaluations"
            lines.append([claim, str(mine), f"Optuna's `GPSampler` {other}", f"{runs} runs each", details])
    if "toy" in peers:
        mine, other = (peers["toy"][peer][TOY] for peer in ("pesky", "Optuna"))
        claim = f"gap of the paper's toy problem after {TOY} evaluations, median"
        lines.append(
            [claim, f"{median(mine):.2g}", f"Optuna's `GPSampler` {median(other):.2g}", f"{len(mine)} runs", details]
        )
    return lines


def _is_lower(gaps: Mapping[str, Any], peer: str, n: str) -> bool:
    """Whether the median gap of one is lower than the other's."""
    (other,) = (each for each in gaps if each != peer)
    return median(gaps[peer][n]) < median(gaps[other][n])


def table_of_problems(data: Mapping[str, Any]) -> str:
    """A line for each problem: the median gaps of both."""
    heads = ["problem", "noise", "runs", *(f"{peer}, n = {n}" for peer in ("pesky", "Optuna") for n in SHOWN)]
    lines = []
    for name, gaps in data["peers"].items():
        cells = [f"{median(gaps[peer][n]):.2g}" for peer in ("pesky", "Optuna") for n in SHOWN]
        lines.append([f"`{name}`", "yes" if name in data["noisy"] else "no", str(len(gaps["pesky"][SHOWN[0]])), *cells])
    return f"{markdown(heads, lines)}\n{origin(data)}\n"


def table_of_hours(data: Mapping[str, Any]) -> str:
    """A line for each way: the hours of every run, the shortest first."""
    heads = ["measured", "median", "hours of each run"]
    hours = data["separately"]["hours"]
    lines = [
        [way, f"{median(each):.1f}", ", ".join(f"{one:.1f}" for one in sorted(each))] for way, each in hours.items()
    ]
    return f"{markdown(heads, lines)}\n{origin(data)}\n"


def table_of_crashes(data: Mapping[str, Any]) -> str:
    """A line for each kind of `failures`: what crashed."""
    runs = data["crashes"]["evaluations"]
    heads = ["`failures`", "studies", f"crashes of {runs} runs, median", "of each study", "recommendations that crash"]
    lines = []
    for way in ("learn", "record"):
        crashes, recommended = data["crashes"][way]["crashes"], data["crashes"][way]["recommended"]
        each = ", ".join(map(str, sorted(crashes)))
        lines.append([f'`"{way}"`', str(len(crashes)), f"{median(crashes):.1f}", each, str(sum(recommended))])
    return f"{markdown(heads, lines)}\n{origin(data)}\n"


def table_of_speed(data: Mapping[str, Any]) -> str:
    """A line for each size and rule: seconds of an ask, over those of the peers that took part, and memory."""
    timed = {each["rule"] for each in data["results"]}
    peers = {rule: head for rule, head in PEERS.items() if rule in timed}
    heads = ["(N, K, d)", "rule", "CPU s per ask", *peers.values(), "peak MB"]
    lines = []
    for each in data["results"]:
        over = dict(zip(COMPARED, ratios(data["results"], each), strict=True))
        size = each["case"].replace(",", ", ")
        seconds = [f"{each['seconds']:.2f}", *(over[rule] for rule in peers)]
        lines.append([size, RULES[each["rule"]], *seconds, f"{each['memory_mb']:.0f}"])
    return f"{markdown(heads, lines)}\n{origin(data)}\n"


def table_of_promises(data: Mapping[str, Any]) -> str:
    """A line for each promise of an answer: how often it was true."""
    runs = data["runs"]
    covered, kept = ([each for run in runs for each in run[name]] for name in ("covered", "kept"))
    promised = fmean(each for run in runs for each in run["promised"])
    lines = [
        ["the objective is in its interval of 90 %, at the model's best point, not measured yet", *_share(covered)],
        [f"a constraint is satisfied, promised with {promised:.2f} on average", *_share(kept)],
        ["every constraint is satisfied at the final recommendation", *_share([run["is_feasible"] for run in runs])],
        ["the final recommendation is no worse than `study.best()`", *_share([not run["is_worse"] for run in runs])],
    ]
    problems = len({run["name"] for run in runs})
    heads = [f"promise, of {len(runs)} studies on {problems} problems", "true", "of"]
    return f"{markdown(heads, lines)}\n{origin(data)}\n"


def _share(true: Sequence[bool]) -> list[str]:
    return [f"{sum(true) / len(true):.0%}", str(len(true))]


def origin(data: Mapping[str, Any]) -> str:
    """What made the table, of which version, where."""
    version = data["version"].replace("-dirty", " with uncommitted changes")
    return f"Made by `{data['command']}`; version {version}; {data['machine']}."


TABLES = {
    "readme": ("readme.json", table_of_claims),
    "readme-problems": ("readme.json", table_of_problems),
    "readme-separately": ("readme.json", table_of_hours),
    "readme-crashes": ("readme.json", table_of_crashes),
    "speed": ("speed.json", table_of_speed),
    "calibration": ("calibration.json", table_of_promises),
}


def rewrite(text: str, results: Path = RESULTS) -> str:
    """The page with its tables made again."""

    def table(name: str) -> str:
        file, make = TABLES[name]
        return make(json.loads((results / file).read_text()))

    return PLACE.sub(lambda match: f"{match[1]}\n{table(match[2])}\n{match[4]}", text)
