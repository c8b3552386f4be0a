"""Ends calls from another thread."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import Iterator, Optional, Set


class Cancellation:
    """Ends the calls that have it: those in flight and all later ones."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._sockets: Set[socket.socket] = set()

    @property
    def is_cancelled(self) -> bool:
        return self._event.is_set()

    def cancel(self) -> None:
        with self._lock:
            self._event.set()
            for each in self._sockets:
                try:
                    # Wakes the thread that reads from it, which close() does not.
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def wait(self, seconds: float) -> bool:
        """Waits; returns early, with True, when it is cancelled."""
        return self._event.wait(seconds)

    @contextmanager
    def ends(self, connection: Optional[socket.socket]) -> Iterator[None]:
        """Lets a cancellation end what happens on a connection."""
        with self._lock:
            if connection is not None:
                self._sockets.add(connection)
            cancelled = self._event.is_set()
        try:
            if cancelled:
                raise ConnectionAbortedError("the call is cancelled")
            yield
        finally:
            with self._lock:
                if connection is not None:
                    self._sockets.discard(connection)
