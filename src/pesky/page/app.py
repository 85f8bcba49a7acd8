"""What the page asks for, and what is answered: the page itself, studies as JSON, pictures, and changes."""

import gzip
import hashlib
import json
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from pesky.errors import DataError, PeskyError, StorageAway, StorageError, StudyGone
from pesky.page.background import Background, Busy
from pesky.page.changes import CHANGES, changed, task_in
from pesky.page.drawings import Drawings
from pesky.page.guard import LARGEST
from pesky.page.plain import problem_in, row_of, summary_of, versions_of
from pesky.page.reading import Readers, Snapshot
from pesky.page.source import Source
from pesky.store import State, Store
from pesky.text import harmless, one_line

TYPES = {"html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
LISTED = 50
"""Studies of which the list says how far they are; of more it has the names."""
LONGEST = 20
"""Digits of a revision, at most: a storage counts with 64 bits."""


class Page:
    """The studies of a storage, for a browser; every method answers a request, in a thread of its own.

    Args:
        source: What is served.
        write: Whether changes are taken.
        background: What does the work that takes seconds.
    """

    def __init__(self, source: Source, *, write: bool, background: Callable[[str], Background] = Background) -> None:
        self.source = source
        self._readers = Readers(source, source.open(read_only=True))
        self._writable: Store | None = source.open(read_only=False) if write else None
        self.drawings = Drawings(background(source.given))
        self._asking = background(source.given)

    def end(self) -> None:
        """Let go of what was started and opened."""
        self.drawings.end()
        self._asking.end()
        for store in (self._readers.store, self._writable):
            if store is not None:
                store.close()

    def app(self) -> ASGIApp:
        """The application."""
        routes = [
            Route("/", lambda request: _static("page.html")),
            Route("/static/{name}", lambda request: _static(request.path_params["name"])),
            Route("/plotly.js", _plotly),
            Route("/api/studies", self.studies),
            Route("/api/study", self.study),
            Route("/api/picture", self.picture),
            Route("/api/change/{name}", self.change, methods=["POST"]),
        ]
        app = Starlette(routes=routes, exception_handlers={PeskyError: _said, Exception: _unexpected})
        return GZipMiddleware(app, minimum_size=2000, compresslevel=4)

    def studies(self, request: Request) -> Response:
        """The studies of the storage, the newest first."""
        names = self._readers.store.names()
        listed = [self._listed(name, in_full=i < LISTED) for i, name in enumerate(reversed(names))]
        return JSONResponse({"storage": self.source.shown, "studies": listed})

    def _listed(self, name: str, *, in_full: bool) -> dict[str, Any]:
        """What the list says of a study; of one that is damaged, that it is: it hides no others."""
        said: dict[str, Any] = {"study": None, "name": one_line(str(name))}
        try:
            study = self._readers.store.load(name).identity
            if not isinstance(study, str):
                raise StorageError(f"its identity was {study!r}: expected a text; restore a copy of the storage.")
            said["study"] = study
            if in_full:
                snapshot = self._readers.of(study).read()
                summary = {k: v for k, v in summary_of(snapshot).items() if k != "steps"}
                said |= summary | {"objective": one_line(snapshot.problem.objective)}
        except StorageAway:
            raise
        except Exception as error:  # whatever is in the place of what a storage should have
            said["error"] = one_line(str(error)) or type(error).__name__
        return said

    def study(self, request: Request) -> Response:
        """The study as it is: what changed since the revision that the page knows, and which pictures there are."""
        asked = request.query_params
        study = asked.get("study") or self._readers.first()
        if study is None:
            return JSONResponse({"study": None})
        snapshot = self._readers.of(study).read()
        since = _revision(asked.get("since", ""))
        is_known = asked.get("problem") == _key(snapshot) and since <= snapshot.revision
        answer: dict[str, Any] = {
            "study": study,
            "revision": snapshot.revision,
            "state": snapshot.state,
            "pictures": self.drawings.want(study, snapshot.state, asked.getlist("want")),
        }
        if not is_known or since < snapshot.revision or asked.get("state") != snapshot.state:
            # a lease that ran out is seen here, and makes a revision only when somebody writes
            new = [
                e for e in snapshot.evaluations.values() if not is_known or e.revision > since or e.state is State.LOST
            ]
            answer |= summary_of(snapshot)
            answer["rows"] = [row_of(e, snapshot.problem) for e in new]
        if not is_known:
            answer |= {"problem": _key(snapshot), "form": problem_in(snapshot.problem), **self._about(snapshot)}
        return JSONResponse(answer)

    def _about(self, snapshot: Snapshot) -> dict[str, Any]:
        return {
            "name": one_line(snapshot.record.name),
            "versions": versions_of(snapshot, self.source),
            "can_write": self._writable is not None,
            "studies": len(self._readers.store.names()),
        }

    def picture(self, request: Request) -> Response:
        """A picture as it was last drawn."""
        study, name = (request.query_params.get(each, "") for each in ("study", "name"))
        drawing = self.drawings.get(study, name)
        if drawing is None:
            return JSONResponse({"error": f"there is no picture {name[:40]!r} yet"}, 404)
        return Response(drawing.content, media_type="application/json")

    async def change(self, request: Request) -> Response:
        """What became of a change, or why it was refused."""
        if (store := self._writable) is None:
            return JSONResponse({"error": "this page is for reading: `pesky page --write` takes changes."}, 403)
        try:
            body = await _body(request)
        except ClientDisconnect:
            return Response(status_code=400)  # to nobody
        return await run_in_threadpool(self._changed, store, request.path_params["name"], body)

    def _changed(self, store: Store, name: str, body: dict[str, Any]) -> Response:
        if name != "ask" and name not in CHANGES:
            return JSONResponse({"error": f"there is no change {name[:40]!r}."}, 404)
        reader = self._readers.of(str(body.get("study")))
        snapshot = reader.read(at_once=True)
        if body.get("problem") != _key(snapshot):
            raise DataError("the problem of the study has changed since the page was opened: look at it and try again.")
        if name == "ask":
            task, confirm = task_in(body, snapshot.problem), body.get("confirm") is True
            asked = self._asking.call("ask", study=snapshot.record.identity, task=task, confirm=confirm)
            ids = [asked["id"]]
        else:
            ids = [e.id for e in changed(name, store, snapshot, body)]
        reader.read(at_once=True)
        return JSONResponse({"ids": ids})


def _revision(text: str) -> int:
    """The number that is written, -1 where none is."""
    if not text:
        return -1
    if not text.isdecimal() or len(text) > LONGEST:
        raise DataError(f"`since` was {text[:LONGEST]!r}: expected the number of a revision.")
    return int(text)


async def _body(request: Request) -> dict[str, Any]:
    """The object of JSON that was sent; a DataError if there is none, as soon as it is too long."""
    text = bytearray()
    async for part in request.stream():
        text += part
        if len(text) > LARGEST:
            raise DataError(f"the change had more than {LARGEST:,} bytes.")
    try:
        body = json.loads(text)
        json.dumps(body, ensure_ascii=False).encode()  # halves of surrogate pairs are no text that a storage keeps
    except (ValueError, RecursionError) as error:
        raise DataError("the change was no JSON.") from error
    if not isinstance(body, dict):
        raise DataError("the change was no JSON object.")
    return body


@lru_cache(maxsize=256)
def _key(snapshot: Snapshot) -> str:
    """What tells the problem of a study from those that it had before."""
    return hashlib.sha256(snapshot.record.problem.encode(errors="replace")).hexdigest()[:16]


def _static(name: str) -> Response:
    package = files("pesky")
    parts = {each.name: each for each in (package / "page" / "static").iterdir()}
    parts |= {"report.css": package / "show" / "page.css", "fit.js": package / "show" / "fit.js"}
    if name not in parts:
        return JSONResponse({"error": "there is no such file"}, 404)
    text = parts[name].read_text(encoding="utf-8")
    return Response(text, media_type=TYPES[name.rpartition(".")[2]], headers={"cache-control": "no-cache"})


def _plotly(request: Request) -> Response:
    headers = {"content-encoding": "gzip", "cache-control": "private, max-age=86400"}
    return Response(_plotly_js(), media_type=TYPES["js"], headers=headers)


@lru_cache(maxsize=1)
def _plotly_js() -> bytes:
    """Plotly's own script from its installed package, compressed once."""
    from plotly.offline import get_plotlyjs

    return gzip.compress(get_plotlyjs().encode(), 6)


def _said(request: Request, error: Exception) -> Response:
    """A mistake that can be named, in its own words."""
    kinds = {StudyGone: 410, StorageAway: 503, StorageError: 500, Busy: 503}
    status = next((code for kind, code in kinds.items() if isinstance(error, kind)), 422)
    return JSONResponse({"error": harmless(str(error))}, status)


def _unexpected(request: Request, error: Exception) -> Response:
    """One that cannot: the server prints where."""
    return JSONResponse({"error": f"an error of pesky itself, please report it: {type(error).__name__}"}, 500)
