"""What is drawn when: what somebody looks at, once for a state of the study."""

from typing import Any

import pytest

from pesky.errors import PeskyError
from pesky.page.background import Background
from pesky.page.drawings import AFTER_AN_ERROR, LONGEST, PICTURES, STUDIES, WANTED, Drawings


class Painter(Background):
    """One that draws at once, of studies whose states it is told."""

    def __init__(self) -> None:
        super().__init__("")
        self.now: dict[str, str] = {}
        self.seen: dict[str, str] = {}
        self.is_broken = False

    def call(self, what: str, **arguments: Any) -> Any:
        if self.is_broken:
            raise PeskyError("broken")
        study = arguments["study"]
        if arguments["renew"] or study not in self.seen:
            self.seen[study] = self.now[study]
        return {"state": self.seen[study], "count": 3, "content": "{}"}


class Easel:
    """Drawings that are made when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.time = 100.0
        monkeypatch.setattr("time.monotonic", lambda: self.time)
        self.painter = Painter()
        self.drawings = Drawings(self.painter)

    def look(self, *names: str, study: str = "s", state: str = "1") -> Any:
        self.painter.now[study] = state
        return self.drawings.want(study, state, names)

    def draw(self) -> list[tuple[str, str]]:
        """All that is drawn until nothing is left to do: pictures and the states that they are of."""
        made = []
        while (found := self.drawings._next(self.time)) is not None:
            drawing = self.drawings._drawn(*found)
            self.drawings._keep(found[0], found[1], drawing)
            made.append((found[1], drawing.state))
            self.time += 0.001
        return made


@pytest.fixture
def easel(monkeypatch: pytest.MonkeyPatch) -> Easel:
    return Easel(monkeypatch)


def test_each_picture_that_is_looked_at_is_drawn_once_for_a_state(easel: Easel):
    easel.look("belief", "answer")
    assert easel.draw() == [("answer", "1"), ("belief", "1")]
    easel.look("belief", "answer", "nonsense")
    assert easel.draw() == []
    told = easel.look("belief", "answer", state="2")
    assert not told["belief"]["is_current"]
    assert easel.draw() == [("answer", "2"), ("belief", "2")]
    assert easel.look("belief", state="2")["belief"] == {"state": "2", "count": 3, "is_current": True}


def test_what_nobody_looks_at_any_more_is_not_drawn(easel: Easel):
    easel.look("why")
    easel.time += WANTED + 1
    assert easel.draw() == []


def test_all_that_is_looked_at_is_drawn_of_one_moment_though_the_study_goes_on(easel: Easel):
    easel.look("answer", "belief", "why")
    (study, name, is_anew) = easel.drawings._next(easel.time) or ("", "", False)
    assert is_anew
    easel.drawings._keep(study, name, easel.drawings._drawn(study, name, is_anew))
    easel.look("answer", "belief", "why", state="2")
    made = easel.draw()
    assert made[:2] == [("belief", "1"), ("why", "1")]
    assert sorted(made[2:]) == [("answer", "2"), ("belief", "2"), ("why", "2")]


def test_a_picture_rests_for_as_long_as_it_took(easel: Easel, monkeypatch: pytest.MonkeyPatch):
    easel.look("belief")
    call = easel.painter.call

    def slowly(what: str, **arguments: Any) -> Any:
        easel.time += 4
        return call(what, **arguments)

    monkeypatch.setattr(easel.painter, "call", slowly)
    easel.draw()
    easel.look("belief", state="2")
    assert easel.draw() == []
    easel.time += 4
    easel.look("belief", state="2")
    assert easel.draw() == [("belief", "2")]


def test_what_could_not_be_drawn_says_why_and_is_tried_again_later(easel: Easel):
    easel.painter.is_broken = True
    easel.look("belief")
    assert easel.draw() == [("belief", "")]
    drawn = easel.drawings.get("s", "belief")
    assert drawn is not None
    assert b"broken" in drawn.content
    easel.painter.is_broken = False
    easel.look("belief")
    assert easel.draw() == []
    easel.time += AFTER_AN_ERROR
    easel.look("belief")
    assert easel.draw() == [("belief", "1")]


def test_pictures_of_so_many_studies_are_kept(easel: Easel):
    for i in range(3 * STUDIES):
        easel.look("belief", study=f"s{i}")
        easel.draw()
    kept = [i for i in range(3 * STUDIES) if easel.drawings.get(f"s{i}", "belief")]
    assert kept == list(range(2 * STUDIES, 3 * STUDIES))


def test_a_picture_with_other_options_is_another_picture(easel: Easel):
    cost = 'progress {"against":"cost"}'
    easel.look("progress", "why")
    assert easel.draw() == [("progress", "1"), ("why", "1")]
    easel.look(cost, "why", "nonsense {}", f"progress {'x' * LONGEST}")
    assert easel.draw() == [(cost, "1")]
    assert easel.drawings.get("s", cost) is not None


def test_however_many_are_wanted_so_many_are_kept(easel: Easel):
    names = [f'belief {{"along":[{i}]}}' for i in range(2 * PICTURES)]
    for name in names:
        easel.look(name)
        easel.draw()
    assert [name for name in names if easel.drawings.get("s", name)] == names[PICTURES:]
    found = easel.look(*names)
    assert set(found) == set(names[PICTURES:])
    easel.drawings._keep("s", names[0], easel.drawings._drawn("s", names[0], False))
    assert easel.drawings.get("s", names[0]) is None  # forgotten while it was drawn


def test_it_says_what_is_being_drawn(easel: Easel):
    easel.drawings._drawing = ("s", "why")
    assert easel.look("why") == {"why": {"is_drawn": True}}
    assert easel.look("why", study="t") == {}


def test_what_draws_begins_before_anybody_looks(monkeypatch: pytest.MonkeyPatch):
    begun: list[str] = []
    painter = Painter()
    monkeypatch.setattr(painter, "start", lambda: begun.append("painter"))
    drawings = Drawings(painter)
    drawings.start()
    drawings.end()
    assert begun == ["painter"]
