"""A server that goes away and comes back: the run goes on, and nothing is lost."""

import random
import tempfile
import time
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from survival.account import Account
from survival.programs import until

EVALUATIONS = 30


@pytest.fixture
def server() -> Iterator[Any]:
    """A PostgreSQL server of this test's own, with which commits are on disk before they are acknowledged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgserver.postgres_server import get_server
    with tempfile.TemporaryDirectory(prefix="pesky-postgres-", ignore_cleanup_errors=True) as folder:
        server = get_server(folder)
        yield server
        server.cleanup()


def stop(server: Any, how: str) -> None:
    """The server as stopped: "fast", or "immediate" as in a crash."""
    commands: Any = import_module("pgserver._commands")
    commands.pg_ctl(["-w", "-m", how, "stop"], pgdata=server.pgdata, user=server.system_user)


def test_the_server_is_gone_for_seconds(server, start, tmp_path: Path, show):
    """Once stopped and once crashed, for longer than a lease lasts."""
    url = server.get_uri()
    chance, account = random.Random(4), Account(url, tmp_path)
    main = start("main_process", url, tmp_path, EVALUATIONS)
    main.go()
    for how in ("fast", "immediate"):
        account.await_moment(chance, results=chance.randint(3, 8))
        assert not main.is_over(), main.err.read_text()
        stop(server, how)
        time.sleep(3.0)
        assert not main.is_over(), main.err.read_text()
        server.ensure_postgres_running()
        until(lambda: account.look())
    assert f"{EVALUATIONS} evaluations is spent" in main.result()
    assert not main.family()
    counts = {"outages": 2, **account.settle(EVALUATIONS)}
    show(counts)
    assert counts["failed"] == 0
