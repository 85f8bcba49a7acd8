"""What the page is told of studies, and which changes are taken."""

import json
import math
import sqlite3
import time
from typing import Any
from urllib.parse import quote

import pytest
from page.asgi import Answer, request
from page.served import database, page_of
from show.studies import LONG, SCRIPT, found, made
from study.quick import COUPLED, SPLIT, quick

from pesky import Choice, Integer, Problem, Real, Study, Task
from pesky.errors import StorageError
from pesky.page.changes import CHANGES
from pesky.page.drawings import NAMES
from pesky.show import PICTURES
from pesky.store import Datum


def asked(page: Any, path: str) -> Any:
    answer = request(page.app(), path)
    assert answer.status == 200, answer.body
    return answer.said


class Bench:
    """A page that takes changes, of one study."""

    def __init__(self, study: Study) -> None:
        self.study, self.page = study, page_of(study, write=True)

    def do(self, name: str, **body: object) -> Answer:
        known = asked(self.page, "/api/study")
        given = {"study": known["study"], "problem": known["problem"], **body}
        return request(self.page.app(), f"/api/change/{name}", given)

    def done(self, name: str, **body: object) -> list[int]:
        answer = self.do(name, **body)
        assert answer.status == 200, answer.body
        return answer.said["ids"]

    def refused(self, name: str, **body: object) -> str:
        before = self.study.to_json()
        answer = self.do(name, **body)
        assert answer.status == 422
        assert self.study.to_json() == before
        return answer.said["error"]


@pytest.fixture
def bench(tmp_path) -> Bench:
    return Bench(quick(SPLIT, storage=database(tmp_path)))


def test_everything_of_a_study_is_told():
    study = made("mixed")
    told = asked(page_of(study), "/api/study")
    assert told["name"] == study.name
    assert told["counts"] == {"done": 11, "failed": 1}
    assert [row["id"] for row in told["rows"]] == list(study.evaluations)
    assert told["rows"][0]["outcomes"] == [0.5, None, 0.0]
    assert told["rows"][-1]["state"] == "failed"
    assert told["form"]["words"] == {name: lines for name, lines in study.problem.in_words().items() if lines}
    assert (told["best"], told["best_name"]) == (pytest.approx(0.7), "best as measured")  # it has noise
    assert told["can_write"] is False


def test_afterwards_only_what_has_changed():
    study = quick(COUPLED)
    study.add({"x": 0.5, "y": 0.0}, {"f": 1.0, "c": 1.0})
    page = page_of(study)
    first = asked(page, "/api/study")
    known = f"/api/study?since={first['revision']}&problem={first['problem']}&state={first['state']}"
    again = asked(page, known)
    assert {"rows", "form", "counts"}.isdisjoint(again)
    study.add({"x": 0.6, "y": 0.0}, {"f": 0.5, "c": 1.0})
    page._readers.of(study.identity).read(at_once=True)
    third = asked(page, known)
    assert [row["id"] for row in third["rows"]] == [1]
    assert third["best"] == 0.5
    assert third["steps"] == [[1, 1.0], [2, 0.5]]
    assert third["state"] != first["state"]
    assert "form" not in third


def test_a_study_of_a_thousand_evaluations_and_ten_parameters_is_told_in_a_second():
    problem = Problem({f"x{i}": Real(0, 1) for i in range(10)}, minimize="f", constraints=["c >= 0"])
    study = quick(problem)
    point = dict.fromkeys(problem.parameters, 0.5)
    data = [Datum("all", {**point, "x0": i / 1000}, {"f": float(i), "c": 1.0}) for i in range(1000)]
    study.store.add_all(study.identity, data)
    page = page_of(study)
    began = time.process_time()
    assert len(asked(page, "/api/study")["rows"]) == 1000
    assert time.process_time() - began < 1.5  # of a processor; the browser takes half a second to show them


