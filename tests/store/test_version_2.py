"""A database that pesky 0.1 wrote, before its modules had the places of today, reads as it read then.

`v2/read.json` is what that version itself read of the dump. One evaluation's lease has run out since.
"""

import json
from pathlib import Path

import pytest
from dumps import restore

from pesky import Choice, Constraint, Integer, Problem, Real, Study, Task
from pesky.study.export import as_dict

FOLDER = Path(__file__).parent / "v2"
THEN = json.loads((FOLDER / "read.json").read_text())
UNTOLD = Path(__file__).parents[1] / "study_file" / "v2" / "untold.jsonl"


def weight(params) -> float:
    return 0.5 * params["stages"] + (1.0 if params["solvent"] == "water" else 0.25)


@pytest.fixture
def old(url: str) -> str:
    """The URL of such a database, of either kind."""
    restore(FOLDER / "study.sql", url)
    return url


def problem() -> Problem:
    return Problem(
        parameters={
            "rate": Real(1e-4, 1.0, log=True),
            "stages": Integer(1, 8),
            "solvent": Choice(["water", "ethanol", "none"]),
        },
        maximize="yield",
        constraints=["impurity <= 0.4", "stable is true", Constraint("weight", "<=", 6.0, confidence=0.99)],
        tasks={
            "produce": Task(["yield", "impurity"], cost=10, failures="learn"),
            "inspect": Task(["stable"], cost=1, timeout=30),
        },
        noise={"impurity": 0.01},
        known={"weight": weight},
    )


def check_reads_as_then(study: Study) -> None:
    assert (study.seed, study.identity, study.name) == (THEN["seed"], THEN["identity"], "reactor")
    assert json.loads(json.dumps([as_dict(e) for e in study.evaluations.values()])) == THEN["evaluations"]
    assert study.spent() == THEN["spent"]


def test_it_is_loaded_with_all_that_was_kept(old: str):
    study = Study.load(old, known={"weight": weight})
    check_reads_as_then(study)
    stored = {key: value for key, value in THEN["problem"].items() if key != "known"}
    assert {key: value for key, value in study.problem.to_dict().items() if key != "known"} == stored
    states = {e.state.value for e in study.evaluations.values()}
    assert states == {"pending", "running", "done", "failed", "lost", "abandoned"}


def test_it_is_continued_with_the_problem_written_anew(old: str):
    check_reads_as_then(Study(problem(), storage=old, name="reactor"))


def test_it_recommends_what_it_did(sqlite_url: str):
    restore(FOLDER / "study.sql", sqlite_url)
    recommended, then = Study.load(sqlite_url, known={"weight": weight}).recommend(), THEN["recommendation"]
    assert {name: recommended.params[name] for name in ("stages", "solvent")} == {"stages": 4, "solvent": "ethanol"}
    assert recommended.params["rate"] == pytest.approx(then["params"]["rate"], rel=1e-3)
    assert recommended.expected == pytest.approx(then["expected"], abs=1e-4)
    assert dict(recommended.probabilities) == pytest.approx(then["probabilities"], abs=1e-4)
    assert recommended.is_confident == then["is_confident"]


def test_results_that_were_not_kept_then_are_kept_now(old: str):
    study = Study.load(old, known={"weight": weight})
    study.recover(UNTOLD)
    assert dict(study.evaluations[22].outcomes) == {"yield": 0.3, "impurity": 0.2}
    assert study.evaluations[22].seconds == 1.5
    assert (study.evaluations[16].state.value, study.evaluations[16].error) == ("failed", "OSError: no space left")
