"""A study for other programs."""

import csv
import io
import json
import re
from datetime import datetime

import pandas
import pytest
from study.quick import COUPLED, SPACE, measure, quick

from pesky import Choice, Problem, Real
from pesky.store import Evaluation, State
from pesky.study.export import iso, to_csv


def made():
    s = quick()
    s.run(measure, budget=3, progress=False)
    s.fail(s.ask(), "no, really")
    s.add({"x": 0.25, "y": 1.0}, {"c": 2.5})
    return s


def test_json_has_the_problem_and_every_evaluation():
    s = made()
    read = json.loads(s.to_json())
    assert Problem.from_dict(read["problem"]) == COUPLED
    assert [e["id"] for e in read["evaluations"]] == [0, 1, 2, 3, 4]
    assert read["evaluations"][0]["outcomes"] == dict(s.evaluations[0].outcomes)
    assert read["evaluations"][3]["state"] == "failed"
    assert read["evaluations"][3]["error"] == "no, really"


def test_csv_has_a_column_per_parameter_and_outcome(tmp_path):
    s = made()
    text = s.to_csv(str(tmp_path / "study.csv"))
    assert (tmp_path / "study.csv").read_text(encoding="utf-8") == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(r["x"]) for r in rows] == [e.params["x"] for e in s.evaluations.values()]
    assert rows[4]["f"] == ""
    assert float(rows[4]["c"]) == 2.5
    assert rows[3]["pesky:error"] == "no, really"


def test_a_frame_reads_like_the_study():
    frame = made().to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.index) == [0, 1, 2, 3, 4]
    assert frame["c"].tolist()[4] == 2.5
    assert frame["pesky:state"].tolist().count("done") == 4


def test_no_column_of_ours_is_called_like_one_of_yours():
    s = quick(Problem({**SPACE, "state": SPACE["x"]}, minimize="error", constraints=["id >= 0"]), rule="random")
    s.run(lambda p: {"error": 7.0, "id": 1.0, "epochs": 3, "curve": [1.0, 2.0]}, budget=1, progress=False)
    (row,) = csv.DictReader(io.StringIO(s.to_csv()))
    (e,) = s.evaluations.values()
    assert (row["error"], row["id"], row["state"]) == ("7.0", "1.0", str(e.params["state"]))
    assert (row["pesky:state"], row["pesky:id"], row["pesky:error"]) == ("done", "0", "")
    assert (row["attribute:epochs"], row["attribute:curve"]) == ("3", "[1.0, 2.0]")
    frame = s.to_frame()
    assert frame["error"].tolist() == [7.0]
    assert frame["attribute:curve"].tolist() == [[1.0, 2.0]]


def test_names_like_ours_say_what_they_are():
    given = {"pesky:state": SPACE["x"], "attribute:note": SPACE["x"]}
    s = quick(Problem(given, minimize="pesky:error"), rule="random")
    s.run(lambda p: {"pesky:error": 7.0, "note": "fine"}, budget=1, progress=False)
    (row,) = csv.DictReader(io.StringIO(s.to_csv()))
    (e,) = s.evaluations.values()
    assert (row["outcome pesky:error"], row["pesky:error"], row["pesky:state"]) == ("7.0", "", "done")
    assert row["parameter pesky:state"] == str(e.params["pesky:state"])
    assert (row["parameter attribute:note"], row["attribute:note"]) == (str(e.params["attribute:note"]), "fine")


def test_times_are_iso():
    s = made()
    (first, *_), e = json.loads(s.to_json())["evaluations"], s.evaluations[0]
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", first["asked"])
    assert datetime.fromisoformat(first["ended"]).timestamp() == pytest.approx(e.ended, abs=1e-3)
    assert s.to_frame()["pesky:asked"].iloc[0].timestamp() == pytest.approx(e.asked, abs=1e-3)
    assert next(csv.DictReader(io.StringIO(s.to_csv())))["pesky:ended"] == first["ended"]
    assert iso(1e300) == "1e+300"


def test_an_empty_study_has_an_empty_table():
    s = quick()
    assert s.to_csv() == "pesky:id,pesky:task\n"
    assert len(s.to_frame()) == 0


def test_a_text_that_cannot_be_written_is_written_in_other_words(tmp_path):
    failed = Evaluation(0, "all", {"x": 0.5}, state=State.FAILED, error="half \ud83d of it")
    to_csv(Problem({"x": Real(0, 1)}, minimize="f"), [failed], str(tmp_path / "study.csv"))
    assert r"half \ud83d of it" in (tmp_path / "study.csv").read_text(encoding="utf-8")


FORMULAS = ["=1+1", "+1", "-2", "@SUM(A1)", "\tx", "\r=1"]


def test_no_text_in_csv_begins_like_a_formula():
    problem = Problem({"-x": Real(-1, 1), "k": Choice([*FORMULAS, "a-b"])}, minimize="@f", tasks={"+all": ["@f"]})
    each = [
        Evaluation(i, "+all", {"-x": -0.5, "k": text}, gain=-0.25, state=State.FAILED, error=text, worker=text)
        for i, text in enumerate(FORMULAS)
    ]
    done = Evaluation(9, "+all", {"-x": -0.5, "k": "a-b"}, state=State.DONE, outcomes={"@f": -3.0}, error="all = well")
    text = to_csv(problem, [*each, done])
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert header[:5] == ["pesky:id", "pesky:task", "'-x", "k", "'@f"]
    records = [dict(zip(header, row, strict=True)) for row in rows]
    for record, given in zip(records, FORMULAS, strict=False):
        assert record["k"] == record["pesky:error"] == record["pesky:worker"] == f"'{given}"
    assert all(record["pesky:task"] == "'+all" and record["'-x"] == "-0.5" for record in records)
    assert (records[0]["pesky:gain"], records[-1]["'@f"]) == ("-0.25", "-3.0")
    assert (records[-1]["k"], records[-1]["pesky:error"], records[-1]["pesky:worker"]) == ("a-b", "all = well", "")