def test_a_renewed_lease_is_no_reason_to_draw_anew():
    study = quick(COUPLED)
    running = study.ask(worker="w", lease=100)
    page = page_of(study)
    first = asked(page, "/api/study")
    assert study.renew(running, 200)
    page._readers.of(study.identity).read(at_once=True)
    second = asked(page, "/api/study")
    assert second["revision"] > first["revision"]
    assert second["state"] == first["state"]


def test_a_problem_that_was_changed_is_told_anew(tmp_path):
    study = quick(COUPLED, storage=database(tmp_path))
    study.add({"x": 0.5, "y": 0.0}, {"f": 1.0, "c": 0.5})
    page = page_of(study)
    first = asked(page, "/api/study")
    stricter = Problem(COUPLED.parameters, minimize="f", constraints=["c >= 1"], noise=0.01)
    quick(stricter, storage=database(tmp_path))
    page._readers.of(study.identity).read(at_once=True)
    told = asked(page, f"/api/study?since={first['revision']}&problem={first['problem']}&state={first['state']}")
    assert told["form"]["words"]["subject to"] == ["c >= 1, with a confidence of 0.95"]
    assert (first["rows"][0]["feasible"], told["rows"][0]["feasible"]) == (True, False)


def test_texts_of_others_are_bounded_and_names_are_whole():
    told = asked(page_of(made("hostile")), "/api/study")
    assert told["name"] == SCRIPT  # a text to the page, whose tests look at it
    assert LONG in [each["name"] for each in told["form"]["parameters"]]
    cells = [cell for row in told["rows"] for cell in (*row["params"], row["reason"], row["worker"])]
    assert max(len(cell) for cell in cells if isinstance(cell, str)) <= 400
    assert all(len(line) <= 300 for lines in told["form"]["words"].values() for line in lines)


def test_values_that_json_does_not_have_are_texts():
    from pesky.page.plain import _value

    assert [_value(each) for each in (math.nan, math.inf, True, 3, 0.5, None)] == ["nan", "inf", True, 3, 0.5, None]


def test_several_studies_are_listed_and_the_newest_is_first(tmp_path):
    url = database(tmp_path)
    one, two = quick(COUPLED, storage=url, name="one"), quick(SPLIT, storage=url, name=SCRIPT)
    one.add({"x": 0.5, "y": 0.0}, {"f": 1.0, "c": 1.0})
    page = page_of(one, two)
    told = asked(page, "/api/studies")
    assert [each["name"] for each in told["studies"]] == [SCRIPT, "one"]
    assert told["studies"][1]["counts"] == {"done": 1}
    assert told["studies"][1]["best"] == 1.0
    assert asked(page, "/api/study") == {"study": None}  # which one?
    assert asked(page, f"/api/study?study={two.identity}")["name"] == SCRIPT


DAMAGE = {
    "problem": ["'['", "'{}'", "x'ff00'", "CAST(x'ff' AS TEXT)"],
    "name": ["''", "x'ff00'", "CAST(x'ff' AS TEXT)", "char(27) || ']0;owned'"],
    "identity": ["x'ff00'", "CAST(x'ff' AS TEXT)"],
    "revision": ["'x'", "x'ff00'"],
}


@pytest.mark.parametrize(("column", "value"), [(column, value) for column, all_ in DAMAGE.items() for value in all_])
def test_a_damaged_study_hides_no_others(tmp_path, column: str, value: str):
    url = database(tmp_path)
    studies = [quick(COUPLED, storage=url, name=name) for name in ("one", "two", "three")]
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute(f"UPDATE pesky_studies SET {column} = {value} WHERE name = 'two'")
    connection.close()
    told = asked(page_of(studies[0]), "/api/studies")["studies"]
    assert [each["name"] for each in told if "error" not in each] == ["three", "one"]
    (damaged,) = (each for each in told if "error" in each)
    assert damaged["error"]
    assert column == "name" or damaged["name"] == "two"


