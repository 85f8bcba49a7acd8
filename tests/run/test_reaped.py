"""Nothing is left of a program or a function, not even a daemon; and what is anybody else's stays."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from stopwatch import Stopwatch

from pesky.run import reaper
from pesky.run.processes import Processes
from pesky.run.reaped import Reaped
from pesky.study_file import Command

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, what leaves its process group is let go")
LONG = 60.0

DAEMON = """
import os, signal, sys, time

def daemon(path, deaf=False):
    "A process that leaves group, session and parent, and writes its number into the folder."
    if os.fork():
        os.wait()
    else:
        os.setsid()
        if os.fork():
            os._exit(0)
        if deaf:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for number in range(3):
            os.close(number)
        open(os.path.join(path, f".{os.getpid()}"), "w").close()
        os.rename(os.path.join(path, f".{os.getpid()}"), os.path.join(path, str(os.getpid())))
        time.sleep(600)
        os._exit(0)
    while not [name for name in os.listdir(path) if name.isdecimal()]:
        time.sleep(0.01)
"""


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def until(condition) -> None:
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.fixture
def left(tmp_path):
    """A folder where daemons write their numbers, and a function that gives these."""
    folder = tmp_path / "left"
    folder.mkdir()

    def numbers() -> list[int]:
        return [int(name) for name in os.listdir(folder) if name.isdecimal()]

    numbers.folder = str(folder)  # pyright: ignore[reportFunctionMemberAccess]
    yield numbers
    for pid in numbers():
        if not is_gone(pid):
            os.kill(pid, signal.SIGKILL)


def leaving(folder: str, then: float = 0.0, deaf: bool = False):
    """A function that leaves a daemon, and goes on for so many seconds."""
    code = DAEMON

    def leave(params):
        names: dict = {}
        exec(code, names)
        names["daemon"](folder, deaf)
        time.sleep(then)
        return 1.0

    return leave


@LINUX
@pytest.mark.parametrize("deaf", [False, True])
def test_a_daemon_of_a_function_ends_with_the_processes(left, deaf):
    with Processes(1) as processes:
        assert processes.call(leaving(left.folder, deaf=deaf), {}).result(LONG).outcomes == {"": 1.0}
        (pid,) = left()
        assert processes.call(lambda params: 2.0, {}).result(LONG).outcomes == {"": 2.0}
        assert not is_gone(pid)  # it may be what the next call needs
    assert is_gone(pid)


@LINUX
@pytest.mark.parametrize("how", ["kill", "time-out", "death"])
def test_a_daemon_of_a_function_ends_however_that_ends(left, how):
    processes = Processes(1)
    future = processes.call(leaving(left.folder, then=600), {}, timeout=1.5 if how == "time-out" else None)
    until(left)
    (pid,) = left()
    if how == "death":
        # what another test left may be a zombie, which has no command line any more
        below = [each for each in psutil.Process().children(recursive=True) if not is_gone(each.pid)]
        below = [each for each in below if each.cmdline()[1] == "-P"]
        (child,) = [each for each in below if each.pid != pid]
        child.kill()
    if how == "kill":
        with Stopwatch() as watch:
            processes.kill()
        assert watch.seconds < 2
    future.exception(LONG)
    assert is_gone(pid)
    processes.kill()


RUNS = """
import sys
from pesky.run.processes import Processes
{daemon}
def leave(params):
    daemon(sys.argv[1])
    sum(range(10**13))  # never lets another thread run

Processes(1).call(leave, {{}}).result()
"""


@LINUX
def test_a_daemon_of_a_function_ends_with_a_script_that_is_killed(left, tmp_path):
    (tmp_path / "script.py").write_text(RUNS.format(daemon=DAEMON))
    with subprocess.Popen([sys.executable, str(tmp_path / "script.py"), left.folder]) as script:
        until(left)
        script.kill()
    until(lambda: all(map(is_gone, left())))


def program(tmp_path: Path, text: str) -> Command:
    (tmp_path / "measure.py").write_text(text)
    return Command((sys.executable, "measure.py"), str(tmp_path), ("f",))


@LINUX
@pytest.mark.parametrize("deaf", [False, True])
def test_a_daemon_of_a_command_ends_with_the_call(left, tmp_path, deaf):
    """And another process's children are nobody's business: neither killed nor waited for."""
    mine = subprocess.Popen(["sleep", "600"])
    quick = subprocess.Popen(["sh", "-c", "exit 7"])
    stray = subprocess.check_output(["sh", "-c", "setsid sleep 600 > /dev/null 2>&1 & echo $!"])
    try:
        command = program(tmp_path, f"{DAEMON}\ndaemon({left.folder!r}, {deaf})\nprint(1.0)\n")
        assert command({}) == {"f": 1.0}
        (pid,) = left()
        assert is_gone(pid)
        assert mine.poll() is None
        assert quick.wait() == 7
        assert not is_gone(int(stray))
    finally:
        mine.kill()
        mine.wait()
        os.kill(int(stray), signal.SIGKILL)


@pytest.mark.parametrize(
    ("text", "status"),
    [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", -15), ("kill -KILL $$", -9), ("kill -ABRT $$", -6)],
)
def test_it_ends_as_the_program_does(text, status):
    with Reaped(["/bin/sh", "-c", text], signal.SIGTERM) as reaped:
        assert reaped.process.wait(LONG) == status


def test_a_program_that_cannot_be_run_says_so(tmp_path):
    path = tmp_path / "text"
    path.write_text("no program")
    with Reaped([str(path)], signal.SIGTERM, stderr=subprocess.PIPE) as reaped:
        assert reaped.process.communicate(timeout=LONG)[1] == f"{path} cannot be run: Permission denied\n".encode()
        assert reaped.process.returncode == 127


def test_what_it_is_sent_the_program_gets_once(tmp_path):
    """Before what is left is killed: a clean-up may take its time."""
    text = "trap 'echo asked >> asked; sleep 0.5; echo done >> asked; exit 5' TERM; echo > ready; sleep 600 & wait"
    with Reaped(["/bin/sh", "-c", text], signal.SIGTERM, cwd=tmp_path, process_group=0) as reaped:
        until((tmp_path / "ready").exists)
        reaped.process.terminate()
        reaped.process.terminate()
        assert reaped.bury() == 5
    assert (tmp_path / "asked").read_text() == "asked\ndone\n"


def test_a_program_has_the_usual_descriptors_alone():
    command = [sys.executable, "-c", "import os; print(len(os.listdir('/dev/fd')))"]
    with Reaped(command, signal.SIGTERM, stdout=subprocess.PIPE) as reaped:
        assert reaped.process.communicate()[0] == subprocess.check_output(command)


def test_where_no_process_is_handed_over_the_group_ends(tmp_path):
    """As on macOS; here, as if the kernel had no such thing."""
    text = "sleep 600 & echo $! > inner; exit 4"
    code = (
        "import os, runpy, sys\n"
        f"names = runpy.run_path({reaper.__file__!r})\n"
        "names['Reaper'].__init__.__globals__['_prctl'] = lambda *_: False\n"
        "mine, _ = os.pipe()\n"
        f"names['_leave_as'](names['Reaper'](['/bin/sh', '-c', {text!r}]).watch(mine, 15))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, timeout=LONG).returncode == 4
    assert is_gone(int((tmp_path / "inner").read_text()))
