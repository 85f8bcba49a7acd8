"""Data of the user's own from tables: wholly or not at all."""

import logging
from typing import Any

import pandas
import pytest

from pesky import Choice, Integer, Problem, Real, Study
from pesky.errors import DataError
from pesky.study.rows import read_csv

PROBLEM = Problem(
    {"x": Real(0, 1), "n": Integer(1, 4), "kind": Choice(["a", "b"])},
    minimize="f",
    constraints=["c >= 0", "ok is true"],
)
ROWS = [
    {"x": 0.25, "n": 1.0, "kind": "a", "f": 1.5, "c": 2, "ok": True, "run": "first"},
    {"x": 0.5, "n": 2.0, "kind": "b", "f": None, "c": 0.5},
]


def check_added(study: Study) -> None:
    first, second = study.evaluations.values()
    assert dict(first.params) == {"x": 0.25, "n": 1, "kind": "a"}
    assert isinstance(first.params["n"], int)
    assert (dict(first.outcomes), dict(first.attributes)) == ({"f": 1.5, "c": 2.0, "ok": 1.0}, {"run": "first"})
    assert (dict(second.outcomes), dict(second.attributes)) == ({"c": 0.5}, {})
    assert first.is_yours
    assert study.spent() == {"all": 0.0}


def test_a_list_of_mappings_is_added():
    study = Study(PROBLEM)
    assert [e.id for e in study.add(ROWS)] == [0, 1]
    check_added(study)


def test_a_frame_is_added():
    study = Study(PROBLEM)
    study.add(pandas.DataFrame(ROWS))
    check_added(study)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_csv_file_is_added(tmp_path, mark):
    lines = ["x,n,kind,f,c,ok,run", '0.25,1.0,a,1.5,2,true,"first"', "", "0.5,2,b,,0.5,,"]
    path = tmp_path / "data.csv"
    path.write_text("\ufeff" + "\n".join(lines).replace(",", mark), encoding="utf-8")
    study = Study(PROBLEM)
    study.add_rows(read_csv(path))
    check_added(study)


