"""What the handler prints, tagged with the call that printed it."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from contextvars import ContextVar

from .protocol import MAX_LINE_BYTES

current_request: ContextVar[str] = ContextVar("sless_request", default="")


class LineChannel:
    """Sends whole lines to the supervisor, one JSON object a line."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()

    def send(self, stream: str, request_id: str, text: str, *, cut: int = 0) -> None:
        """`cut`: bytes of the line that were dropped before."""
        content = text.encode("utf-8", "replace")
        record: dict[str, object] = {"s": stream, "m": text}
        if len(content) > MAX_LINE_BYTES:
            record["m"] = content[:MAX_LINE_BYTES].decode("utf-8", "ignore")
            cut += len(content) - MAX_LINE_BYTES
        if cut:
            record["t"] = cut
        if request_id:
            record["r"] = request_id
        data = json.dumps(record).encode() + b"\n"
        with self._lock:
            while data:
                data = data[os.write(self._fd, data) :]


class TaggedStream(io.TextIOBase):
    """Stands in for sys.stdout and sys.stderr: collects lines per call and hands on each as soon as it is whole.

    Of a line that does not end, only as much is kept as would be logged.
    """

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, name: str, fd: int, channel: LineChannel) -> None:
        self._name = name
        self._fd = fd
        self._channel = channel
        self._partial: dict[str, str] = {}
        self._cut: dict[str, int] = {}

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._fd

    def isatty(self) -> bool:
        return False

    @property
    def buffer(self) -> "BytesWriter":
        return BytesWriter(self)

    def write(self, text: str) -> int:
        request_id = current_request.get()
        lines = (self._partial.pop(request_id, "") + text).split("\n")
        for line in lines[:-1]:
            self._emit(request_id, line)
        if lines[-1]:
            self._keep(request_id, lines[-1])
        return len(text)

    def _keep(self, request_id: str, partial: str) -> None:
        if len(partial) > MAX_LINE_BYTES:
            self._cut[request_id] = self._cut.get(request_id, 0) + len(partial) - MAX_LINE_BYTES
            partial = partial[:MAX_LINE_BYTES]
        self._partial[request_id] = partial

    def _emit(self, request_id: str, line: str) -> None:
        self._channel.send(self._name, request_id, line, cut=self._cut.pop(request_id, 0))

    @property
    def has_partial(self) -> bool:
        """Whether any call has printed a line that has not ended yet."""
        return bool(self._partial)

    def end_call(self, request_id: str) -> None:
        """Hands on what a call has printed without a line's end."""
        partial = self._partial.pop(request_id, "")
        if partial:
            self._emit(request_id, partial)

    def flush(self) -> None:
        """Lines go as they end, so there is nothing to do."""


class BytesWriter(io.RawIOBase):
    """`sys.stdout.buffer`, for code that prints bytes."""

    def __init__(self, text: TaggedStream) -> None:
        self._text = text

    def writable(self) -> bool:
        return True

    def write(self, data: bytes | bytearray | memoryview) -> int:  # type: ignore[override]
        content = bytes(data)
        self._text.write(content.decode("utf-8", "replace"))
        return len(content)


def capture_output(channel: LineChannel) -> tuple[TaggedStream, TaggedStream]:
    """Replaces sys.stdout and sys.stderr. What native code writes goes to the descriptors, which the supervisor reads."""
    out, err = TaggedStream("stdout", 1, channel), TaggedStream("stderr", 2, channel)
    sys.stdout, sys.stderr = out, err
    return out, err
