"""A program's parameters, outcomes, failures and end."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest
from stopwatch import Stopwatch

from pesky.study_file import Command, CommandError


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
    given = {"x": 1.5, "name": "ü"}
    assert pickle.loads(pickle.dumps(command))(given) == {"f": 3.0, "ok": True, "name": "ü"}  # a key more is kept


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [
        ("echo start; echo '{\"f\": 1}'; echo", {"f": 1}),
        ("printf '{\\n \"f\": 1\\n}\\n'", {"f": 1}),
        ("echo 0.25", {"f": 0.25}),
        ('echo \'{"f": 1, "epochs": 12, "note": "ok"}\'', {"f": 1, "epochs": 12, "note": "ok"}),
        ("cat > /dev/null; pwd > where; echo 1", {"f": 1}),
        ("sleep 60 & echo 1", {"f": 1}),
    ],
    ids=["last line", "whole output", "bare number", "more than asked for", "in its folder", "leaves a process behind"],
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


PRINTS = "import sys; [sys.{to}.write({text!r} * 2**16) for _ in range({times})]; print(); print(0.25)"
CALLS = """
import resource, sys
from pesky.study_file import Command
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert Command((sys.executable, "-c", sys.argv[1]), ".", ("f",))({}) == {"f": 0.25}
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / (2**20 if sys.platform == "darwin" else 2**10))
"""


@pytest.mark.parametrize(
    "program",
    [
        PRINTS.format(to="stdout", text="a line of a log\n", times=100),
        PRINTS.format(to="stdout", text="a line of a log ", times=100),
        PRINTS.format(to="stderr", text="a line of a log ", times=100),
    ],
    ids=["lines", "no line", "messages"],
)
def test_a_program_may_print_a_hundred_megabytes(program):
    """Measured in a process of its own: no more than a few megabytes are kept of what came before the outcomes."""
    extra = subprocess.check_output([sys.executable, "-c", CALLS, program], stderr=subprocess.DEVNULL)
    assert float(extra) < 50  # it was 250 to 650


def test_a_text_of_a_megabyte_is_read_as_a_whole(script, tmp_path):
    (tmp_path / "long.json").write_text('{"g": [\n' + "0,\n" * 330_000 + '0],\n"f": 1}\n')
    assert script("cat long.json")({})["f"] == 1


@pytest.mark.parametrize("text", ["1" * 2**21, "[" + "1," * 2**20 + "1]"])
def test_what_is_left_of_a_longer_line_is_not_taken_for_the_outcomes(script, tmp_path, text):
    (tmp_path / "long.json").write_text(text)
    with pytest.raises(CommandError, match=r"printed no JSON\n\.\.\.[^\n]{200}\n\(this line is longer than"):
        script("cat long.json")({})


def test_blank_lines_are_no_long_line(script):
    with pytest.raises(CommandError, match=r"printed no JSON$"):
        script("head -c 2000000 /dev/zero | tr '\\0' '\\n'")({})


@pytest.mark.parametrize("text", ["1" * 5000, "[" * 100_000])
def test_what_python_cannot_read_is_no_json(script, tmp_path, text):
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(CommandError, match="printed no JSON"):
        script("cat odd.json")({})


def test_a_failure_keeps_no_orders_to_a_terminal(script):
    with pytest.raises(CommandError, match=r"exit status 3\nno license$"):
        script("printf '\\033]0;title\\007\\033[2J\\033[31mno license\\033[0m' >&2; exit 3")({})


LEAVES = """
import os, sys, time
daemon = os.fork()
if daemon == 0:
    os.setsid()
    open(f"daemons/{os.getpid()}", "w").close()
    time.sleep(60)
else:
    while not os.path.exists(f"daemons/{daemon}"):
        time.sleep(0.01)
    print("no license", file=sys.stderr)
    print(1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_daemon_that_holds_the_pipes_open_costs_nothing(tmp_path, capfd):
    (tmp_path / "leave.py").write_text(LEAVES)
    (tmp_path / "daemons").mkdir()
    command = Command((sys.executable, "leave.py"), str(tmp_path), ("f",))

    def held() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    before = held()
    with Stopwatch() as watch:
        for _ in range(4):
            assert command({}) == {"f": 1}
    assert held() == before
    assert watch.seconds < 4  # where the pipes' ends were waited for, it was a second and more a call
    daemons = [int(pid) for pid in os.listdir(tmp_path / "daemons")]
    assert [is_alive(pid) for pid in daemons] == [False] * 4
    assert capfd.readouterr().err == "no license\n" * 4


def test_a_failure_of_many_words_keeps_the_last(script):
    from pesky.run.call import measure

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
    code = f"from pesky.study_file import Command; Command({command.arguments!r}, {command.folder!r}, ('f',))({{}})"
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
    code = f"from pesky.study_file import Command; Command({command.arguments!r}, {command.folder!r}, ('f',))({{}})"
    caller = subprocess.Popen([sys.executable, "-c", code])
    assert until(lambda: (tmp_path / "outer").exists())
    caller.kill()
    caller.wait()
    assert until(lambda: (tmp_path / "cleaned").exists())
