"""Study files of pesky 0.1, written before its modules had the places of today: the commands say what they said then.

`read.json`, beside them, is what the commands of that version printed, but for the last question of each file, which
is decided anew, and for the recommendation: the models of today are others, and where nothing is sure yet a measured
point that held goes first. The database is the dump that the tests of stores have.
"""

import json
import shutil
import sys
from pathlib import Path

import pytest
from dumps import in_iso, restore

from pesky.cli import exit_codes
from pesky.store.sql.upgrade import upgrade

TESTS = Path(__file__).parents[1]
FOLDER = TESTS / "study_file" / "v2"
THEN = json.loads((FOLDER / "read.json").read_text())
FILES = ("study.toml", "rule_table.toml")


@pytest.fixture(autouse=True)
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the files, what they call, and their database."""
    for each in FOLDER.iterdir():
        shutil.copy(each, tmp_path)
    url = f"sqlite:///{tmp_path / 'reactor.db'}"
    restore(TESTS / "store" / "v2" / "study.sql", url)
    assert upgrade(url) == (2, 3)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "reactor", raising=False)  # another test's folder has it, too


def check_near(now: dict[str, object], then: dict[str, object]) -> None:
    assert now == {**then, "rate": pytest.approx(then["rate"], rel=3e-2)}


def said_then(now: object, then: object) -> object:
    """What is said now, without the keys that were not there then."""
    if isinstance(now, dict) and isinstance(then, dict):
        return {key: said_then(value, then[key]) for key, value in now.items() if key in then}
    if isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        return [said_then(*pair) for pair in zip(now, then, strict=True)]
    return now


@pytest.mark.parametrize("file", FILES)
def test_what_is_kept_is_shown(pesky, file: str):
    assert pesky("check", file).stdout.endswith("no mistakes found\n")
    for command in ("status", "show"):
        now = json.loads(pesky(command, file, "--json").stdout)
        then = in_iso(THEN[command])
        assert said_then(now, then) == then


def test_the_recommendation_is_the_same(pesky):
    now = json.loads(pesky("recommend", "study.toml", "--json", code=exit_codes.NOT_YET).stdout)
    then = THEN["recommend"]
    check_near(now["params"], then["params"])
    assert now["expected"] == pytest.approx(then["expected"], abs=1e-2)
    facts = {"produce succeeds": 1.0} if now["is_measured"] else {}  # once a belief, though it had succeeded here
    assert now["probabilities"] == pytest.approx(then["probabilities"] | facts, abs=1e-2)
    assert now["is_confident"] == then["is_confident"]


@pytest.mark.parametrize("file", FILES)
def test_the_next_questions_are_the_same(pesky, file: str):
    """First what was lost, then what the rule of the file values most, given all that is under way."""
    for then in (each for each in THEN["asked"] if each["file"] == file):
        now = json.loads(pesky("ask", file, "--json").stdout)
        assert [now[key] for key in ("id", "claim", "task", "outcomes")] == [
            then[key] for key in ("id", "claim", "task", "outcomes")
        ]
        check_near(now["params"], then["params"])
        assert now["gain"] == pytest.approx(then["gain"], rel=1e-2)


def test_what_came_out_is_told(pesky):
    told = (["20", "stable=true"], ["17", "yield=0.2"], ["22@c37f7d", "--failed", "broke"])
    said = [pesky("tell", "study.toml", *each).stdout for each in told]
    said.append(pesky("tell", "study.toml", "--untold", "untold.jsonl").stdout)
    assert said == THEN["told"]
    shown = json.loads(pesky("show", "study.toml", "--json").stdout)
    assert (shown[22]["state"], shown[22]["outcomes"]) == ("done", {"yield": 0.3, "impurity": 0.2})
    assert (shown[16]["state"], shown[16]["error"]) == ("failed", "OSError: no space left")