@pytest.mark.parametrize("value", ["7", "x'ff00'", "NULL"])
def test_a_study_whose_name_is_no_text_hides_no_others(tmp_path, value: str):
    url = database(tmp_path)
    studies = [quick(COUPLED, storage=url, name=name) for name in ("one", "two", "three")]
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute("ALTER TABLE pesky_studies RENAME TO old")
        columns = ", ".join(row[1] for row in connection.execute("PRAGMA table_info(old)"))
        connection.execute(f"CREATE TABLE pesky_studies ({columns})")  # of no types, which takes any value as it is
        connection.execute("INSERT INTO pesky_studies SELECT * FROM old")
        connection.execute(f"UPDATE pesky_studies SET name = {value} WHERE name = 'two'")
    connection.close()
    told = asked(page_of(studies[0]), "/api/studies")["studies"]
    assert [each["name"] for each in told if "error" not in each] == ["three", "one"]
    assert ["expected a text" in each["error"] for each in told if "error" in each] == [True]
    assert Study.load(url, "three").name == "three"
    with pytest.raises(StorageError, match=r"a study is damaged.*its name was"):
        Study.load(url, told[1]["name"])


def test_a_study_that_is_gone_is_said():
    answer = request(page_of(made("one")).app(), "/api/study?study=nonsense")
    assert answer.status == 410
    assert "error" in answer.said


def test_the_pictures_are_those_of_the_report():
    assert set(NAMES) - {"answer"} == set(PICTURES)
    assert request(page_of(made("one")).app(), "/api/picture?study=x&name=progress").status == 404


def test_the_answer_is_drawn():
    study = made("one")
    page = page_of(study, findings={study.identity: found("one")})
    drawn = page._asking.call("draw", study=study.identity, name="answer", renew=False)
    assert json.loads(drawn["content"])["facts"]


def test_the_page_has_what_it_asks_for_and_nothing_else():
    app = page_of(made("one")).app()
    assert b"/static/page.js" in request(app, "/").body
    for name in ("page.js", "page.css", "report.css"):
        assert request(app, f"/static/{name}").status == 200
    for path in ("/static/../app.py", "/static/app.py", "/nothing"):
        assert request(app, path).status == 404


def test_for_reading_nothing_is_changed():
    study = made("one")
    page = page_of(study)
    known = asked(page, "/api/study")
    before = study.to_json()
    for name in ("ask", *CHANGES):
        body = {"study": known["study"], "problem": known["problem"], "id": 0, "outcomes": {"f": 5}}
        body |= {"params": dict(study.evaluations[0].params), "reason": "r", "confirm": True}
        answer = request(page.app(), f"/api/change/{name}", body)
        assert (answer.status, answer.read) == (403, 0)
        assert "--write" in answer.said["error"]
    assert study.to_json() == before


def test_a_person_at_a_bench_asks_and_tells(bench: Bench):
    (id_,) = bench.done("ask", task="score")
    assert bench.study.evaluations[id_].task == "score"
    assert "expected a number" in bench.refused("tell", id=id_, outcomes={"f": "1,5"})
    assert "no value was given" in bench.refused("tell", id=id_, outcomes={"f": " "})
    assert bench.done("tell", id=id_, outcomes={"f": " 1.5 "}) == [id_]
    assert bench.study.evaluations[id_].outcomes == {"f": 1.5}
    assert "1.5" in bench.refused("tell", id=id_, outcomes={"f": "2"})


def test_and_says_what_failed_or_is_not_measured(bench: Bench):
    (first,), (second,) = bench.done("ask", task=None), bench.done("ask", task=None)
    assert "why did it fail" in bench.refused("fail", id=first, reason=" ")
    bench.done("fail", id=first, reason=SCRIPT)
    assert bench.study.evaluations[first].error == SCRIPT
    bench.done("abandon", id=second)
    assert bench.study.evaluations[second].state == "abandoned"


