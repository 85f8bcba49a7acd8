"""Where a result comes from: version, command and machine. Figures of two versions or machines do not compare."""

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import torch

HERE = Path(__file__).parent


def version() -> str:
    """The commit, with "-dirty" where files differ from it, and today's date.

    For a copy without its history the environment variable PESKY_COMMIT names the commit.
    """
    found = os.environ.get("PESKY_COMMIT")
    if found is None:
        git = ["git", "describe", "--always", "--dirty", "--exclude=*"]
        try:
            found = subprocess.run(git, cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            found = "unknown commit"
    return f"{found}, {datetime.now(UTC):%Y-%m-%d}"


def machine() -> str:
    """The processor, how many cores there are, and what computes."""
    return f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, torch {torch.__version__}"


def processor() -> str:
    """What the processor calls itself, where the system tells."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def provenance(module: str) -> dict[str, str]:
    """What a file of results says of itself; `module` is what was run, with the arguments of this process.

    Where the file was written is left out: that is another folder on every machine.
    """
    given = [each for before, each in pairwise(["", *sys.argv[1:]]) if "--json" not in (before, each)]
    return {"command": " ".join(["python -m", module, *given]), "version": version(), "machine": machine()}
