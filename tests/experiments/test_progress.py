import io

import pytest

from experiments import progress
from experiments.progress import Progress, clock


class Terminal(io.StringIO):
    encoding = "utf-8"  # pyright: ignore[reportAssignmentType]

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_one_line_is_rewritten():
    stream = Terminal()
    with Progress("2a pesc", realisations=500, steps=50, stream=stream) as bar:
        bar.advance(24, 2.0)
        bar.advance(25, 4.0)
    written = stream.getvalue()
    assert written.count("\n") == 1
    assert written.count("\r") == 2
    last = written.rsplit("\x1b[2K", 1)[1]
    assert last == "2a pesc  500 x 25/50  ████████████░░░░░░░░░░░░  3 s/step  1:15 left\n"


def test_elsewhere_a_line_every_ten_seconds_and_the_last(monkeypatch):
    now = iter(range(0, 1000, 3))
    monkeypatch.setattr(progress, "monotonic", lambda: next(now))
    stream = io.StringIO()
    with Progress("2a", realisations=2, steps=8, stream=stream) as bar:
        for step in range(1, 9):
            bar.advance(step, 1.0)
    lines = stream.getvalue().splitlines()
    assert 2 < len(lines) < 6
    assert "2 x 1/8  ###---" in lines[0]
    assert lines[-1] == f"2a  2 x 8/8  {'#' * 24}  1 s/step  0:00 left"
    assert "\r" not in stream.getvalue()


def test_the_pace_is_that_of_this_run_and_a_failure_is_not_hidden():
    stream = io.StringIO()

    def fail_after_a_step():
        with Progress("2a", steps=50, stream=stream) as bar:
            bar.skip(40)
            bar.advance(41, 2.0)
            raise KeyError

    with pytest.raises(KeyError):
        fail_after_a_step()
    assert "41/50" in stream.getvalue()
    assert "2 s/step  0:18 left" in stream.getvalue()


@pytest.mark.parametrize(("seconds", "shown"), [(0.2, "0:00"), (75, "1:15"), (3675.4, "1:01:15")])
def test_clock(seconds, shown):
    assert clock(seconds) == shown


def test_a_step_too_far_leaves_no_time():
    bar = Progress("pair", steps=15, stream=Terminal())
    bar.advance(16, seconds=2.0)
    assert bar.line().endswith("s/step  0:00 left")
    assert bar.line().count("█") == progress.WIDTH