def test_and_corrects_excludes_and_includes(bench: Bench):
    id_ = bench.study.add({"x": 0.5, "y": 0.0}, {"f": 12.0}).id
    assert "as it was told" in bench.refused("correct", id=id_, outcomes={"f": "12"})
    bench.done("correct", id=id_, outcomes={"f": "1.2"}, reason="a slip")
    bench.done("exclude", id=id_, reason="not trusted")
    assert bench.study.evaluations[id_].is_excluded
    bench.done("include", id=id_, reason="")
    kept = bench.study.evaluations[id_]
    assert (kept.outcomes, kept.is_excluded) == ({"f": 1.2}, False)
    assert [each.reason for each in kept.corrections] == ["a slip", "not trusted", ""]


def test_and_enqueues(tmp_path):
    problem = Problem(
        {"x": Real(0, 1), "k": Integer(1, 9), "kind": Choice(["a", True, 3])},
        minimize="f",
        tasks={"one": Task(["f"]), "two": Task(["g"])},
        constraints=["g >= 0"],
    )
    bench = Bench(quick(problem, storage=database(tmp_path)))
    params = {"x": "0.25", "k": "3", "kind": True}
    assert len(bench.done("enqueue", params=params)) == 2
    assert len(bench.done("enqueue", params=params, task="two")) == 1
    assert bench.study.evaluations[0].params == {"x": 0.25, "k": 3, "kind": True}
    assert "x" in bench.refused("enqueue", params={**params, "x": "2"})
    assert "missing" in bench.refused("enqueue", params={**params, "k": ""})
    assert "unknown task" in bench.refused("enqueue", params=params, task="three")


def test_and_adds_measurements_of_their_own(tmp_path):
    problem = Problem(
        {"x": Real(0, 1), "k": Integer(1, 9), "kind": Choice(["a", True, 3])},
        minimize="f",
        tasks={"one": Task(["f"]), "two": Task(["g", "h"])},
        constraints=["g >= 0", "h is true"],
    )
    bench = Bench(quick(problem, storage=database(tmp_path)))
    params = {"x": "0.25", "k": "3", "kind": True}
    (id_,) = bench.done("add", params=params, outcomes={"f": "1.5", "g": " ", "h": "yes"})
    added = bench.study.evaluations[id_]
    assert (added.params, added.outcomes) == ({"x": 0.25, "k": 3, "kind": True}, {"f": 1.5, "h": 1.0})
    assert (added.state, added.is_yours) == ("done", True)
    assert "from 0" in bench.refused("add", params={**params, "x": "2"}, outcomes={"f": "1"})
    assert "missing" in bench.refused("add", params={**params, "k": ""}, outcomes={"f": "1"})
    assert "expected a number" in bench.refused("add", params=params, outcomes={"f": "high"})
    assert "no value was given" in bench.refused("add", params=params, outcomes={"f": ""})
    assert "'z'" in bench.refused("add", params=params, outcomes={"z": "1"})
    assert "a value for each name" in bench.refused("add", params=[1], outcomes={"f": "1"})


def test_and_confirms_the_answer(bench: Bench):
    for x in (0.1, 0.5, 0.9):
        bench.study.add({"x": x, "y": 0.0}, {"f": x, "c": 1.0})
    (id_,) = bench.done("ask", task=None, confirm=True)
    asked = bench.study.evaluations[id_]
    assert (asked.why or {})["kind"] == "confirming"


