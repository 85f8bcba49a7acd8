"""Connections, of which the page keeps those whose clients do not keep it waiting.

It waits for a client that has not sent all of a request, or does not read what it asked for. One that takes too long is
dropped, and where there is no room for another connection, the one that was waited for longest: nobody can hold so many
that others are not answered. This machine's own clients and those of the network have room of their own.
"""

import asyncio
from functools import cached_property
from typing import cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pesky.page.guard import is_loopback


class PatientProtocol(H11Protocol):
    """One connection, dropped when its client was waited for too long."""

    room = 100
    """Connections of this machine, and as many of the network; a browser opens six for a page."""
    patience = 30.0
    """Seconds for which a client is waited for: plotly's 1.4 MB take 11 with 1 Mbit/s."""
    since = 0.0
    """When the client began to be waited for, in the loop's time."""
    _timer: asyncio.TimerHandle | None = None

    @cached_property
    def is_near(self) -> bool:
        """Whether the client is on this machine."""
        return self.client is not None and is_loopback(self.client[0])

    @property
    def is_awaited(self) -> bool:
        """Whether the client is waited for, and not the page."""
        is_sending = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        return is_sending or self.flow.write_paused or self.transport.is_closing()

    def drop(self) -> None:
        """End the connection at once, with all that was not sent yet."""
        self.connections.discard(self)
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Make room for the connection, and wait for its first request."""
        super().connection_made(transport)
        self._look()
        others = cast("set[PatientProtocol]", self.connections)
        alike = [each for each in others if each.is_near == self.is_near]
        if len(alike) > self.room:  # the new one, if there is no other that is waited for
            min((each for each in alike if each.is_awaited), key=lambda each: each.since).drop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        super().connection_lost(exc)
        self._stop()

    def data_received(self, data: bytes) -> None:
        """Take what was sent; with the end of a request the client is not waited for any more."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._stop()
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        self._look()

    def _look(self) -> None:
        if not self.is_awaited:
            self._stop()
        elif self._timer is None:
            self.since = self.loop.time()
            self._timer = self.loop.call_later(self.patience, self.drop)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
