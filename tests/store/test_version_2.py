"""A database that pesky 0.1 wrote is refused with the way to upgrade it, and reads as it read then after that.

`v2/read.json` is what that version itself read of the dump; but where nothing is sure yet a measured point that held is
recommended first by now. One evaluation's lease has run out since.
"""

import json
from pathlib import Path

import pytest
from dumps import in_iso, restore

from pesky import Choice, Constraint, Integer, Problem, Real, Study, Task
from pesky.errors import StorageError
from pesky.store import open_store
from pesky.store.sql.upgrade import upgrade
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
    assert upgrade(url) == (2, 3)
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
    read = json.loads(json.dumps([as_dict(e) for e in study.evaluations.values()]))
    then = in_iso(THEN["evaluations"])
    assert [{key: now[key] for key in old} for now, old in zip(read, then, strict=True)] == then
    new = {"attributes": {}, "why": None, "is_excluded": False, "corrections": []}
    assert all({key: now[key] for key in new} == new for now in read)
    assert study.spent() == THEN["spent"]


def test_it_is_refused_until_it_is_upgraded(url: str):
    restore(FOLDER / "study.sql", url)
    with pytest.raises(StorageError, match=r"older pesky \(schema 2, this one writes 3\).*pesky upgrade"):
        open_store(url)
    assert upgrade(url) == (2, 3)
    assert upgrade(url) == (3, 3)
    store = open_store(url)
    kept = store.load("reactor")
    (first,) = store.problems(kept.identity)
    assert (first.problem, first.since) == (kept.problem, pytest.approx(1794821408.08, abs=0.01))
    store.change_problem(kept.identity, "{}")
    assert [each.problem for each in store.problems(kept.identity)] == [kept.problem, "{}"]


def test_what_is_new_can_be_done_with_what_is_old(old: str):
    study = Study.load(old, known={"weight": weight})
    store, told = study.store, study.evaluations[2]
    store.correct(study.identity, 2, {"yield": 0.3}, "read off wrongly")
    store.exclude(study.identity, 2, "the valve was open")
    now = Study.load(old, known={"weight": weight}).evaluations[2]
    assert [each.old for each in now.corrections] == [told.outcomes["yield"], None]
    assert (now.is_excluded, now.outcomes["yield"]) == (True, 0.3)


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
    upgrade(sqlite_url)
    recommended, then = Study.load(sqlite_url, known={"weight": weight}).recommend(), THEN["recommendation"]
    assert {name: recommended.params[name] for name in ("stages", "solvent")} == {"stages": 4, "solvent": "ethanol"}
    assert recommended.params["rate"] == pytest.approx(then["params"]["rate"], rel=3e-2)
    assert recommended.expected == pytest.approx(then["expected"], abs=1e-2)
    facts = {"produce succeeds": 1.0} if recommended.is_measured else {}  # once a belief, though it had succeeded here
    assert dict(recommended.probabilities) == pytest.approx(then["probabilities"] | facts, abs=1e-2)
    assert recommended.is_confident == then["is_confident"]


def test_results_that_were_not_kept_then_are_kept_now(old: str):
    study = Study.load(old, known={"weight": weight})
    study.recover(UNTOLD)
    assert dict(study.evaluations[22].outcomes) == {"yield": 0.3, "impurity": 0.2}
    assert study.evaluations[22].seconds == 1.5
    assert (study.evaluations[16].state.value, study.evaluations[16].error) == ("failed", "OSError: no space left")
