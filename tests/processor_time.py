"""A plugin of pytest that appends the processor seconds of every test, its child processes' too, to a file.

`make times` runs all tests with it; those that take long are in `long.txt`.
"""

import os
import resource
from collections.abc import Generator

import pytest


def used() -> float:
    """Processor seconds of this process, and of its children that have ended."""
    each = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in each)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool, bool]:
    """What a test uses, from the setup of its fixtures to their end."""
    before = used()
    try:
        return (yield)
    finally:
        with open(os.environ["PESKY_TIMES"], "a") as file:
            file.write(f"{used() - before:.2f}\t{item.nodeid}\n")
