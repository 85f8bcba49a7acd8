"""A program that runs a study, to be killed: python -m survival.main_process URL FOLDER EVALUATIONS [DASK].

Every call that was completed is a line in FOLDER/calls: parameters and outcomes, as JSON. Every result that the program
has seen in the storage is a line in FOLDER/told: id and outcomes. While FOLDER/hold exists no call ends, and
the process of each one that waits is the name of a file in FOLDER/held. DASK is the address of a scheduler.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from survival.small import small

from pesky.study import Budget, Progress

LEASE = 2.0


def write(path: Path, line: object) -> None:
    """Append a line, wholly or not at all."""
    handle = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY)
    os.write(handle, (json.dumps(line) + "\n").encode())
    os.close(handle)


def main(url: str, folder: Path, evaluations: int, dask: str | None) -> None:
    """Print how the run ended."""
    calls, told, seen = folder / "calls", folder / "told", set()
    hold, held = folder / "hold", folder / "held"
    held.mkdir(exist_ok=True)

    def slowly(params: Any) -> dict[str, float]:
        """A value that no other call returns, after a while; without a library, so that children start at once."""
        import random
        import time

        chance = random.SystemRandom()
        time.sleep(chance.uniform(0.05, 0.15))
        while hold.exists():
            (held / str(os.getpid())).touch()
            time.sleep(0.02)
        outcomes = {"f": sum(params.values()) + chance.gauss(0, 0.1)}
        write(calls, [params, outcomes])
        return outcomes

    def watch(progress: Progress) -> None:
        for e in progress.study.evaluations.values():
            if e.outcomes and e.id not in seen:
                seen.add(e.id)
                write(told, [e.id, dict(e.outcomes)])

    executor = None
    if dask is not None:
        from distributed import Client

        executor = Client(dask).get_executor(pure=False)
    print("ready", flush=True)
    sys.stdin.readline()
    study = small(storage=url)
    print(study.run(slowly, Budget(evaluations=evaluations), workers=2, executor=executor, watch=watch, lease=LEASE))


main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else None)
