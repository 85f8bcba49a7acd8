"""The page in a real browser: what is seen, what happens meanwhile, and what anybody's texts do to it."""

import time
from functools import partial
from pathlib import Path

import pytest
from page.served import database, page_of, served
from show.browser import needs_chromium, visit
from show.studies import SCRIPT, found, made, started
from study.quick import SPLIT, quick

from pesky import Problem, Real, Study
from pesky.page.drawings import NAMES
from pesky.show import Findings

TOKEN = "a-token-of-this-test"
ODD = "+&=#'\"<>`{|}\\^~?/:@;,$!*()[]"
UNTIL = """new Promise(done => {
  let wait = WAIT;
  const look = () => {
    const found = (() => { CONDITION })();
    if (!found && wait--) return setTimeout(look, 100);
    done(found instanceof Node ? true : found);
  };
  look();
})"""
ALL_DRAWN = """
  const isLeft = each => !each.querySelector('.main-svg') || each.querySelector('figcaption').textContent;
  const left = [...document.querySelectorAll('figure')].filter(isLeft);
  if (left.length) left[0].scrollIntoView();
  return document.querySelectorAll('figure').length === 8 && !left.length;
"""


def until(condition: str, seconds: int = 10) -> str:
    """A script that waits for a condition, and says what it was."""
    return UNTIL.replace("CONDITION", condition).replace("WAIT", str(10 * seconds))


def click(text: str) -> str:
    """A script that clicks the last button with this text."""
    return f"[...document.querySelectorAll('button')].filter(each => each.textContent === '{text}').at(-1).click()"


def fill(label: str, value: str) -> str:
    """A script that writes into the field of this label."""
    return (
        "[...document.querySelectorAll('dialog label')].find(each => each.firstChild.textContent === "
        f"'{label}').querySelector('input').value = '{value}'"
    )


CLOSED = until("return !document.querySelector('dialog')")


@pytest.fixture(autouse=True)
def quick_thresholds(monkeypatch: pytest.MonkeyPatch):
    """Each takes a second."""
    monkeypatch.setattr("pesky.answer.what_if.STEPS", (0,))


TEXTS = (
    "document.querySelector('h1').textContent",
    "document.title",
    "document.querySelectorAll('main script, main b:not(.numbers b), main img').length",
    "document.body.scrollWidth <= innerWidth",
)


@needs_chromium
def test_hostile_names_are_texts():
    with served(page_of(made("hostile"))) as address:
        seen = visit(address, until("return document.querySelector('#evaluations td')"), *TEXTS)
    assert seen.errors == []
    assert seen.answers == [True, SCRIPT, SCRIPT, 0, True]
    assert all(each.startswith(address) for each in seen.requests)


@needs_chromium
def test_a_damaged_study_is_named_beside_the_others(tmp_path: Path):
    url = database(tmp_path)
    whole, broken = (quick(SPLIT, storage=url, name=name) for name in ("whole", "broken"))
    whole.store.replace_problem(broken.identity, "[")
    with served(page_of(whole)) as address:
        seen = visit(
            f"{address}?list",
            until("return document.querySelector('.studies a')"),
            "[...document.querySelectorAll('.studies tbody tr')].map(each => each.textContent.slice(0, 15))",
            "document.querySelector('.studies .trouble').textContent",
        )
    assert seen.errors == []
    assert seen.answers[1] == ["brokendamaged: ", "whole"]
    assert "problem" in seen.answers[2]


@needs_chromium
@pytest.mark.parametrize("name", ["hostile", "mixed"])
def test_every_picture_is_drawn_without_an_error(name: str):
    study = found(name).study
    findings = Findings(study, moments=1)
    findings.__dict__.update({key: each for key, each in found(name).__dict__.items() if not key.startswith("_")})
    page = page_of(study, findings={study.identity: findings})
    state = page._readers.of(study.identity).read().state
    with served(page) as address:
        while not all(page.drawings.get(study.identity, each) for each in NAMES):  # each takes a second or more
            page.drawings.want(study.identity, state, NAMES)
            time.sleep(0.2)
        answered = until("return document.querySelector('#part-answer')?.textContent.includes('e')")
        seen = visit(address, until(ALL_DRAWN, 60), answered, *TEXTS)
    assert seen.errors == []
    assert seen.answers == [True, True, study.name, study.name, 0, True]


