"""Connections that are opened and held: they keep nobody else from being answered, and memory is bounded."""

import socket
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from itertools import repeat
from urllib.parse import urlsplit

import psutil
import pytest
from page.served import page_of, served
from show.studies import made
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from pesky.page.connections import PatientProtocol

NEAR, FAR = "127.0.0.1", "127.0.0.2"
BEGUN = b"GET /api/studies HTTP/1.1\r\nHost: "
LARGE = 50_000_000


class Hasty(PatientProtocol):
    """Has little patience and room; half of this machine is far away."""

    room = 4
    patience = 0.5

    @cached_property
    def is_near(self) -> bool:
        return self.client is not None and self.client[0] == NEAR


class Slow:
    """A page that takes a second to answer, and then has much to say."""

    def __init__(self) -> None:
        page = page_of(made("one"))
        self.drawings, self.end = page.drawings, page.end

    def app(self) -> ASGIApp:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            from asyncio import sleep

            if scope["path"] == "/slow":
                await sleep(1.5)
            body = "x" * (LARGE if scope["path"] == "/large" else 1)
            await PlainTextResponse(body)(scope, receive, send)

        return answer


@contextmanager
def hasty() -> Iterator[int]:
    """The port of a hasty one."""
    with served(Slow(), protocol=Hasty) as address:  # pyright: ignore[reportArgumentType]
        yield urlsplit(address).port or 0


def opened(port: int, sent: bytes = b"", *, near: bool = True, buffer: int | None = None) -> socket.socket:
    made = socket.socket()
    if buffer is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    made.settimeout(10)
    made.bind((NEAR if near else FAR, 0))
    made.connect(("127.0.0.1", port))
    made.sendall(sent)
    return made


def asked(path: str, *headers: str, method: str = "GET") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""]
    return "\r\n".join(lines).encode()


def received(connection: socket.socket) -> int:
    """Bytes that come until the connection is dropped."""
    count = 0
    with suppress(ConnectionError):
        while part := connection.recv(1_000_000):
            count += len(part)
    return count


def sent_to(connection: socket.socket, parts: Iterable[bytes]) -> int:
    """Parts that are taken until the connection is dropped."""
    count = 0
    with suppress(ConnectionError):
        for part in parts:
            connection.sendall(part)
            count += 1
    return count


def is_answered(connection: socket.socket) -> bool:
    try:
        return b"200" in connection.recv(100)
    except ConnectionError:
        return False


def test_half_open_connections_keep_nobody_from_being_answered():
    with served(page_of(made("one"))) as address, ExitStack() as stack:
        port = urlsplit(address).port or 0
        held = [stack.enter_context(opened(port, BEGUN)) for _ in range(300)]
        for _ in range(5):
            assert urllib.request.urlopen(f"{address}api/studies", timeout=10).status == 200
        for each in held:
            each.setblocking(False)
        assert sum(is_open(each) for each in held) <= PatientProtocol.room


def is_open(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"G",
        BEGUN,
        asked("/") + BEGUN,
        asked("/", "Content-Length: 100") + b"x",
        asked("/", "Content-Length: 100", "Expect: 100-continue"),
    ],
)
def test_a_silent_client_is_dropped(sent: bytes):
    with hasty() as port, opened(port, sent) as connection:
        began = time.monotonic()
        received(connection)
        assert 0.2 < time.monotonic() - began < 5


def test_so_is_one_that_sends_byte_by_byte():
    def slowly() -> Iterator[bytes]:
        for _ in range(100):
            time.sleep(0.05)
            yield b"x"

    with hasty() as port, opened(port) as connection:
        assert sent_to(connection, slowly()) < 50


@pytest.mark.parametrize("headers", [(), ("Connection: close",)])
def test_so_is_one_that_does_not_read(headers: tuple[str, ...]):
    with hasty() as port, opened(port, asked("/large", *headers), buffer=4096) as connection:
        time.sleep(2)
        assert received(connection) < LARGE


def test_one_that_waits_for_the_page_is_not():
    with hasty() as port, opened(port, asked("/slow")) as connection:
        assert is_answered(connection)


def test_this_machine_and_the_network_keep_room_of_their_own():
    with hasty() as port, ExitStack() as stack:
        busy = [stack.enter_context(opened(port, asked("/slow"), near=False)) for _ in range(Hasty.room)]
        time.sleep(0.2)
        assert not is_answered(stack.enter_context(opened(port, asked("/"), near=False)))
        assert is_answered(stack.enter_context(opened(port, asked("/"))))
        assert all(is_answered(each) for each in busy)


def test_a_body_that_says_two_lengths_is_not_read():
    page = page_of(made("one"), write=True)
    with served(page) as address, opened(urlsplit(address).port or 0) as connection:
        own = psutil.Process()
        before = own.memory_info().rss
        how = (f"Origin: {address.rstrip('/')}", f"Host: {urlsplit(address).netloc}", "Content-Type: application/json")
        lines = ["POST /api/change/tell HTTP/1.1", *how, "Content-Length: 2", "Transfer-Encoding: chunked", "", ""]
        connection.sendall("\r\n".join(lines).encode())
        assert b"411" in connection.recv(100)
        part = b"%x\r\n%s\r\n" % (1_000_000, b" " * 1_000_000)
        assert sent_to(connection, repeat(part, 100)) < 100
        assert own.memory_info().rss - before < 20e6
