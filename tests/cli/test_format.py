"""Values in words."""

import io
import re
from types import SimpleNamespace

import pytest
from rich.console import Console

from pesky.cli.dashboard import DashboardState, dashboard
from pesky.cli.format import exact, measured, values
from pesky.cli.live_view import LiveView
from pesky.cli.log_view import LogView
from pesky.data.formatting import first_line, is_feasible
from pesky.problem import Problem, Real, Task
from pesky.store import Evaluation, State
from pesky.store.evaluation import short
from pesky.study import Budget, Progress
from pesky.wording import duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0.0 s"), (0.04, "0.0 s"), (9.94, "9.9 s"), (9.96, "10 s"), (59.4, "59 s"), (59.6, "1 min 00 s"),
        (3599, "59 min 59 s"), (3600, "1 h 00 min"), (86400, "24 h 00 min"), (200000, "2 d 7 h"),
    ],
)  # fmt: skip
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_of_an_error_the_first_line_is_shown():
    assert first_line("\nValueError: a\n  b") == "ValueError: a"
    assert first_line(None) == ""


TWO = Problem(
    {"x": Real(0, 1)},
    minimize="f",
    constraints=["c <= 1", "ok is false"],
    tasks={"a": Task(["f", "c"], failures="learn"), "b": Task(["ok"]), "all": Task(["f", "c", "ok"])},
)


@pytest.mark.parametrize(
    ("task", "state", "outcomes", "expected"),
    [
        ("all", State.DONE, {"f": 0, "c": 1, "ok": 0}, True),
        ("all", State.DONE, {"f": 0, "c": 1.1, "ok": 0}, False),
        ("all", State.DONE, {"f": 0, "c": 1, "ok": 1}, False),
        ("a", State.DONE, {"f": 0, "c": 1}, None),
        ("a", State.DONE, {"f": 0, "c": 2}, False),
        ("a", State.FAILED, {}, False),
        ("b", State.FAILED, {}, None),
        ("b", State.PENDING, {}, None),
    ],
)
def test_feasible_is_what_was_measured_to_be_so(task, state, outcomes, expected):
    assert is_feasible(Evaluation(0, task, {"x": 0.5}, state=state, outcomes=outcomes), TWO) is expected


HOSTILE = "\x1b]0;title\x07\x1b[2Jred\x1b[31m\nbell\x07 \x9b2J \u202eback\u2028 half \ud800"
"""A title, a blank screen, a color, a new line, controls of one character, writing turned around, no character."""
WRITTEN = re.compile(r"\x1b\[[0-9;]*m")


def assert_harmless(text):
    """No more than the colors and lines that the view itself made."""
    left = WRITTEN.sub("", text).replace("\n", "")
    assert left.isprintable(), ascii(left)


@pytest.mark.parametrize(
    "text",
    [
        short(HOSTILE), exact(HOSTILE), first_line(HOSTILE), first_line(f"ValueError: {HOSTILE}\n  at {HOSTILE}"),
        values({"k": HOSTILE}), values({HOSTILE: 1}), measured(Evaluation(0, "a", {}, outcomes={HOSTILE: 1.0}), TWO),
    ],
    ids=["value", "exact value", "error", "error with places", "values", "names", "outcomes"],
)  # fmt: skip
def test_words_are_what_a_terminal_shows_and_not_what_it_does(text):
    assert text.isprintable(), ascii(text)
    assert "back" in text


def test_values_to_be_copied_are_whole():
    assert exact("two  blanks " + "x" * 300) == "two  blanks " + "x" * 300
    assert exact("\t") == r"'\t'"
    assert exact(0.123456789) == "0.123457"


def hostile_progress(*states):
    """Where a run stands whose storage somebody else wrote to."""
    each = [
        Evaluation(i, HOSTILE, {"x": HOSTILE}, state=state, error=HOSTILE, worker=HOSTILE, began=0.0, revision=1)
        for i, state in enumerate(states)
    ]
    study = SimpleNamespace(problem=TWO, name=HOSTILE, evaluations={e.id: e for e in each})
    running = [e for e in each if e.is_open]
    return Progress(
        study=study, last=None, budget=Budget(evaluations=3), running=running,  # pyright: ignore[reportArgumentType]
        spent={}, done=0, failed=1, lost=0, seconds=1.0, state="waiting",
    )  # fmt: skip


def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=240, markup=False, highlight=False)


def printed(console):
    return console.file.getvalue()


def test_a_view_shows_nothing_that_a_terminal_obeys():
    state, screen = DashboardState(HOSTILE, trouble=HOSTILE), terminal()
    state.take(hostile_progress(State.FAILED, State.RUNNING))
    screen.print(dashboard(state, 1.0))
    assert printed(screen).count("back") == 6
    assert_harmless(printed(screen))


def test_plain_lines_have_nothing_that_a_terminal_obeys():
    screen = terminal()
    watch = LogView(screen, SimpleNamespace(evaluations={}))  # pyright: ignore[reportArgumentType]
    watch(hostile_progress(State.FAILED, State.LOST, State.RUNNING))
    assert len(printed(screen).splitlines()) == 2
    assert_harmless(printed(screen))


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("\x1b[31mred\x1b[0m plain", "\x1b[31mred\x1b[0m plain"),
        ("\x1b[1;38;2;1;2;3mtrue\x1b[m", "\x1b[1;38;2;1;2;3mtrue\x1b[0m"),
        ("up\x1b[3A down\x1b[2J\x1b[H", "up down"),
        ("\x1b]0;title\x07a\x1b]2;title\x1b\\b", "ab"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP+q\x1b\\a\x1bc\x1b7", "a"),
        ("\x1b]0;never ends", r"\x1b]0;never ends"),
        ("bell\x07 back\x08\x08 C1 \x9b2J \x1b", r"bell\x07 back\x08\x08 C1 \x9b2J \x1b"),
        ("\x1b\x1b[31m[2J", "\\x1b\x1b[31m[2J\x1b[0m"),
        (f"\x1b[{'1' * 5000}mtoo long", "too long"),
    ],
)
def test_what_programs_print_has_its_colors_and_does_nothing_else(line, shown):
    screen = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=80)
    LiveView(screen, "network.db").print(line)
    assert printed(screen) == f"{shown}\n"
