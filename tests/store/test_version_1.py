"""A database that the first version wrote: refused with the way to upgrade it, and whole after that."""

from pathlib import Path

import pytest
from dumps import restore
from sqlalchemy import text

from pesky import Study
from pesky.errors import StorageError
from pesky.store import Cause, State, open_store
from pesky.store.sql.database import Database
from pesky.store.sql.upgrade import upgrade

DUMP = Path(__file__).parent / "v1" / "study.sql"


@pytest.fixture
def old(url: str) -> str:
    """The URL of such a database, of either kind."""
    restore(DUMP, url)
    return url


def test_a_study_of_the_first_version_goes_on(old: str):
    with pytest.raises(StorageError, match=r"older pesky \(schema 1, this one writes 3\).*pesky upgrade"):
        open_store(old)
    assert upgrade(old) == (1, 3)
    study = Study.load(old, known={"price": lambda p: 1.0})
    evaluations = study.evaluations
    assert study.seed == 7
    assert len(study.identity) == 32
    states = [
        State.DONE,
        State.DONE,
        State.FAILED,
        State.LOST,
        State.LOST,
        State.LOST,
        State.DONE,
        State.PENDING,
    ]
    assert [e.state for e in evaluations.values()] == states
    assert dict(evaluations[2].outcomes) == {"c": -0.5}
    assert evaluations[2].error == "ValueError: diverged"
    assert evaluations[3].cause is Cause.RELEASED
    assert evaluations[4].cause is Cause.LOST  # its lease ran out long ago
    assert dict(evaluations[4].outcomes) == {"c": 0.25}
    assert evaluations[0].seconds == 2.5
    again = study.ask(worker="w", lease=60)
    assert (again.id, again.attempts) == (3, 3)
    study.tell(again, {"f": 0.5, "c": 0.1})
    study.tell(7, {"f": 0.5, "c": 0.1})
    assert study.recommend().params
    # one who had opened it before cannot take it for another
    assert Study.load(old, known={"price": lambda p: 1.0}).identity == study.identity


def test_two_studies_get_two_identities(old: str):
    copy = (
        "INSERT INTO pesky_studies SELECT 2, 'other', problem, seed, revision, created FROM pesky_studies WHERE id = 1"
    )
    Database(old).write(lambda connection: connection.execute(text(copy)))
    upgrade(old)
    store = open_store(old)
    assert store.load("old").identity != store.load("other").identity
