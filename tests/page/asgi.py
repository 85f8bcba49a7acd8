"""Requests to an application, without a server."""

import asyncio
import json
from typing import Any

HOST = "127.0.0.1:8765"


class Answer:
    """What was answered."""

    def __init__(self, messages: list[Any]) -> None:
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
    raw: bytes | None = None,
    **headers: str | None,
) -> Answer:
    """What the application answers; a body is sent as the page itself sends it; a header of None is left out."""
    content = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
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

    async def receive() -> Any:
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    asyncio.run(app(scope, receive, send))
    return Answer(messages)
