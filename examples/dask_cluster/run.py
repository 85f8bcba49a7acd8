"""`python -m examples.dask_cluster.run [SCHEDULER]`: evaluations on a Dask cluster, a local one if no address is given.

The study stays in this process; Dask's workers only call the function, so they need no access to the storage. Kill a
worker, or this program, at any moment and run it again: it goes on where it was.
"""

import argparse
import math
import os
import time
from contextlib import ExitStack
from pathlib import Path

from dask.distributed import Client, LocalCluster, get_worker

import pesky

problem = pesky.Problem(
    parameters={"temperature": pesky.Real(300, 500), "pressure": pesky.Real(1, 50, log=True)},
    maximize="output",
    constraints=["impurity <= 0.05"],
)


def react(params: dict[str, float]) -> dict[str, float]:
    """A reactor that takes half a second to settle, somewhere on the cluster."""
    time.sleep(0.5)
    t, p = (params["temperature"] - 400) / 100, math.log(params["pressure"])
    here = f"worker {get_worker().name} (process {os.getpid()})"
    print(f"{here}: {params['temperature']:.1f} K, {params['pressure']:.2f} bar")
    return {"output": 2 + t + 0.5 * p - 0.15 * p * p - 0.5 * t * t, "impurity": 0.02 * math.exp(1.5 * t) + 0.004 * p}


def main(scheduler: str | None, storage: str, evaluations: int) -> None:
    """Runs the study to so many evaluations, four at a time."""
    study = pesky.Study(problem, storage=storage, name="reactor")
    budget = pesky.Budget(evaluations=evaluations)
    with ExitStack() as stack:
        cluster = None
        if scheduler is None:
            cluster = LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0")
            stack.callback(cluster.close)
        client = stack.enter_context(Client(scheduler or cluster))
        # pure=False: Dask takes equal calls for one otherwise, and a noisy measurement could never be repeated
        ending = study.run(react, budget, executor=client.get_executor(pure=False), workers=4)
    print(ending, study.recommend(), sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scheduler", nargs="?", help="like tcp://host:8786")
    parser.add_argument("--storage", default=f"sqlite:///{Path(__file__).with_name('reactor.db')}", metavar="URL")
    parser.add_argument("--evaluations", type=int, default=24)
    given = parser.parse_args()
    main(given.scheduler, given.storage, given.evaluations)