@needs_chromium
def test_what_is_told_elsewhere_appears(tmp_path: Path):
    study = started(Problem({"x": Real(0, 1)}, minimize="f"), storage=database(tmp_path))
    study.add({"x": 0.5}, {"f": 2.0})
    cells = "[...document.querySelectorAll('#evaluations td')].some(each => each.textContent === '0.123457')"
    seconds = f"""(async () => {{
      const began = performance.now();
      while (!{cells} && performance.now() - began < 20000) await new Promise(then => setTimeout(then, 50));
      return (performance.now() - began) / 1000;
    }})()"""

    def tell() -> None:
        Study.load(database(tmp_path)).add({"x": 0.25}, {"f": 0.1234567})

    with served(page_of(study)) as address:
        ready = until("return document.querySelector('.live')?.textContent === 'live'")
        seen = visit(address, ready, tell, seconds, "document.querySelectorAll('button').length")
    assert seen.errors == []
    assert seen.answers[0]
    assert seen.answers[2] < 20  # and less than two on a machine that has nothing else to do: test_crowd.py
    assert seen.answers[3] == 0  # to be read alone


@needs_chromium
def test_a_person_at_a_bench_asks_tells_fails_enqueues_corrects_adds_and_confirms(tmp_path: Path):
    study = quick(SPLIT, storage=database(tmp_path))
    card = partial("return document.querySelectorAll('.card').length === {}".format)
    steps = [
        until("return document.querySelector('#ask')"),
        *(click("Enqueue…"), fill("x", "0.5"), fill("y", "7"), click("Enqueue")),
        until("return document.querySelector('dialog .trouble').textContent.includes('from -2')"),
        *(fill("y", "1"), click("Enqueue"), CLOSED, until(card(2))),
        *(click("Ask what to measure"), until("return document.querySelector('.card.new .main')")),
        *(click("Tell…"), fill("f", "12"), click("Tell"), CLOSED, until(card(1))),
        *(
            click("change…"),
            fill("f", "1.5"),
            fill("Reason, which is kept and shown", "a slip"),
            click("Correct"),
            CLOSED,
        ),
        *(click("Ask what to measure"), until("return document.querySelector('.card.new .main')")),
        *(
            click("Failed…"),
            fill("Why did it fail?", SCRIPT.replace("/", "\\/")),
            click("It failed"),
            CLOSED,
            until(card(0)),
        ),
        until("return document.querySelector('#failures')?.textContent.includes('alert(1)')"),
        *(click("Add a measurement…"), fill("x", "0.25"), fill("y", "1"), fill("c", "2"), click("Add"), CLOSED),
        lambda: [study.add({"x": x, "y": 0.0}, {"f": x, "c": 1.0}) for x in (0.1, 0.5, 0.9)] and None,
        *(click("Confirm the answer"), until(card(1), 30)),
    ]
    with served(page_of(study, write=True), TOKEN) as address:
        seen = visit(address, *steps, "location.href")
    assert False not in seen.answers
    assert ["422" in each for each in seen.errors] == [True]  # of 7, which is outside of the bounds
    assert TOKEN not in seen.answers[-1]
    first, second, third, *_, last = study.evaluations.values()
    assert (first.task, first.params, first.outcomes) == ("score", {"x": 0.5, "y": 1.0}, {"f": 1.5})
    assert first.corrections[0].reason == "a slip"
    assert (second.state, second.error) == ("failed", SCRIPT)
    assert (third.is_yours, third.params, third.outcomes) == (True, {"x": 0.25, "y": 1.0}, {"c": 2.0})
    assert (last.why or {})["kind"] == "confirming"


PICK = """(() => {
  const select = document.querySelector('figure[data-name=NAME] select[aria-label=TITLE]');
  select.value = [...select.options].find(each => each.textContent === 'TEXT').value;
  select.dispatchEvent(new Event('change'));
  return select.closest('figure').querySelector('figcaption').textContent;
})()"""
TYPE = """(() => {
  const input = [...document.querySelectorAll('figure[data-name=belief] details input')].at(-1);
  input.value = '0.5';
  input.dispatchEvent(new Event('change'));
})()"""


def pick(name: str, title: str, text: str) -> str:
    """A script that chooses an option of a picture, and gives what the picture says then."""
    return PICK.replace("NAME", name).replace("TITLE", title).replace("TEXT", text)


def titled(name: str, text: str) -> str:
    """A script that waits until a picture says this in its title, and gives how far that reaches to the right."""
    return until(
        f"const each = document.querySelector('figure[data-name={name}]'); each?.scrollIntoView();"
        "const title = each?.querySelector('.gtitle');"
        f"const isThere = title?.textContent.includes('{text}') && !each.querySelector('figcaption').textContent;"
        "return isThere && Math.ceil(title.getBoundingClientRect().right);",
        30,
    )


