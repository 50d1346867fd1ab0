"""The pod's log: one JSON object a line on standard output, bounded in length and rate."""

from __future__ import annotations

import json
import os
import time
from datetime import datetime, timezone

from .protocol import MAX_LINE_BYTES

_LINES_PER_SECOND = 2000
_BYTES_PER_SECOND = 2 * 1024 * 1024


class LogSink:
    """Writes log lines; what exceeds the rate is dropped and counted in a line of its own."""

    def __init__(self, fd: int = 1) -> None:
        self._fd = fd
        self._second = 0
        self._lines = 0
        self._bytes = 0
        self._dropped = 0

    def write(self, stream: str, message: str, *, request_id: str = "", level: str = "", truncated: int = 0) -> None:
        if not self._has_room(len(message)):
            self._dropped += 1
            return
        self._emit(stream, message, request_id, level, truncated)

    def platform(self, level: str, message: str, request_id: str = "") -> None:
        """A line of the platform's own; never dropped."""
        self._emit("platform", message, request_id, level, 0)

    def _has_room(self, size: int) -> bool:
        second = int(time.monotonic())
        if second != self._second:
            self.report_dropped()
            self._second, self._lines, self._bytes = second, 0, 0
        self._lines += 1
        self._bytes += size
        return self._lines <= _LINES_PER_SECOND and self._bytes <= _BYTES_PER_SECOND

    def report_dropped(self) -> None:
        """Says how many lines were dropped since it was last said; within the second that dropped them it waits."""
        if self._dropped and int(time.monotonic()) != self._second:
            dropped, self._dropped = self._dropped, 0
            self.platform("warn", f"{dropped} log lines were dropped: more than {_LINES_PER_SECOND} lines or 2 MiB a second")

    def _emit(self, stream: str, message: str, request_id: str, level: str, truncated: int) -> None:
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line: dict[str, object] = {"time": now}
        if request_id:
            line["requestId"] = request_id
        line["stream"] = stream
        if level:
            line["level"] = level
        line["message"] = message
        if truncated:
            line["truncated"] = truncated
        data = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        while data:
            data = data[os.write(self._fd, data) :]


class LineAssembler:
    """Cuts a byte stream into lines of bounded length."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._cut = 0

    def feed(self, data: bytes) -> list[tuple[str, int]]:
        """Whole lines that `data` completes, each with the number of bytes cut off."""
        lines = []
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._append(part)
            lines.append(self._take())
        self._append(rest)
        return lines

    def rest(self) -> list[tuple[str, int]]:
        return [self._take()] if self._buffer else []

    def _append(self, part: bytes) -> None:
        room = MAX_LINE_BYTES - len(self._buffer)
        self._buffer += part[:room]
        self._cut += max(0, len(part) - room)

    def _take(self) -> tuple[str, int]:
        line = (self._buffer.decode("utf-8", "replace"), self._cut)
        self._buffer.clear()
        self._cut = 0
        return line
