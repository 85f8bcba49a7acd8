"""The process that does what takes seconds."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pesky.errors import PeskyError
from pesky.page.background import COMMAND, Background, Busy

ECHO = (sys.executable, str(Path(__file__).with_name("echo.py")))
SECRET = "postgresql://user:secret@host/database"


@pytest.fixture
def background():
    made = Background(SECRET, most=1, command=ECHO)
    yield made
    made.end()


def test_one_process_answers_all_and_errors_are_in_its_words(background: Background):
    first, second = background.call("draw", name="why"), background.call("draw", name="belief")
    assert (first["name"], second["name"], first["given"]) == ("why", "belief", SECRET)
    assert first["process"] == second["process"] != os.getpid()
    with pytest.raises(PeskyError, match=r"^no$"):
        background.call("complain")


def test_it_may_begin_before_it_is_asked(background: Background):
    background.start()
    begun = background._process
    assert begun is not None
    background.start()
    assert background.call("draw")["process"] == begun.pid


def test_one_that_died_is_said_and_replaced(background: Background):
    first = background.call("draw")
    with pytest.raises(PeskyError, match=r"exit code 3.*memory"):
        background.call("die")
    assert background.call("draw")["process"] != first["process"]


def test_a_password_is_on_no_command_line(background: Background):
    process = background.call("draw")["process"]
    assert b"secret" not in Path(f"/proc/{process}/cmdline").read_bytes()


def test_more_than_can_wait_are_told_so(background: Background):
    background._turn.acquire()
    waiting = threading.Thread(target=background.call, args=("draw",))
    waiting.start()
    while background._places._value:  # pyright: ignore[reportAttributeAccessIssue]
        pass
    with pytest.raises(Busy, match="try again"):
        background.call("draw")
    background._turn.release()
    waiting.join()


def test_nothing_is_left_of_it(background: Background):
    process = background.call("draw")["process"]
    background.end()
    assert not Path(f"/proc/{process}").exists()


def test_it_ends_without_a_word_where_the_page_ends_before_anybody_asked():
    done = subprocess.run(COMMAND, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