@needs_chromium
def test_what_is_seen_of_a_picture_is_chosen_beside_it_and_titles_fit_on_a_phone():
    study = found("plain").study
    page = page_of(study, findings={study.identity: found("plain")})
    with served(page) as address:
        seen = visit(
            address,
            *(titled("progress", "against evaluations"), pick("progress", "against", "cost")),
            *(titled("progress", "against cost"), titled("belief", "Belief"), pick("belief", "along", "x"), TYPE),
            *(titled("belief", "at y = 0.5"), "document.body.scrollWidth"),
            width=390,
        )
    assert seen.errors == []
    assert [seen.answers[1], seen.answers[4]] == ["waits for its turn", "waits for its turn"]
    widths = [seen.answers[i] for i in (0, 2, 3, 6, 7)]
    assert all(0 < each <= 390 for each in widths), widths


@needs_chromium
def test_without_the_token_nothing_is_seen_and_it_can_be_typed():
    study = made("one")
    opened = until("return document.querySelector('h1')?.textContent")
    asked = until("return document.querySelector('.trouble')?.textContent")
    enter = f"document.querySelector('input').value = '{TOKEN}'; document.querySelector('form button').click()"
    with served(page_of(study), TOKEN) as address:
        seen = visit(address.partition("#")[0], asked, enter, opened)
    assert "token" in seen.answers[0]
    assert seen.answers[2] == study.name
    assert all("401" in each for each in seen.errors)


@needs_chromium
@pytest.mark.parametrize(("token", "is_typed"), [(f"{ODD}%41%zz", False), (f"{ODD}%zz", True)])
def test_a_token_of_odd_signs_opens_the_page_from_the_address(token: str, is_typed: bool):
    study = made("one")
    with served(page_of(study), token) as address:
        opened = f"{address.partition('#')[0]}#token={token}" if is_typed else address
        seen = visit(opened, until("return document.querySelector('h1')?.textContent"), "location.hash")
    assert seen.errors == []
    assert seen.answers == [study.name, ""]


@needs_chromium
def test_the_studies_of_a_storage_are_listed(tmp_path: Path):
    url = database(tmp_path)
    studies = [quick(SPLIT, storage=url, name=name) for name in ("one", SCRIPT, "x" * 200)]
    links = (
        "return document.querySelector('td a') && [...document.querySelectorAll('td a')].map(each => each.textContent)"
    )
    follow = "[...document.querySelectorAll('td a')].at(-1).click()"
    with served(page_of(*studies)) as address:
        named = until("return document.querySelector('h1')?.textContent")
        seen = visit(
            address, until(links), follow, until("return location.search && document.title !== 'pesky'"), named
        )
    assert seen.errors == []
    assert seen.answers[0] == ["x" * 200, SCRIPT, "one"]
    assert seen.answers[3] == "one"


@needs_chromium
def test_another_site_can_neither_change_nor_read(tmp_path: Path):
    """A page of another origin, which sends all that a browser lets it send."""
    study = quick(SPLIT, storage=database(tmp_path))
    study.add({"x": 0.5, "y": 0.0}, {"f": 1.0})
    with served(page_of(study, write=True), TOKEN) as address:
        home = address.partition("#")[0]
        body = f'{{"study": "{study.identity}", "id": 0, "reason": "evil"}}'
        (tmp_path / "evil.html").write_text(
            f"""<form action='{home}api/change/exclude' method=post enctype=text/plain target=there>
            <input name='{body}'></form><iframe name=there></iframe>"""
        )
        known = f"{{'Content-Type': 'application/json', 'X-Pesky-Token': '{TOKEN}'}}"
        send = f"""(async () => {{
          document.querySelector('form').submit();
          const sent = [], said = each => each.type === 'opaque' ? 'opaque' : each.status;
          for (const how of [{{}}, {{ mode: 'no-cors' }}, {{ headers: {known} }}]) {{
            const post = {{ ...how, method: 'POST', body: '{body}' }};
            sent.push(await fetch('{home}api/change/exclude', post).then(said, () => 'refused'));
            sent.push(await fetch('{home}api/study', how).then(said, () => 'refused'));
          }}
          return sent;
        }})()"""
        before = study.to_json()
        seen = visit(tmp_path / "evil.html", send)
    assert set(seen.answers[0]) <= {"refused", "opaque", 403}
    assert study.to_json() == before
