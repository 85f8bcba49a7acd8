"""Damaged storages: whatever a cell or a byte of the file is, there is an answer or an error in words.

The file has every kind of row; what reads it is in `damaged.py`. A traceback is a failure.
"""

import json
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest
from store.damaged import NAME, flipped, make, readers, replace, surprises

from pesky import Study
from pesky.errors import PeskyError, StorageError
from pesky.store import open_store
from pesky.strategy.explain import KINDS, Explanation


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a study that nothing is wrong with."""
    return make(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of it, to be damaged."""
    (tmp_path / "study.toml").write_text((whole.parent / "study.toml").read_text())
    replace(tmp_path / "study.db", whole.read_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield tmp_path / "study.db"


def put(path: Path, table: str, column: str, value: object) -> None:
    """Put a value into the last row of a table, whatever the column should hold."""
    with closing(sqlite3.connect(path)) as connection:
        columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA table_info({table})"))
        connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
        connection.execute(f"CREATE TABLE {table} ({columns})")  # of no types, which takes any value as it is
        connection.execute(f"INSERT INTO {table} SELECT * FROM old_{table}")
        last = f"(SELECT max(rowid) FROM {table})"
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = {last}", (value,))
        connection.commit()


def test_what_is_whole_is_read(path: Path):
    for _, use in readers(path.parent, in_full=True):
        use()


def counted(path: Path, seeds: range, whole: bytes, *, in_full: bool) -> int:
    """How many of these files are refused, the others being read, and none of them ending in a traceback."""
    refused = 0
    for seed in seeds:
        replace(path, flipped(whole, seed))
        assert surprises(path.parent, in_full=in_full or seed % 30 == 0) == [], seed
        replace(path, flipped(whole, seed))
        try:
            Study.load(f"sqlite:///{path}", NAME)
        except PeskyError:
            refused += 1
    return refused


def test_a_file_with_flipped_bytes_is_read_or_refused_in_words(path: Path, whole: Path):
    assert 40 < counted(path, range(150), whole.read_bytes(), in_full=False) < 150


def test_many_files_with_flipped_bytes_are_read_or_refused_in_words(path: Path, whole: Path):
    assert 150 < counted(path, range(1000, 1500), whole.read_bytes(), in_full=True) < 500


HUGE = "1" + "0" * 400
CELLS = [
    ("studies", "name", b"\x80", "a study is damaged.*its name was.*expected a text"),
    ("studies", "name", 7, "its name was 7, expected a text: .*delete this row of pesky_studies"),
    ("studies", "name", None, "its name was None"),
    ("studies", "problem", 7, "its problem was 7, expected a text"),
    ("studies", "seed", "x", "its seed was 'x', expected a whole number"),
    ("studies", "seed", -1, "its seed was -1"),
    ("studies", "revision", "x", "the study is damaged.*its revision was 'x', expected a whole number"),
    ("studies", "revision", 2.5, "its revision was 2.5"),
    ("studies", "revision", None, "its revision was None"),
    ("studies", "identity", 7, "its identity was 7"),
    ("clocks", "offset", "x", "the clock is damaged.*its offset was 'x', expected seconds since 1970"),
    ("clocks", "offset", 1e300, "its offset was 1e.300"),
    ("evaluations", "asked", 1e300, "its asked was 1e.300, expected seconds since 1970"),
    ("evaluations", "id", "\x1b[2Jx", "evaluation #x is damaged"),
    ("evaluations", "params", f'{{"x": {HUGE}, "n": 1, "kind": "a"}}', "its params was"),
    ("evaluations", "params", f'{{"x": {HUGE * 12}, "n": 1, "kind": "a"}}', "its params was"),
    ("evaluations", "params", "[" * 100_000, "its params was"),
    ("evaluations", "outcomes", f'{{"f": {HUGE}}}', "its outcomes was"),
    ("evaluations", "history", '[{"worker": null}]', "its history was"),
    ("evaluations", "why", "[" * 100_000, "its why was"),
]


@pytest.mark.parametrize(("table", "column", "value", "words"), CELLS)
def test_a_cell_of_another_kind_is_named(path: Path, table: str, column: str, value: object, words: str):
    put(path, f"pesky_{table}", column, value)
    assert surprises(path.parent) == []
    with pytest.raises(StorageError, match=words):
        _ = Study.load(f"sqlite:///{path}", NAME if column != "name" else None).evaluations


def test_a_problem_of_the_history_and_settings_of_another_kind_are_named(path: Path):
    put(path, "pesky_problems", "since", "noon")
    put(path, "pesky_settings", "settings", 7)
    with closing(open_store(f"sqlite:///{path}", read_only=True)) as store:
        identity = store.load(NAME).identity
        with pytest.raises(StorageError, match=r"a problem that a study had is damaged.*its since was 'noon'"):
            store.problems(identity)
        with pytest.raises(StorageError, match=r"how a study is asked is damaged.*its settings was 7"):
            store.settings(identity)
    assert surprises(path.parent) == []


OUTLIER = {"evaluation": 0, "outcome": "f", "value": 1.0, "expected": 1.0, "deviation": 1.0, "others": 5}
PARTS = {
    "kind": [7, None, ["full"], {"a": 1}],
    "rule": [7, ["pesc"]],
    "unit": [None, 7],
    "values": [[1], "x", 7, {"measure": "x"}, {"measure": None}, {"measure": [1]}],
    "prices": [[1], {"measure": "x"}],
    "elsewhere": ["x", {"measure": {}}],
    "left": [[0.5], {"x": "all"}, {"x": None}],
    "agreement": ["all", [1], {}],
    "infeasible": ["none", [1]],
    "left_out": [
        7,
        "x",
        [7],
        [{}],
        [{**OUTLIER, "value": "x"}],
        [{**OUTLIER, "more": 1}],
        [{**OUTLIER, "others": 1.5}],
    ],
    "noise": [[1], "x", {"f": "much"}, {"f": [1]}],
    "unaffordable": [3, "dear", [7], {"dear": 1}],
}


@pytest.mark.parametrize("kind", [*KINDS, "dreamt"])
def test_a_part_of_an_explanation_of_another_kind_is_left_out(path: Path, kind: str):
    """Nothing decides by it, so that a study goes on; what it is to explain is said, or that it cannot be."""
    whole = path.read_bytes()
    for part, values in PARTS.items():
        for value in values if kind == "full" else values[:1]:
            replace(path, whole)
            put(path, "pesky_evaluations", "why", json.dumps({"kind": kind, "unit": "nats", part: value}))
            found = Study.load(f"sqlite:///{path}", NAME).evaluations
            last = found[max(found)]
            assert last.why is not None
            assert part not in last.why
            if part != "kind":
                assert str(Explanation.of(last)).startswith(f"{last.task}: {KINDS.get(kind, kind)}")
            else:
                with pytest.raises(PeskyError, match=f"what was kept with evaluation {last.id} is damaged"):
                    Explanation.of(last)
            if kind == "full" and value == values[0]:
                assert surprises(path.parent) == [], (part, value)


SERVED = ("'x'", "NULL", "'\\x8000'::bytea", "'NaN'::float8", "1e400::numeric", "-1", "'[]'::jsonb", "now()")
TABLES = ("pesky_studies", "pesky_evaluations", "pesky_problems", "pesky_settings")


@pytest.mark.parametrize("table", TABLES)
def test_a_column_of_another_type_in_a_servers_table_is_named(whole: Path, postgres_url: str, table: str):
    open_store(postgres_url).close()
    with closing(sqlite3.connect(whole)) as source, psycopg.connect(postgres_url, autocommit=True) as there:
        for each in TABLES:
            names = [row[1] for row in source.execute(f"PRAGMA table_info({each})")]
            into = f"INSERT INTO {each} ({', '.join(names)}) VALUES ({', '.join(['%s'] * len(names))})"
            for row in source.execute(f"SELECT * FROM {each}"):
                there.execute(into.encode(), row)
        names = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]
        there.execute(f"ALTER TABLE {table} RENAME TO whole".encode())
        for i, name in enumerate(names):
            wrong = SERVED[i % len(SERVED)]
            columns = ", ".join(f"{wrong} AS {each}" if each == name else each for each in names)
            there.execute(f"CREATE TABLE {table} AS SELECT {columns} FROM whole".encode())
            for use in (
                lambda: [Explanation.of(e) for e in Study.load(postgres_url, NAME).evaluations.values() if e.why],
                lambda: Study.load(postgres_url, NAME).to_csv(),
                lambda: Study.load(postgres_url, NAME).exclude(0),
            ):
                with suppress(PeskyError):
                    use()
            there.execute(f"DROP TABLE {table}".encode())
