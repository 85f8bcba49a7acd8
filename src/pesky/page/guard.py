"""Who is answered: requests from the page itself, under a name that is served, with the token where there is one.

A browser sends requests for any site that is open in it. So a name that a stranger's DNS points here (DNS rebinding) is
refused by the `Host`, another site's scripts and forms by the `Origin` and by `Sec-Fetch-Site`, and nothing is changed
without the token, which the page sends in a header: no browser does that by itself, and there is no cookie to send.
"""

import ipaddress
import secrets
import socket
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

DATA = "/api/"
"""Where all is that says anything of a study."""
LARGEST = 1_000_000
"""Bytes of a request."""
HEADERS: Mapping[str, str] = {
    # plotly writes styles; nothing else is run or fetched but what this server has
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


@dataclass(frozen=True)
class Refusal:
    """Why a request is not answered."""

    status: int
    reason: str


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what is served at this address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def name_in(host: str) -> str:
    """The name or address in a `Host` header, without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def names_at(host: str) -> frozenset[str]:
    """The names of this machine by which a page that is served at the address `host` may be asked for."""
    if is_loopback(host):
        return frozenset({"localhost"})
    return frozenset(each.lower() for each in ("localhost", host, socket.gethostname(), socket.getfqdn()) if each)


def is_served(name: str, host: str, names: Collection[str]) -> bool:
    """Whether a page that is served at the address `host` may be asked for by this name: one of these, or an address.

    Never by any other name than the machine's own: an address cannot be pointed elsewhere, a name can.
    """
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name in names
    return address.is_loopback or not is_loopback(host)


class Guard:
    """The application behind a guard.

    Args:
        app: What answers.
        host: The address that is served.
        token: What has to come with every request for data, if anything.
    """

    def __init__(self, app: ASGIApp, host: str, token: str | None) -> None:
        self._app, self._host, self._token = app, host, token
        self._names = names_at(host)  # once: to find them may take seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or say why not."""
        if scope["type"] != "http":
            return  # nothing here speaks anything else

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        answer = self._app
        if (refusal := self._refusal(scope)) is not None:
            # what is left of the request is not read
            answer = JSONResponse({"error": refusal.reason}, refusal.status, {"connection": "close"})
        await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers, path = Headers(scope=scope), scope["path"]
        host = headers.get("host", "")
        if not is_served(name_in(host), self._host, self._names):
            return Refusal(421, f"nothing is served as {host[:100]!r} here: use the address that `pesky page` printed.")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and path != "/":
            return Refusal(403, "the request came from another site: open the page itself.")
        if "transfer-encoding" in headers:  # with it, a server ignores the length that is said
            return Refusal(411, "a request says how many bytes it has, and is sent in one piece.")
        is_change = scope["method"] not in ("GET", "HEAD")
        if is_change and (refusal := _refusal_of_change(headers, host)) is not None:
            return refusal
        if self._token is not None and path.startswith(DATA):
            given = headers.get("x-pesky-token", "")
            if not secrets.compare_digest(given.encode(), self._token.encode()):
                return Refusal(401, "the token is missing or wrong: open the address that `pesky page` printed.")
        return None


def _refusal_of_change(headers: Headers, host: str) -> Refusal | None:
    if not _is_from(headers.get("origin", ""), host):
        return Refusal(403, "the request came from another site: open the page itself.")
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return Refusal(415, "a change is sent as JSON.")
    length = headers.get("content-length", "")
    if not length.isdecimal() or len(length) > 9 or int(length) > LARGEST:
        return Refusal(413, f"a change has at most {LARGEST:,} bytes, and says how many.")
    return None


def _is_from(origin: str, host: str) -> bool:
    try:
        return urlsplit(origin).netloc == host
    except ValueError:  # half an address of IPv6, say
        return False