@pytest.mark.parametrize(
    ("name", "body", "says"),
    [
        ("tell", {"id": "0", "outcomes": {"f": 1}}, "its number"),
        ("tell", {"id": True, "outcomes": {"f": 1}}, "its number"),
        ("tell", {"id": 7, "outcomes": {"f": 1}}, "no evaluation"),
        ("tell", {"id": 0, "outcomes": [1]}, "a value for each name"),
        ("tell", {"id": 0, "outcomes": {"g": 1}}, "'g'"),
        ("fail", {"id": 0, "reason": 5}, "expected a text"),
        ("ask", {"task": "nonsense"}, "unknown task"),
        ("ask", {"task": ["score"]}, "unknown task"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(bench: Bench, name: str, body: dict[str, object], says: str):
    bench.study.ask("score")
    assert says in bench.refused(name, **body)


def test_a_page_that_knows_another_problem_changes_nothing(bench: Bench):
    assert "has changed" in bench.refused("ask", task=None, problem="another")


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b"1"])
def test_what_is_no_json_object_is_refused(bench: Bench, raw: bytes):
    assert request(bench.page.app(), "/api/change/tell", raw=raw).status == 422


@pytest.mark.parametrize("raw", [b"[" * 500_000, b'{"a":' * 100_000, b"1" * 10_000, b'{"id": ' + b"1" * 5000 + b"}"])
def test_nor_is_one_that_json_has_no_end_of(bench: Bench, raw: bytes):
    answer = request(bench.page.app(), "/api/change/tell", raw=raw)
    assert answer.status == 422
    assert "no JSON" in answer.said["error"]


def test_what_is_too_long_is_not_read_to_its_end(bench: Bench):
    endless = (b" " * 100_000 for _ in range(1000))
    answer = request(bench.page.app(), "/api/change/tell", raw=endless, content_length="10")
    assert answer.status == 422
    assert "1,000,000 bytes" in answer.said["error"]
    assert answer.read <= 1_100_000


def test_of_what_breaks_off_nothing_is_taken(bench: Bench):
    assert request(bench.page.app(), "/api/change/ask", raw=iter([b"{"])).status == 400


@pytest.mark.parametrize("since", ["9" * 5000, "9" * 21, "-1", "1e5", "x", "\u00b2"])
def test_a_revision_that_is_none_is_refused_in_words(bench: Bench, since: str):
    answer = request(bench.page.app(), f"/api/study?since={quote(since)}")
    assert answer.status == 422
    assert "the number of a revision" in answer.said["error"]


# where a text, a number or a mapping belongs
NONE_OF_IT = [None, True, -1, 10**30, 10**400, 1e308, "\ud800", "\0", "x" * 10_000, [], [[]], {"": None}, {"\ud800": 1}]


FIELDS = {
    "ask": ("study", "problem", "task"),
    "tell": ("id", "outcomes"),
    "fail": ("id", "reason"),
    "abandon": ("id",),
    "correct": ("id", "outcomes", "reason"),
    "exclude": ("id", "reason"),
    "include": ("id", "reason"),
    "enqueue": ("params", "task"),
    "add": ("params", "outcomes"),
}


@pytest.mark.parametrize("name", ["ask", *CHANGES])
def test_no_value_of_any_field_is_an_error_of_pesky(bench: Bench, name: str):
    known, app = asked(bench.page, "/api/study"), bench.page.app()
    bench.study.ask("score")
    right = {"study": known["study"], "problem": known["problem"], "id": 0, "params": {"x": 0.5, "y": 0.5}}
    right |= {"outcomes": {"f": 1.0}, "reason": "r", "task": "score"}
    for value in NONE_OF_IT:
        inner = {"params": {"x": value, "y": 0.5}, "outcomes": {"f": value}}
        for field in FIELDS[name]:
            for given in [value, inner[field]] if field in inner else [value]:
                answer = request(app, f"/api/change/{name}", {**right, field: given})
                assert answer.status < 500, (field, answer.said)


@pytest.mark.parametrize("study", ["\ud800", "\0", "x" * 100_000])
def test_no_name_of_a_study_is_an_error_of_pesky(bench: Bench, study: str):
    asked = quote(study, errors="surrogatepass")
    for path in (f"/api/study?study={asked}", f"/api/picture?study={asked}&name={asked}", f"/api/study?want={asked}"):
        assert request(bench.page.app(), path).status < 500
    assert request(bench.page.app(), "/api/change/ask", {"study": study}).status < 500
