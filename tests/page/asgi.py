"""Requests to an application, without a server."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

HOST = "127.0.0.1:8765"


class Answer:
    """What was answered."""

    def __init__(self, messages: list[Any], read: int) -> None:
        self.read = read
        """Bytes of the body that were read."""
        (start,) = [each for each in messages if each["type"] == "http.response.start"]
        self.status: int = start["status"]
        self.headers = {name.decode(): value.decode() for name, value in start["headers"]}
        self.body = b"".join(each.get("body", b"") for each in messages if each["type"] == "http.response.body")

    @property
    def said(self) -> Any:
        """What the JSON says."""
        return json.loads(self.body)


def request(
    app: Any,
    path: str,
    body: object = None,
    *,
    method: str | None = None,
    raw: bytes | Iterator[bytes] | None = None,
    **headers: str | None,
) -> Answer:
    """What the application answers; a body is sent as the page itself sends it; a header of None is left out.

    A raw body that is an iterator is sent part by part, and breaks off with its last one.
    """
    content = b"" if body is None else json.dumps(body).encode()
    if isinstance(raw, bytes):
        content = raw
    parts = iter([content]) if raw is None or isinstance(raw, bytes) else raw
    is_whole = parts is not raw
    method = method or ("GET" if body is None and raw is None else "POST")
    given: dict[str, str | None] = {"host": HOST}
    if method != "GET":
        given |= {
            "origin": f"http://{HOST}",
            "content-type": "application/json",
            "content-length": str(len(content)),
        }
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    where, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": where,
        "raw_path": where.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items() if value is not None],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8765),
    }
    messages: list[Any] = []

    read = 0

    async def receive() -> Any:
        nonlocal read
        part = next(parts, None)
        if part is None:
            return {"type": "http.disconnect"}
        read += len(part)
        return {"type": "http.request", "body": part, "more_body": not is_whole}

    async def send(message: Any) -> None:
        messages.append(message)

    asyncio.run(app(scope, receive, send))
    return Answer(messages, read)
