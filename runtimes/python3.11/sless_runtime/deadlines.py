"""One timer for the deadlines of all calls: a timer for each would cost as much as parsing the request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Timed(Protocol):
    deadline: float


class DeadlineTimer:
    """Reports calls whose deadline has passed. The timer is set for the nearest; a call that ends leaves it as it is."""

    def __init__(self, loop: asyncio.AbstractEventLoop, report: Callable[[], None]) -> None:
        self._loop = loop
        self._report = report
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0

    def watch(self, deadline: float) -> None:
        """Sees to it that the deadlines are looked at when this one has passed."""
        if self._timer is None or deadline < self._next:
            if self._timer is not None:
                self._timer.cancel()
            self._next = deadline
            self._timer = self._loop.call_later(max(0.0, deadline - time.monotonic()), self._fire)

    def _fire(self) -> None:
        self._timer = None
        self._report()
