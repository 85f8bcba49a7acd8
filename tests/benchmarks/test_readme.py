"""The README claims what its file of results has, and nothing else."""

import json
import re

import pytest

from benchmarks.readme import __main__ as command
from benchmarks.readme import jobs
from benchmarks.readme.jobs import Job, compared_problems, gathered, list_jobs, noisy_problems
from benchmarks.readme.tables import PAGES, RESULTS, ROOT, rewrite, table_of_claims, table_of_problems, table_of_speed

NUMBER = re.compile(r"(?<![\w`.])\d+(?:\.\d+)?(?:e[-+]?\d+)?")
ORIGIN = {"command": "python -m benchmarks.readme", "version": "abc1234, 2026-11-19", "machine": "one core"}


def cells(table: str) -> list[list[str]]:
    """The lines of a Markdown table, without its heads."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:1] == "|"][2:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_number_of_the_tables_is_the_files(page):
    assert rewrite(page.read_text()) == page.read_text(), "python -m benchmarks.readme --pages makes the tables again"


def test_the_readme_has_no_claim_in_numbers_beside_its_table():
    text = (ROOT / "README.md").read_text()
    section = text[text.index("## What it is better at") : text.index("## Where to go next")]
    (table,) = re.findall(r"<!-- table:readme -->\n(.*?)<!-- end -->", section, re.DOTALL)
    assert cells(table)
    beside = re.sub(r"\[[^]]*\]\([^)]*\)", "", section.replace(table, ""))
    assert NUMBER.findall(beside) == []


def test_speed_has_a_column_of_each_peer_that_took_part_and_says_its_version():
    timed = {"pesc": 0.2, "optuna": 0.4, "logei": 0.8}
    results = [{"rule": rule, "case": "(3,1,1)", "seconds": s, "memory_mb": 9.0} for rule, s in timed.items()]
    everyone = ORIGIN | {"results": results}
    assert cells(table_of_speed(everyone))[0] == ["(3, 1, 1)", "PESC", "0.20", "0.50", "0.25", "9"]
    few = ORIGIN | {"results": results[:2], "version": "abc1234-dirty, 2026-11-19"}
    assert "LogEI" not in table_of_speed(few)
    assert cells(table_of_speed(few))[0] == ["(3, 1, 1)", "PESC", "0.20", "0.50", "9"]
    assert "version abc1234 with uncommitted changes, 2026-11-19;" in table_of_speed(few)


def test_a_file_says_its_command_its_version_and_its_machine():
    for file in RESULTS.glob("*.json"):
        content = json.loads(file.read_text())
        assert content["command"].startswith("python -m benchmarks.")
        assert re.match(r"[0-9a-f]{7,}(-dirty)?, \d{4}-\d\d-\d\d$", content["version"]), content["version"]
        assert content["machine"]


def found(job: Job):
    """What a job might have come to."""
    if job.part == "peers":
        gap = {"pesky": 0.001, "Optuna": 0.1}[job.way] * (1 + job.seed)
        return {n: gap / n for n in (10, 20, 30, 40)}
    if job.part == "separately":
        gaps = [1.0, 0.5, 0.25] if job.way == "coupled" else [0.5, 0.25, 0.1]
        return {"way": job.way, "seed": job.seed, "budget": 10800.0, "costs": [3600.0, 7200.0, 10800.0], "gaps": gaps}
    if job.part == "crashes":
        return {"crashes": 3 if job.way == "learn" else 5 + job.seed, "recommended": False}
    return {"default": 0.99, "paper": 0.9}[job.way] - 0.01 * job.seed


def test_claims_are_counts_and_medians_of_the_runs():
    done = [(job, found(job)) for job in list_jobs(["separately", "crashes", "accuracy", "peers"], ["toy", "gp2"], 3)]
    data = ORIGIN | gathered(done[::-1])  # in whatever order they finish
    lines = cells(table_of_claims(data))
    assert [line[1:4] for line in lines] == [
        ["1", "Optuna's `GPSampler` 0", "3 runs each"],
        ["1", "Optuna's `GPSampler` 0", "3 runs each"],
        ["0.0001", "Optuna's `GPSampler` 0.01", "3 runs"],
        ["2.0 h, measured separately", "3.0 h, measured together", "3 runs"],
        ["3.0 if failures are learnt", "6.0 if not", "3 runs"],
        ["0.980", "0.890 by the paper's approximation", "11 data sets, 3 seeds"],
    ]
    assert lines[0][0].startswith("problems without noise, of 1,")
    assert lines[1][0].startswith("problems with noise, of 1,")
    assert cells(table_of_problems(data))[1] == [
        "`gp2`",
        "yes",
        "3",
        "0.0002",
        "0.0001",
        "5e-05",
        "0.02",
        "0.01",
        "0.005",
    ]


def test_a_part_that_was_not_run_is_not_claimed():
    done = [(job, found(job)) for job in list_jobs(["accuracy"], ["toy"], 2)]
    assert len(cells(table_of_claims(ORIGIN | gathered(done)))) == 1


def test_problems_are_those_that_both_take():
    names = compared_problems()
    assert {"toy", "townsend", "gp2"} <= {*names}
    assert {"hartmann6", "toy-yes-no", "gardner2-costs"}.isdisjoint(names)
    assert noisy_problems(["toy", "gp2"]) == ["gp2"]


def test_the_command_runs_what_is_asked_for_and_writes_the_pages(tmp_path, monkeypatch):
    page = tmp_path / "README.md"
    page.write_text("<!-- table:readme -->\n<!-- end -->\n")
    monkeypatch.setattr(jobs, "RUNS", dict.fromkeys(jobs.RUNS, found))
    monkeypatch.setattr(command, "PAGES", [page])
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    monkeypatch.setattr(command, "rewrite", lambda text: rewrite(text, tmp_path))
    command.main(["--seeds", "2", "--workers", "1", "--only", "crashes", "--json", str(tmp_path / "readme.json")])
    assert "| 3.0 if failures are learnt | 5.5 if not | 2 runs |" in page.read_text()
    assert json.loads((tmp_path / "readme.json").read_text())["crashes"]["learn"]["crashes"] == [3, 3]


def test_what_the_parts_measure():
    assert jobs.RUNS["accuracy"](Job("accuracy", "", "paper", 0)) == pytest.approx(0.91, abs=0.02)


@pytest.mark.parametrize(("part", "case", "way"), [("peers", "toy", "pesky"), ("crashes", "", "learn")])
def test_a_run_of_each_part(part, case, way):
    job, result = jobs.run(Job(part, case, way, 0))
    assert job.part == part
    assert result.keys() == ({10, 20, 30, 40} if part == "peers" else {"crashes", "recommended"})
