"""The second argument of a handler."""

from __future__ import annotations

import time

from .settings import Settings


class Context:
    """What a handler may know of its call."""

    __slots__ = ("request_id", "function_name", "function_version", "memory_limit_in_mb", "_deadline")

    def __init__(self, request_id: str, deadline: float, settings: Settings) -> None:
        self.request_id = request_id
        self.function_name = settings.function
        self.function_version = settings.version
        self.memory_limit_in_mb = settings.memory_mb
        self._deadline = deadline

    @property
    def aws_request_id(self) -> str:
        """The same as request_id, under the name that AWS Lambda gives it."""
        return self.request_id

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the call is stopped; never negative."""
        return max(0, int((self._deadline - time.monotonic()) * 1000))