def test_decimal_commas_are_numbers_where_all_are_written_so(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x;n;kind;f;c;ok;run\n0,25;1;a;1,5;2;true;first\n0,5;2;b;;5,0e-1;;\n")
    study = Study(PROBLEM)
    study.add_rows(read_csv(path))
    check_added(study)
    path.write_text("x;n;kind;f\n0,25;1;a;1.5\n")
    with pytest.raises(
        DataError, match=r"'x' was '0,25': expected a finite number\. Decimals have a point: write 0\.25"
    ):
        Study(PROBLEM).add_rows(read_csv(path))


def test_a_measurement_that_failed_is_kept_as_one():
    study = Study(PROBLEM)
    point = {"x": 0.25, "n": 1, "kind": "a"}
    study.add([{**point, "f": 1.5, "failed": ""}, {**point, "c": 2, "failed": "burst"}, {**point, "failed": True}])
    fine, burst, failed = study.evaluations.values()
    assert (fine.state, fine.is_yours) == ("done", True)
    assert (burst.state, burst.error, dict(burst.outcomes), burst.is_yours) == ("failed", "burst", {"c": 2.0}, True)
    assert (failed.state, failed.error) == ("failed", "failed")
    assert study.spent() == {"all": 0.0}


def test_of_several_tasks_the_one_that_failed_is_named():
    apart = Problem({"x": Real(0, 1)}, minimize="f", constraints=["c >= 0"], tasks={"a": ["f"], "b": ["c"]})
    study = Study(apart)
    study.add([{"x": 0.5, "failed": "burst", "task": "b"}, {"x": 0.5, "f": 1.0, "task": "whatever"}])
    assert [e.task for e in study.evaluations.values()] == ["b", "a"]
    assert study.evaluations[1].attributes == {"task": "whatever"}
    with pytest.raises(DataError, match="expected a column 'task' with 'a', 'b'"):
        study.add([{"x": 0.5, "failed": "burst"}])


@pytest.mark.parametrize("column", ["F", " f ", "F (EUR)", "f_", "F [kg]"])
def test_an_outcome_that_is_called_a_little_otherwise_is_named(column: str):
    row = {"x": 0.25, "n": 1, "kind": "a", "c": 1.0, column: 2.0}
    with pytest.raises(DataError, match=r"no column for the outcome 'f'\. Is it .*--rename"):
        Study(PROBLEM).add([row])
    study = Study(PROBLEM)
    study.add([{**row, "f": 1.0}])
    assert study.evaluations[0].attributes == {column: 2.0}


def test_what_was_exported_is_imported(tmp_path):
    study = Study(PROBLEM)
    study.add(ROWS)
    study.ask()
    study.to_csv(str(tmp_path / "data.csv"))
    other = Study(PROBLEM)
    other.add_rows(read_csv(tmp_path / "data.csv"))
    check_added(other)
    frame = Study(PROBLEM)
    frame.add(study.to_frame())
    check_added(frame)


def test_rows_outside_of_the_bounds_are_data(caplog):
    study = Study(PROBLEM)
    with caplog.at_level(logging.WARNING, "pesky"):
        study.add([{**ROWS[0], "x": 1.25, "n": 7}, ROWS[1]])
    assert "1 of 2 rows are outside of the bounds" in caplog.text
    assert study.observations().mask.sum(-1).tolist() == [1, 2, 1]


def test_a_name_like_one_of_ours_comes_back():
    odd = Problem({"pesky:id": Real(0, 1)}, minimize="pesky:state")
    study, other = Study(odd), Study(odd)
    study.add({"pesky:id": 0.5}, {"pesky:state": 2.0})
    other.add(study.to_frame())
    assert [dict(e.params) | dict(e.outcomes) for e in other.evaluations.values()] == [
        {"pesky:id": 0.5, "pesky:state": 2.0}
    ]


GOOD = ROWS[0]
BAD: dict[str, tuple[Any, str]] = {
    "no rows": ([], "no rows of data"),
    "no table": (3, "the data were int: expected a pandas frame"),
    "one mapping": (GOOD, "the data were dict: expected a pandas frame"),
    "a row that is none": ([GOOD, 3], "row 2 was 3: expected a mapping"),
    "no column of a parameter": (
        [{"x": 0.5, "f": 1}],
        "no column for the parameters 'n', 'kind': the columns are 'x', 'f'",
    ),
    "no column of an outcome": ([{"x": 0.5, "n": 1, "kind": "a"}], "expected one of 'f', 'c', 'ok'"),
    "an empty parameter": ([GOOD, {**GOOD, "x": None}], "row 2: the parameter 'x' is empty"),
    "no whole number": ([GOOD, GOOD, {**GOOD, "n": 1.5}], "row 3: the parameter 'n' was 1.5"),
    "no option": ([{**GOOD, "kind": "c"}], "row 1: the parameter 'kind' was 'c': expected one of 'a', 'b'"),
    "no outcome": ([GOOD, {"x": 0.5, "n": 1, "kind": "a"}], "row 2: no outcome was measured"),
    "no number": ([{**GOOD, "f": "many"}], "row 1: the outcome 'f' was 'many': expected a number, or an empty cell"),
    "no yes or no": ([{**GOOD, "ok": 0.5}], "row 1: .*'ok'"),
    "an infinite one": ([{**GOOD, "f": float("inf")}], "row 1: .*f.* was inf"),
    "many": ([{**GOOD, "n": 1.5}] * 30, r"of 30 rows 30 cannot be(.|\n)*row 10.*\n  and 20 more$"),
    "two in one row": (
        [GOOD, {**GOOD, "n": 1.5, "f": "many", "ok": "Ja"}],
        r"of 2 rows 1 cannot(.|\n)*row 2: the parameter 'n'.*\n  row 2: the outcome 'f'.*\n  row 2: the outcome 'ok'",
    ),
    "a yes of another language": (
        [{**GOOD, "ok": "Ja"}],
        r"'ok' was 'Ja': expected yes or no \(true or false, 1 or 0\), or an empty cell",
    ),
    "a decimal comma": (
        [{**GOOD, "f": "1,5"}],
        r"'f' was '1,5': expected a number.* Decimals have a point: write 1\.5",
    ),
    "below a limit": (
        [{**GOOD, "f": "<0,01"}],
        r"'f' was '<0,01': expected a number.* enter the limit itself, or leave",
    ),
    "a dash": ([{**GOOD, "f": "-"}], "'f' was '-': expected a number, or an empty cell"),
}


@pytest.mark.parametrize("mistake", BAD)
def test_a_mistake_is_named_with_its_row_and_nothing_is_added(mistake):
    study = Study(PROBLEM)
    rows, words = BAD[mistake]
    with pytest.raises(DataError, match=words):
        study.add(rows)
    assert not study.evaluations


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("x,x\n1,2\n", "a column is named twice"),
        ("x,f\n1,2\n1,2,3\n", "line 3 has 3 cells: expected 2"),
        ("x,n,kind,f\n0.1,1,a,1\n\n0.2,?,a,1\n", "line 4: the parameter 'n' was '\\?'"),
    ],
)
def test_a_file_that_is_none_is_said_so(tmp_path, text, words):
    (tmp_path / "data.csv").write_text(text)
    with pytest.raises(DataError, match=words):
        Study(PROBLEM).add_rows(read_csv(tmp_path / "data.csv"))


@pytest.mark.parametrize("word", ["NaN", "nan", "N/A", "n/a", "NA", "#N/A", "<NA>", "NULL", " "])
def test_what_tables_have_in_the_place_of_a_number_is_none(word: str):
    study = Study(PROBLEM)
    study.add([{**GOOD, "f": word, "ok": word, "run": word}])
    assert dict(study.evaluations[0].outcomes) == {"c": 2.0}
    assert study.evaluations[0].attributes.get("run", " ") == word  # what is kept beside is kept as it is


def test_a_file_of_another_encoding_is_read_and_said_so(tmp_path, caplog):
    path = tmp_path / "data.csv"
    path.write_bytes("x;n;kind;f;wer\r\n0,5;1;a;1,5;Jürgen\r\n".encode("cp1252"))
    with caplog.at_level(logging.WARNING, "pesky"):
        rows = read_csv(path)
    assert rows == [("line 2", {"x": "0.5", "n": "1", "kind": "a", "f": "1.5", "wer": "Jürgen"})]
    assert "data.csv is not in UTF-8 and was read as Windows-1252" in caplog.text


def test_a_file_that_cannot_be_read_is_said_so(tmp_path):
    (tmp_path / "data.csv").write_bytes(b"\xff\xfe\x00")
    for name in ("data.csv", "none.csv"):
        with pytest.raises(DataError, match=f"{name} cannot be read"):
            read_csv(tmp_path / name)
