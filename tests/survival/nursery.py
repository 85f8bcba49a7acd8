"""A program that has loaded everything and forks off one run after another, to be killed: python -m survival.nursery.

Each line on its standard input is a run as a JSON object: `url`, `folder`, `evaluations`, and what else `run` takes.
Its process is printed. A run ends itself with a line in FOLDER/ends: its process and how it ended. What it measures is
in FOLDER/calls, as in `main_process`; here by a function that needs no library, so that children start at once.
"""

import json
import os
import signal
import sys
import traceback
from typing import Any

from survival.small import NAMES, NOISE

from pesky import Budget, Problem, Real, Study, Task
from pesky.errors import PeskyError
from pesky.study import Progress

PROBLEM = Problem(
    {name: Real(0, 1) for name in NAMES},
    minimize="f",
    noise=NOISE,
    tasks={"all": Task(["f"], failures="learn")},
)  # fmt: skip


def nursling(**given: Any) -> Study:
    """A study whose failures are learnt, and whose questions cost nothing to choose."""
    return Study(PROBLEM, rule="random", **given)


def slowly(params: Any) -> dict[str, float]:
    """A value that no other call returns, after a while."""
    import json
    import os
    import random
    import time

    chance = random.SystemRandom()
    time.sleep(chance.uniform(*json.loads(os.environ.get("PESKY_TESTS_SLOW", "[0.02, 0.08]"))))
    outcomes = {"f": sum(params.values()) + chance.gauss(0, 0.1)}
    handle = os.open(os.path.join(os.environ["PESKY_TESTS_FOLDER"], "calls"), os.O_APPEND | os.O_CREAT | os.O_WRONLY)
    os.write(handle, (json.dumps([params, outcomes]) + "\n").encode())
    os.close(handle)
    return outcomes


def run(url: str, folder: str, evaluations: int, lease: float = 2.0, workers: int | None = 2, seed: int = 0) -> str:
    """How a run of the study ended."""
    os.environ["PESKY_TESTS_FOLDER"] = folder
    os.chdir(folder)
    told = set()

    def watch(progress: Progress) -> None:
        for e in progress.study.evaluations.values():
            if e.outcomes and e.id not in told:
                told.add(e.id)
                write(folder, "told", [e.study, e.id, dict(e.params), dict(e.outcomes)])

    study = nursling(storage=url, seed=seed)
    return str(study.run(slowly, Budget(evaluations=evaluations), workers=workers, watch=watch, lease=lease))


def write(folder: str, name: str, line: object) -> None:
    """Append a line, wholly or not at all."""
    handle = os.open(os.path.join(folder, name), os.O_APPEND | os.O_CREAT | os.O_WRONLY)
    os.write(handle, (json.dumps(line) + "\n").encode())
    os.close(handle)


def main() -> None:
    """Fork a run for each line."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody has to bury them
    print("ready", flush=True)
    while line := sys.stdin.readline():
        given = json.loads(line)
        pid = os.fork()
        if pid:
            print(pid, flush=True)
            continue
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        status = 0
        try:
            write(given["folder"], "ends", [os.getpid(), run(**given)])
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
            write(given["folder"], "ends", [os.getpid(), f"exit {status}"])
        except PeskyError as error:
            write(given["folder"], "ends", [os.getpid(), f"{type(error).__name__}: {error}"])
        except BaseException:
            traceback.print_exc()
            status = 1
        os._exit(status)


if __name__ == "__main__":
    main()
