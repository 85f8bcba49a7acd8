"""`python -m examples.slurm.run`: each evaluation a Slurm job, by way of submitit.

Without Slurm the jobs are processes of this machine; `--cluster debug` runs them in this very process, for a debugger.
Keep this program running on the login node: it asks, submits and tells. When it is killed, run it again: it goes on
where it was.
"""

import argparse
import shutil
import time
from pathlib import Path

import submitit
from rich.progress import Progress

import pesky
from pesky.run.slurm import SlurmExecutor

problem = pesky.Problem(
    parameters={"mesh": pesky.Integer(10, 200), "step": pesky.Real(1e-3, 1e-1, log=True)},
    minimize="error",
    constraints=["memory_gb <= 16"],
    tasks={"simulate": pesky.Task(["error", "memory_gb"], timeout=3600)},
    noise=0.0,
)


def simulate(params: dict[str, float]) -> dict[str, float]:
    """A simulation that is the more exact the more memory it takes."""
    time.sleep(0.2)
    mesh, step = params["mesh"], params["step"]
    return {"error": 3 / mesh + 2 * step, "memory_gb": 0.0004 * mesh**2 + 0.02 / step}


def main(cluster: str, folder: str, storage: str, evaluations: int) -> None:
    """Runs the study to so many evaluations, four jobs at a time."""
    jobs = submitit.AutoExecutor(folder=folder, cluster=cluster)  # on a file system that the nodes share
    jobs.update_parameters(timeout_min=60, cpus_per_task=1)  # slurm_partition=..., gpus_per_node=...
    study = pesky.Study(problem, storage=storage, name="simulation")
    with SlurmExecutor(jobs, poll=0.2 if cluster == "local" else 5.0) as executor, Progress() as progress:
        bar = progress.add_task(f"jobs ({cluster})", total=evaluations)
        ending = study.run(
            simulate,
            pesky.Budget(evaluations=evaluations),
            executor=executor,
            workers=4,
            watch=lambda now: progress.update(bar, completed=now.done + now.failed),
        )
    print(ending, study.recommend(), f"what each job printed: {folder}", sep="\n")


if __name__ == "__main__":
    here = Path(__file__).parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    found = "slurm" if shutil.which("sbatch") else "local"
    parser.add_argument("--cluster", choices=["slurm", "local", "debug"], default=found)
    parser.add_argument("--folder", default=str(here / "jobs"), help="where submitit keeps its jobs")
    parser.add_argument("--storage", default=f"sqlite:///{here / 'simulation.db'}", metavar="URL")
    parser.add_argument("--evaluations", type=int, default=16)
    given = parser.parse_args()
    main(given.cluster, given.folder, given.storage, given.evaluations)
