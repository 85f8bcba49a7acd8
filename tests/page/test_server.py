"""Where the page is served, and what it needs for that."""

import socket
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from pesky.errors import PeskyError, StorageError
from pesky.page.server import address_of, listening, serve, token_for
from pesky.page.source import Source

FILE = """\
minimize = "f"
function = "module:measure"
[parameters]
x = { type = "real", low = 0, high = 1 }
[budget]
evaluations = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(FILE)
    return path


def test_a_page_that_can_be_written_to_has_a_token():
    assert token_for("127.0.0.1", None, write=False) is None
    drawn = {token_for("localhost", None, write=True) for _ in range(3)}
    assert len(drawn) == 3
    assert all(len(each or "") >= 32 for each in drawn)
    assert token_for("0.0.0.0", "a-long-secret", write=True) == "a-long-secret"
    assert token_for("127.0.0.1", "a-long-secret", write=False) == "a-long-secret"


def test_the_network_writes_nothing_without_a_token_that_was_chosen():
    with pytest.raises(PeskyError, match=r"everybody who reaches this machine.*PESKY_PAGE_TOKEN"):
        token_for("0.0.0.0", None, write=True)


@pytest.mark.parametrize("token", ["", "short", "with a space in it", "ünïcödé-tökéns", "new\nlines-in-it"])
def test_a_token_that_is_none_is_refused(token: str):
    with pytest.raises(PeskyError, match="12 letters"):
        token_for("127.0.0.1", token, write=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::", "::1", "bench"])
@pytest.mark.parametrize("token", [None, "a+b&c=%41#d'\"<>`{|}\\^~", "https://evil.example/?#"])
def test_the_address_that_is_printed_has_the_whole_token_whatever_signs_it_has(
    host: str, token: str | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("socket.gethostname", lambda: "this")
    found = urlsplit(address_of(host, 8765, token))
    assert found.hostname == {"0.0.0.0": "this", "::": "this"}.get(host, host)
    assert (found.scheme, found.port, found.path, found.query) == ("http", 8765, "/", "")
    assert unquote(found.fragment) == (f"token={token}" if token else "")
    assert token_for(host, token, write=False) == token


def test_a_port_that_is_taken_is_said():
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(PeskyError, match=r"is taken.*--port 0"):
        listening("127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize("host", ["256.1.1.1", "no.such.host.invalid"])
def test_an_address_that_is_none_is_said(host: str):
    with pytest.raises(PeskyError, match=r"cannot be served.*--host"):
        listening(host, 0)


def test_without_a_study_it_says_how_to_begin_one(file: Path):
    with pytest.raises(StorageError, match=r"pesky run study.toml.*--write"):
        serve(Source.of(str(file)), print)


def test_for_writing_the_study_of_a_file_is_begun_once(file: Path):
    source = Source.of(str(file))
    for _ in range(2):
        source.prepare(write=True)
    store = source.open(read_only=True)
    assert store.names() == ["study"]
    record = store.load("study")
    source.prepare(write=False)
    assert source.problem(record) is not None
    assert Source.of(str(file.with_suffix(".db"))).open(read_only=True).names() == ["study"]
    assert Source.of(f"sqlite:///{file.with_suffix('.db')}").shown == "study.db"


def test_a_file_that_says_something_else_than_the_storage_changes_nothing_there(file: Path):
    source = Source.of(str(file))
    source.prepare(write=True)
    file.write_text(FILE.replace("high = 1", "high = 2"))
    source = Source.of(str(file))
    source.prepare(write=True)
    record = source.open(read_only=True).load("study")
    assert source.problem(record).parameters["x"].high == 1  # pyright: ignore[reportAttributeAccessIssue]
