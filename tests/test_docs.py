"""What the pages show works: study files are read, and pieces of Python run, with less to spend than they say."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from botorch.models import ModelListGP, SingleTaskGP

from docs.transcripts import blocks_of
from pesky import Choice, Integer, Problem, Real, Study, Task
from pesky.study_file import StudyFile

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LESS = {
    "budget=900": "budget=63",
    "budget=50_000": "budget=63",
    "budget=20)": "budget=4)",
    "budget=20,": "budget=4,",
    "budget=15,": "budget=4,",
    "2**20": "2**6",
}
LESS |= {"sqlite:///mlflow.db": "file:mlflow"}  # a database takes seconds of migrations
"""What is spent here instead of what the pages say."""
ELSEWHERE = ("dask", "submitit", "ax", "ray")
"""What needs a cluster, or an extra of its own: tests/test_examples.py and tests/adapt run the same."""


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def train(params) -> float:
    return (params["learning_rate"] - 0.01) ** 2


def profile(params) -> float:
    return params["units"] / 100


def stand_ins() -> dict[str, Any]:
    """What the pieces take for granted: functions and a problem of the reader's, and a fitted model."""
    problem = Problem(
        {
            "learning_rate": Real(1e-5, 1e-1, log=True),
            "units": Integer(10, 500),
            "activation": Choice(["relu", "sigmoid"]),
        },
        minimize="error",
        constraints=["latency_ms <= 2"],
        tasks={"train": Task(["error"], cost=20), "profile": Task(["latency_ms"], cost=1)},
    )
    X = torch.rand(6, 2, generator=torch.Generator().manual_seed(0))
    models = [SingleTaskGP(X, torch.sin(5 * X.sum(-1, keepdim=True) + shift)) for shift in (0.0, 1.0)]
    given = {"model_list_gp": ModelListGP(*models), "bounds": torch.tensor([[0.0, 0.0], [1.0, 1.0]])}
    return {"train": train, "profile": profile, "problem": problem, "study": Study(problem), **given}


TOML = [(page, block) for page in PAGES for block in blocks(page, "toml")]
PYTHON = [page for page in PAGES if blocks(page, "python")]


@pytest.mark.parametrize(("page", "block"), TOML, ids=[page.name for page, _ in TOML])
def test_study_files_are_without_mistakes(page: Path, block: str, tmp_path: Path):
    (tmp_path / "study.toml").write_text(block)
    file = StudyFile.read(tmp_path / "study.toml", importing=False, running=True)
    assert file.problem.tasks.keys() == file.calls.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_are_there(page: Path):
    named = re.findall(r"`((?:[a-z_0-9]+/)+(?:[a-z_0-9]+\.(?:py|md|toml|json))?)`", page.read_text())
    assert [each for each in named if not any((home / each).exists() for home in (ROOT, ROOT / "src/pesky"))] == []


@pytest.mark.slow
@pytest.mark.parametrize("page", PYTHON, ids=lambda page: page.name)
def test_pieces_of_python_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for block in blocks_of(page.read_text()):
        if block.title:
            (tmp_path / block.title).write_text(block.text)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    names = stand_ins() | {"__name__": "piece", "pesky": __import__("pesky")}
    for block in blocks(page, "python"):
        if any(f"import {library}" in block or f"from {library}" in block for library in ELSEWHERE):
            compile(block, page.name, "exec")
            continue
        for much, less in LESS.items():
            block = block.replace(much, less)
        exec(compile(block, page.name, "exec"), names)


def test_security_counts_the_tests_that_it_names():
    named = set(re.findall(r"`(tests/\S+\.py)` \((\d+)\)", (ROOT / "docs" / "security.md").read_text()))
    collect = [sys.executable, "-m", "pytest", "-n", "0", "-m", "", "--collect-only", "-q"]
    collect += {file for file, _ in named}
    collected = subprocess.run(collect, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert len(named) > 30
    assert named == {(file, str(collected.count(f"{file}::"))) for file, _ in named}
