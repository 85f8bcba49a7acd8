"""A program that runs a study to its budget: python -m survival.runner URL EVALUATIONS LOG [SCHEDULER]."""

import json
import os
import random
import sys
import time
from typing import Any

from survival.small import small

from pesky import Budget


def logged(log: str) -> Any:
    """A function of a third of a second that notes each call that it completes, before anybody else hears of it."""

    def measure(params: dict[str, Any]) -> dict[str, float]:
        time.sleep(0.3)
        value = random.SystemRandom().random()  # no other call returns the same
        line = json.dumps({"params": params, "f": value}) + "\n"
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, line.encode())
        os.close(descriptor)
        return {"f": value}

    return measure


def main(url: str, evaluations: int, log: str, scheduler: str | None = None) -> None:
    """Print how the run ended, after whatever happened to it before."""
    study = small(storage=url)
    executor = None
    if scheduler is not None:
        from dask.distributed import Client

        executor = Client(scheduler).get_executor(pure=False)
    print("ready", flush=True)
    sys.stdin.readline()
    ending = study.run(
        logged(log), budget=Budget(evaluations=evaluations), workers=2, executor=executor, lease=3.0, attempts=20
    )
    print(ending)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
