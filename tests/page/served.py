"""A page of a study for tests: what takes seconds is done in this process, by studies that are quick."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pesky import Study
from pesky.errors import PeskyError
from pesky.page.app import Page
from pesky.page.background import Background
from pesky.page.connections import PatientProtocol
from pesky.page.server import address_of, server_of
from pesky.page.source import Source
from pesky.page.work import Work, answered
from pesky.show import Findings
from pesky.store import Store


class Kept(Source):
    """A store that is there already, in memory or not."""

    store: Store

    @classmethod
    def at(cls, store: Store) -> "Kept":
        source = cls("kept", "kept")
        object.__setattr__(source, "store", store)
        return source

    @property
    def shown(self) -> str:
        return "kept"

    def open(self, *, read_only: bool) -> Store:
        return self.store


class QuickWork(Work):
    """The work for studies that are given, with what is found out about them already."""

    def __init__(self, source: Source, studies: dict[str, Study], findings: dict[str, Findings]) -> None:
        super().__init__(source)
        self._studies = studies
        self._findings = dict(findings)

    def _study(self, study: str, *, read_only: bool) -> Study:
        return self._studies[study]


class InThisProcess(Background):
    """Work that is done at once, where it is asked for; pictures only where they are what is tested."""

    def __init__(self, work: Work, draws: bool) -> None:
        super().__init__("kept")
        self.work, self.draws = work, draws

    def start(self) -> None:
        """Nothing: it is here."""

    def call(self, what: str, **arguments: object) -> Any:
        if what == "draw" and not self.draws:
            raise PeskyError("no pictures here")
        answer: Any = answered(lambda: self.work, {"what": what, **arguments})
        if "error" in answer:
            raise PeskyError(answer["error"])
        return answer["answer"]


def page_of(*studies: Study, write: bool = False, findings: dict[str, Findings] | None = None) -> Page:
    """A page of studies in one store; with pictures of those of which something was found out."""
    source = Kept.at(studies[0].store)
    work = QuickWork(source, {each.identity: each for each in studies}, findings or {})
    return Page(source, write=write, background=lambda given: InThisProcess(work, bool(findings)))


@contextmanager
def served(page: Page, token: str | None = None, protocol: type[PatientProtocol] | None = None) -> Iterator[str]:
    """The address of the page, while it is served."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        server = server_of(page, "127.0.0.1", token, protocol)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        page.drawings.start()
        try:
            yield address_of("127.0.0.1", bound.getsockname()[1], token)
        finally:
            server.should_exit = True
            thread.join()
            page.end()


def database(folder: Path) -> str:
    """The URL of a new one."""
    return f"sqlite:///{folder / 'study.db'}"
