"""Every test runs in float64, on one thread, and with the shapes in the package's types checked."""

import signal
from pathlib import Path

import numpy as np
import pytest
import torch
import typecheck
from hypothesis import settings

# `pesky.problem`, `pesky.study` and `pesky.model.surrogate` answer wrong types with errors of their own
PARTS = "belief botorch cost evidence exact fit gp hyper kernel latent paths slice"
MODEL = tuple(f"model.{part}" for part in PARTS.split())
MATHEMATICS = ("infer", "numerics.sqp", "likelihood", *MODEL, "optimum", "acquire", "decide")
ROOMS = ("space", "observations", "test_functions", *MATHEMATICS)
typecheck.install([f"pesky.{room}" for room in ROOMS])

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

# a machine that is busy is not a failure, and a run that is repeated is the same run
settings.register_profile("pesky", deadline=None, derandomize=True)
settings.load_profile("pesky")


# in the background of a shell Ctrl-C is ignored, by the processes that tests start as well
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


LONG = set((Path(__file__).parent / "long.txt").read_text().splitlines())
"""Classes, tests and cases of tests that `make test` leaves out, because they take more than two seconds of processor
time and shorter ones look at the same: `make long` runs them, and `make times` measures what belongs there."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that take long."""
    for item in items:
        function = item.nodeid.partition("[")[0]
        if LONG & {item.nodeid, function, function.rpartition("::")[0]}:
            item.add_marker("long")


@pytest.fixture(autouse=True, scope="module")
def checked():
    """In every file the first calls of each function are checked anew."""
    typecheck.calls.clear()


@pytest.fixture(autouse=True)
def seeded():
    """Libraries that draw from the global generators draw the same in every run, whichever tests ran before."""
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002 - the one that libraries use
