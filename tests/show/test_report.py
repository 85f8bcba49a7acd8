"""The report: one page, complete, harmless, and seen in a real browser."""

import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from show.browser import needs_chromium, visit
from show.studies import LONG, NAMES, SCRIPT, found, started

from pesky import Problem, Real
from pesky.errors import DataError
from pesky.show import Findings, report
from pesky.show.report import PICTURES, sections

DRAW = """new Promise(done => {
  document.querySelectorAll('.picture').forEach(each => each.scrollIntoView());
  let wait = 100;
  const look = () => {
    const drawn = document.querySelectorAll('.picture .main-svg').length;
    const all = [...document.querySelectorAll('.picture')].every(each => each.querySelector('.main-svg'));
    if (all || !wait--) return done(all);
    document.querySelectorAll('.picture').forEach(each => each.querySelector('.main-svg') || each.scrollIntoView());
    setTimeout(look, 50);
  };
  look();
})"""
SORT = """(() => {
  const table = document.getElementById('evaluations');
  const header = [...table.querySelectorAll('th')].find(each => each.textContent === 'NAME');
  const column = () => [...table.tBodies[0].rows].map(row => row.cells[header.cellIndex].textContent);
  header.click(); const up = column(); header.click(); return [up, column()];
})()"""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch):
    """Each threshold takes a second."""
    monkeypatch.setattr("pesky.answer.what_if.STEPS", (0,))


@pytest.mark.parametrize("name", NAMES)
def test_all_parts_are_there_and_texts_are_escaped(name: str):
    findings = found(name)
    parts = dict(sections(findings, "PICTURES"))
    assert list(parts)[:3] == ["The problem", "The answer", "Pictures"]
    assert list(parts)[-1] == "Versions and seed"
    text = "".join(parts.values())
    assert SCRIPT not in text
    assert LONG not in text
    assert set(re.findall(r"</?([a-z]+)", text)) <= {"table", "thead", "tbody", "tr", "th", "td", "br", "p", "div"}
    failed = [e for e in findings.evaluations.values() if e.error and e.state.value in ("failed", "lost")]
    assert any(title.startswith("Failures") for title in parts) == bool(failed)


def test_the_answer_is_the_recommendation():
    findings = found("plain")
    parts = dict(sections(findings, ""))
    assert f"{findings.answer.expected:.6g}" in parts["The answer"]
    assert "seed" in parts["Versions and seed"]
    assert ("best measured point" in parts["The answer"]) == (not findings.answer.is_measured)
    best = found("plain").study.best()
    other = Findings(findings.study)
    other.__dict__["answer"] = replace(findings.answer, is_measured=False)
    assert other.answer_in_words()["best measured point"][-1] == best.where()
    assert parts["All evaluations (5)"].count("<tr>") == 6


def test_evaluations_say_whether_they_were_feasible_and_what_was_corrected():
    study = started(Problem({"x": Real(0, 1)}, minimize="f", constraints=["c >= 0", "ok is true"]))
    study.add({"x": 0.1}, {"f": 1.0, "c": 1.0, "ok": 1})
    asked = study.ask()
    study.tell(asked, {"f": 10.0, "c": -1.0, "ok": 0})
    study.correct(asked, {"f": 1.5}, "a slip")
    study.fail(study.ask(params={"x": 0.123456789012345}), "dry")
    parts = dict(sections(Findings(study), ""))
    text = parts["All evaluations (3)"]
    head = re.findall("<th>(.*?)</th>", text)
    rows = [re.findall("<td[^>]*>(.*?)</td>", row) for row in text.split("<tr>")[2:]]
    mine, corrected, failed = (dict(zip(head, row, strict=True)) for row in rows)
    assert head[head.index("feasible") :][:3] == ["feasible", "state", "reason"]
    assert [each["feasible"] for each in (mine, corrected, failed)] == ["yes", "no", ""]
    assert [each["state"] for each in (mine, corrected, failed)] == ["yours", "done", "failed"]
    assert [each["ok"] for each in (mine, corrected, failed)] == ["yes", "no", ""]
    assert corrected["reason"] == "f corrected, was 10: a slip"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", mine["ended (UTC)"])
    assert "x=0.1235" in parts["Failures (1)"]
    noise = study.noise()
    assert f"f {noise['f']:.3g}, as its values say<br>c {noise['c']:.3g}, as its values say" in parts["The problem"]


def test_where_it_cannot_be_written_it_says_so(tmp_path: Path):
    with pytest.raises(DataError, match="in a folder that exists"):
        report(found("none"), tmp_path / "nowhere" / "report.html")


def test_nothing_is_asked_of_the_network(tmp_path: Path):
    text = report(found("none"), tmp_path / "report.html").read_text()
    outside = re.sub(r"<script nonce.*?</script>", "", text, flags=re.DOTALL)
    assert "http:" not in outside
    assert "https:" not in outside
    assert "default-src 'none'" in outside


@needs_chromium
def test_what_is_a_little_wider_than_its_room_is_made_to_fit(tmp_path: Path):
    page = tmp_path / "fit.html"
    page.write_text(f"<script>{files('pesky.show').joinpath('fit.js').read_text()}</script>")
    given = [(1250, 1088), (760, 1088), (1500, 1088), (1500, 900), (1250, 390), (None, 1088)]
    widths = [f"fitted({{ {f'width: {width}' if width else ''} }}, {room}).width ?? null" for width, room in given]
    assert visit(page, *widths).answers == [None, None, None, 1500, 900, None]


@needs_chromium
@pytest.mark.parametrize("name", ["hostile", "plain"])
def test_in_a_browser_every_picture_is_drawn_without_an_error_and_the_table_sorts(name: str, tmp_path: Path):
    findings = Findings(found(name).study, moments=1)
    findings.__dict__.update({key: each for key, each in found(name).__dict__.items() if not key.startswith("_")})
    page = report(findings, tmp_path / "report.html")
    count = "document.querySelectorAll('.picture').length"
    seen = visit(page, DRAW, SORT.replace("NAME", "id"), count, "document.title")
    assert seen.errors == []
    assert seen.requests == [page.resolve().as_uri()]
    drawn, (up, down), pictures, title = seen.answers
    assert drawn
    assert pictures == len(PICTURES)
    assert up == [str(id_) for id_ in sorted(findings.evaluations)]
    assert down == up[::-1]
    if name == "hostile":
        assert title == SCRIPT
        return
    titles = "[...document.querySelectorAll('.gtitle')].map(each => Math.ceil(each.getBoundingClientRect().right))"
    widths = "[...document.querySelectorAll('.picture .main-svg')].map(each => each.getBoundingClientRect().width)"
    phone = visit(page, DRAW, titles, widths, "document.body.scrollWidth", width=390)
    assert max(phone.answers[1]) <= 390
    assert max(phone.answers[2]) >= 620  # what has many panels is scrolled
    assert phone.answers[3] == 390  # and the page is not
