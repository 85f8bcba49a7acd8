"""Where the studies that must survive are kept, and the programs that work on them."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from postgres import postgres_server, postgres_url  # noqa: F401 (fixtures)
from survival.programs import Nursery, Program


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'study.db'}"
    return request.getfixturevalue("postgres_url")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Program]]:
    """Starts a program by its module and arguments; none is left after the test, however that ends."""
    started: list[Program] = []

    def start(module: str, *arguments: object) -> Program:
        started.append(Program(module, tmp_path, *arguments))
        return started[-1]

    yield start
    for program in started:
        for process in program.family():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        program.process.wait()


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Callable[..., Nursery]]:
    """Starts a nursery, behind a command if one is given; nothing that it started is left after the test."""
    started: list[Nursery] = []

    def start(*prefix: str) -> Nursery:
        started.append(Nursery(tmp_path, *prefix))
        return started[-1]

    yield start
    for program in started:
        for process in program.family():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        program.process.wait()


@pytest.fixture
def show(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Callable[[object], None]:
    """Shows what a test has counted, at once and in the summary."""

    def show(counts: object) -> None:
        print(f"\n{request.node.name}: {counts}")
        record_property("counts", counts)

    return show


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the tests have counted, where it was not printed because other processes ran them."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, counts in report.user_properties:
            if name == "counts":
                terminalreporter.write_line(f"{report.nodeid.split('::')[-1]}: {counts}")
