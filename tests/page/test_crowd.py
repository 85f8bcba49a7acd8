"""The page as people start it, beside others who write to the same study; and what is left when it is killed."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from page.served import database
from page.test_browser import until
from show.browser import needs_chromium, visit
from study.quick import COUPLED, quick

from pesky import Study

WRITERS, EACH = 8, 6


class Served:
    """A page in a process of its own, of a study that others write to."""

    def __init__(self, folder: Path) -> None:
        self.url = database(folder)
        self.study = quick(COUPLED, storage=self.url)
        self.study.add({"x": 0.5, "y": 1.0}, {"f": 1.0, "c": 1.0})
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-m", "pesky", "page", self.url, "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.environment)
        assert self.process.stdout is not None
        found = re.search(r"http://\S+", self.process.stdout.readline())
        assert found
        self.address = found[0]

    def write(self) -> list[int]:
        """The exit codes of all writers, once they are done."""
        script = Path(__file__).with_name("writer.py")
        commands = [[sys.executable, str(script), self.url, str(i), str(EACH)] for i in range(WRITERS)]
        writers = [subprocess.Popen(each, env=self.environment) for each in commands]
        return [each.wait() for each in writers]

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path)
    yield made
    made.end()


LIVE = "document.querySelector('.live')?.textContent === 'live'"
COUNT = (
    "[...document.querySelectorAll('#part-evaluations')].length && document.querySelector('.numbers b')?.textContent"
)
SECONDS = """(async () => {
  const began = performance.now();
  const isSeen = () => document.querySelector('.numbers b').textContent === 'COUNT';
  while (!isSeen() && performance.now() - began < 10000) await new Promise(then => setTimeout(then, 20));
  return (performance.now() - began) / 1000;
})()"""


@needs_chromium
def test_the_page_is_live_while_eight_workers_write(page: Served):
    total = 1 + WRITERS * EACH
    telling = [
        each
        for i in (1, 2, 3)
        for each in (
            lambda i=i: page.study.add({"x": 0.5, "y": 0.1 * i}, {"f": 2.0, "c": 1.0}).id,
            SECONDS.replace("COUNT", str(total + i)),
        )
    ]
    seen = visit(
        page.address, until(f"return {LIVE}"), page.write, until(f"return {COUNT} === '{total}'", 20), *telling, LIVE
    )
    assert seen.errors == []
    live, codes, is_complete, *told, is_live = seen.answers
    assert (live, is_complete, is_live) == (True, True, True)
    assert codes == [0] * WRITERS
    assert min(told[1::2]) < 2  # on a machine that is busy with something else, one of three
    assert max(told[1::2]) < 10


def test_killing_the_page_harms_nothing_and_leaves_nothing(page: Served):
    api = f"{page.address}api/study?want=answer&want=progress"
    urllib.request.urlopen(api).read()
    deadline = time.monotonic() + 30
    while not (children := psutil.Process(page.process.pid).children()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert children  # what draws
    page.process.send_signal(signal.SIGKILL)
    assert page.write() == [0] * WRITERS
    assert psutil.wait_procs(children, timeout=60)[1] == []
    assert len(Study.load(page.url).evaluations) == 1 + WRITERS * EACH
    with sqlite3.connect(page.url.removeprefix("sqlite:///")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
