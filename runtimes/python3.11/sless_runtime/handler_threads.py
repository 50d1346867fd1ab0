"""Threads for handlers that are no coroutines, and the way back from them to the loop."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable

_STUCK_SECONDS = 0.002
"""Work that nobody took for so long gets a thread of its own."""

Work = Callable[[], None]


class HandlerThreads:
    """Runs work on as few threads as keep up with it.

    Threads of one interpreter take turns, and each turn costs more than a short handler does. So one thread takes call
    after call, and further ones join only while it is held up, as by a handler that waits for a database.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._pending: deque[Work] = deque()
        self._parked: list[threading.Lock] = []
        self._running = 0
        self._taken = 0
        self._is_watched = False
        self._done: deque[Work] = deque()
        self._is_notified = False
        # The first one exists before any user code could use up what threads need.
        self._add_thread()

    def submit(self, work: Work) -> None:
        """Queues work; to be called on the loop's thread."""
        with self._lock:
            self._pending.append(work)
            if self._running == 0:
                self._add_thread()
        if not self._is_watched and self._pending:
            self._is_watched = True
            self._loop.call_later(_STUCK_SECONDS, self._help_out, self._taken)

    def to_loop(self, work: Work) -> None:
        """Runs work on the loop's thread; to be called on any other. What comes together wakes the loop once."""
        self._done.append(work)
        if not self._is_notified:
            self._is_notified = True
            self._loop.call_soon_threadsafe(self._run_done)

    def _run_done(self) -> None:
        # Cleared first: what is added from here on wakes the loop again.
        self._is_notified = False
        while self._done:
            self._done.popleft()()

    def _help_out(self, taken_before: int) -> None:
        with self._lock:
            if self._taken == taken_before:
                for _ in range(len(self._pending)):
                    self._add_thread()
            self._is_watched = bool(self._pending)
        if self._is_watched:
            self._loop.call_later(_STUCK_SECONDS, self._help_out, self._taken)

    def _add_thread(self) -> None:
        if self._parked:
            self._parked.pop().release()
        else:
            try:
                threading.Thread(target=self._run, daemon=True).start()
            except RuntimeError:
                # No memory or no process id is left for one more; the others go on with what is queued.
                return
        self._running += 1

    def _run(self) -> None:
        gate = threading.Lock()
        gate.acquire()
        while True:
            work = self._take(gate)
            if work is None:
                gate.acquire()
            else:
                work()

    def _take(self, gate: threading.Lock) -> Work | None:
        """The next work, or None after having parked this thread behind its gate."""
        with self._lock:
            if self._pending:
                self._taken += 1
                return self._pending.popleft()
            self._running -= 1
            self._parked.append(gate)
            return None
