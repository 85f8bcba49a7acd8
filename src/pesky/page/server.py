"""The page, served: at which address, to whom, and until it is interrupted."""

import errno
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

from pesky.errors import PeskyError
from pesky.extras import to_install
from pesky.page.source import Source

if TYPE_CHECKING:
    import uvicorn

    from pesky.page.app import Page
    from pesky.page.connections import PatientProtocol

HOST, PORT = "127.0.0.1", 8765
SHORTEST = 12
"""Characters of a token, at least: fewer can be tried out."""


def token_for(host: str, given: str | None, *, write: bool) -> str | None:
    """The token that requests need: the one that is given, or one of the page's own where it can be written to."""
    from pesky.page.guard import is_loopback

    if given is not None:
        if len(given) < SHORTEST or not given.isascii() or not given.isprintable() or " " in given:
            raise PeskyError(f"the token has to be {SHORTEST} letters, digits and signs or more, without spaces.")
        return given
    if not write:
        return None
    if not is_loopback(host):
        raise PeskyError(
            f"--host {host} with --write lets everybody who reaches this machine change the study: choose a token that "
            "they need, --token TEXT or the variable PESKY_PAGE_TOKEN, or leave out one of the two."
        )
    return secrets.token_urlsafe(24)


def listening(host: str, port: int) -> socket.socket:
    """A socket at this address; a PeskyError if it cannot be had."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PeskyError(
                f"port {port} of {host} is taken, perhaps by another page: give another one, or --port 0 for any."
            ) from error
        raise PeskyError(
            f"{host}:{port} cannot be served ({error.strerror or error}): give --host or --port."
        ) from error
    except OverflowError as error:
        raise PeskyError(f"--port was {port}: expected 0 to 65535.") from error


def server_of(
    page: "Page", host: str, token: str | None, protocol: "type[PatientProtocol] | None" = None
) -> "uvicorn.Server":
    """What answers requests for the page, behind its guard."""
    import uvicorn

    from pesky.page.connections import PatientProtocol
    from pesky.page.guard import Guard

    config = uvicorn.Config(
        Guard(page.app(), host, token),
        http=protocol or PatientProtocol,
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


def serve(
    source: Source,
    say: Callable[[str], None],
    *,
    host: str = HOST,
    port: int = PORT,
    write: bool = False,
    token: str | None = None,
) -> None:
    """Serve the page until it is interrupted; `say` is told where it is, as soon as it is there."""
    try:
        import plotly  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise PeskyError(f"a page needs {error.name}, which is not installed: {to_install('page')}.") from error
    from pesky.page.app import Page
    from pesky.page.guard import is_loopback

    token = token_for(host, token, write=write)
    with listening(host, port) as bound:
        source.prepare(write=write)
        page = Page(source, write=write)
        address = address_of(host, bound.getsockname()[1], token)
        how = "for reading and writing" if write else "for reading"
        say(f"{source.shown}, {how}: {address}")
        if not is_loopback(host):
            who = "who knows the token" if token else "who reaches this machine"
            say(f"Everybody {who} can see it{' and change it' if write else ''}; what is sent is not encrypted.")
        page.drawings.start()
        try:
            with suppress(KeyboardInterrupt):
                server_of(page, host, token).run(sockets=[bound])
        finally:
            page.end()


def address_of(host: str, port: int, token: str | None) -> str:
    """What is opened in a browser to see a page that is served there."""
    if host in ("0.0.0.0", "::", ""):
        host = socket.gethostname()
    behind = f"#token={quote(token, safe='')}" if token else ""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/{behind}"
