"""Slurm, by way of submitit, as an executor: each call is a job, and each job's end settles a future."""

from pesky.run.slurm.executor import SlurmExecutor
from pesky.run.slurm.job import JobFailed, JobLost, JobRaised

__all__ = ["JobFailed", "JobLost", "JobRaised", "SlurmExecutor"]
