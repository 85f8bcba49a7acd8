"""A program's parameters, outcomes, failures and end."""

import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

from pesky.file import Command, CommandError


@pytest.fixture
def script(tmp_path):
    """A function that makes a command of the lines of a shell script."""

    def make(text: str, outcomes: tuple[str, ...] = ("f",)) -> Command:
        path = tmp_path / "measure.sh"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return Command(("./measure.sh",), str(tmp_path), outcomes)

    return make


def test_parameters_go_in_and_outcomes_come_out(tmp_path):
    (tmp_path / "measure.py").write_text(
        "import json, sys\n"
        "params = json.load(sys.stdin)\n"
        "print('epoch 1')\n"
        "print(json.dumps({'f': params['x'] * 2, 'name': params['name'], 'ok': True}))\n"
    )
    command = Command((sys.executable, "measure.py"), str(tmp_path), ("f", "ok"))
    assert pickle.loads(pickle.dumps(command))({"x": 1.5, "name": "ü"}) == {"f": 3.0, "ok": True}


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [
        ("echo start; echo '{\"f\": 1}'; echo", {"f": 1}),
        ("printf '{\\n \"f\": 1\\n}\\n'", {"f": 1}),
        ("echo 0.25", {"f": 0.25}),
        ("cat > /dev/null; pwd > where; echo 1", {"f": 1}),
        ("sleep 60 & echo 1", {"f": 1}),
    ],
    ids=["last line", "whole output", "bare number", "in its folder", "leaves a process behind"],
)
def test_what_is_printed_is_read(script, text, outcomes):
    assert script(text)({"x": 1}) == outcomes


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("echo so far; echo no license >&2; exit 3", r"ended with exit status 3\nno license"),
        ("seq 100 >&2; exit 1", r"exit status 1\n\.\.\.(.|\n)*\n99\n100$"),
        ("seq 100; exit 1", r"exit status 1\n\.\.\.(.|\n)*\n99\n100$"),
        ("kill -SEGV $$", "ended by the signal SIGSEGV"),
        ("echo hello", r"printed no JSON\nhello"),
        ("true", "printed no JSON"),
        ("echo '{\"g\": 1}'", r"""printed \{"g": 1\}, without 'f'"""),
        ("echo '[1]'", r"printed \[1\]: expected an object"),
        ("echo true > /dev/null; echo '\"a\"'", "expected an object"),
    ],
)
def test_a_failure_says_how_the_program_ended(script, text, says):
    with pytest.raises(CommandError, match=says):
        script(text)({"x": 1})


def test_what_a_program_says_is_passed_on_as_it_comes(script, capfd):
    assert script("echo epoch 1 >&2; echo 1")({"x": 1}) == {"f": 1}
    assert capfd.readouterr() == ("", "epoch 1\n")


def test_a_failure_of_many_words_keeps_the_last(script):
    from pesky.study.call import measure

    report = measure(script("seq 1000 >&2; echo no license >&2; exit 3"), {"x": 1})
    assert "exit status 3" in str(report.error)
    assert "no license" in str(report.error)


def test_a_program_that_has_gone_is_named(tmp_path):
    with pytest.raises(CommandError, match=r"'\./gone' is no program"):
        Command(("./gone",), str(tmp_path), ("f",))({})


def is_alive(pid: int) -> bool:
    """Whether the process runs: one that is dead but not yet waited for does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(condition, seconds: float = 10) -> bool:
    """Whether the condition came to hold."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not condition():
        time.sleep(0.02)
    return condition()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_all_that_a_program_started_ends_with_the_process_that_called_it(script, tmp_path, how):
    command = script("sleep 60 & echo $! > inner; echo $$ > outer; wait")
    code = f"from pesky.file import Command; Command({command.arguments!r}, {command.folder!r}, ('f',))({{}})"
    caller = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    try:
        assert until(lambda: (tmp_path / "outer").exists() and (tmp_path / "outer").read_text().endswith("\n"))
        pids = [int((tmp_path / name).read_text()) for name in ("inner", "outer")]
        assert all(map(is_alive, pids))
        os.kill(caller.pid, how)
        assert until(lambda: not any(map(is_alive, pids)))
    finally:
        caller.kill()
        caller.wait()


def test_a_program_may_clean_up_before_it_is_killed(script, tmp_path):
    command = script("trap 'echo cleaned > cleaned; exit' TERM; echo $$ > outer; sleep 60 & wait")
    code = f"from pesky.file import Command; Command({command.arguments!r}, {command.folder!r}, ('f',))({{}})"
    caller = subprocess.Popen([sys.executable, "-c", code])
    assert until(lambda: (tmp_path / "outer").exists())
    caller.kill()
    caller.wait()
    assert until(lambda: (tmp_path / "cleaned").exists())
