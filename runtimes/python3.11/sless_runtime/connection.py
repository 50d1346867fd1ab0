"""HTTP/1.1 on one connection, as an asyncio protocol."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Protocol

from .faults import Fault
from .protocol import MAX_HEAD_BYTES

_BUFFERED_DURING_CALL = 64 * 1024
_LINGER_SECONDS = 2.0
_LENGTH = re.compile(rb"\d{1,18}\Z")
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\Z")
_TARGET = re.compile(r"[!-~\x80-\xff]+\Z")
_VERSIONS = ("HTTP/1.1", "HTTP/1.0")
_BLANK = " \t"
_METHOD = re.compile(r"[A-Z][A-Z-]{0,31}\Z")
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Request:
    """Head of a request; `headers` in order, names in lower case; `by_name` has the last value of each."""

    __slots__ = ("method", "target", "headers", "by_name", "keep_alive", "length", "chunked")

    def __init__(self, method: str, target: str, headers: list[tuple[str, str]], keep_alive: bool) -> None:
        self.method = method
        self.target = target
        self.headers = headers
        self.by_name = dict(headers)
        self.keep_alive = keep_alive
        self.length = 0
        self.chunked = False


class Service(Protocol):
    """What a connection asks of the worker."""

    max_body_bytes: int

    # Called in this order for each request; the last two at any time.

    def admit(self, connection: "Connection", request: Request) -> None:
        """Takes the call before its body is read; raises a Fault to refuse it."""

    def run(self, connection: "Connection", request: Request, body: bytes) -> None:
        """Runs a call whose body has arrived."""

    def refuse(self, connection: "Connection", fault: Fault) -> None:
        """Answers a request that is no call, and ends the connection."""

    def caller_gone(self, connection: "Connection") -> None:
        """The caller of the call in progress hung up."""

    def closed(self, connection: "Connection") -> None:
        """The connection is over."""


def _bad_request(message: str) -> Fault:
    return Fault("bad-request", "BadRequest", message)


def _framing(request: Request, headers: list[tuple[str, str]]) -> None:
    """Settles how long the body is. Raises a fault for a request that two parsers could read in two ways."""
    lengths = {value for name, value in headers if name == "content-length"}
    encodings = [value for name, value in headers if name == "transfer-encoding"]
    if encodings:
        if lengths or encodings != ["chunked"]:
            raise _bad_request("Transfer-Encoding must be chunked alone, without Content-Length")
        request.chunked = True
    elif lengths:
        (text, *others) = lengths
        if others or not _LENGTH.match(text.encode("latin-1")):
            raise _bad_request("Content-Length is not one whole number")
        request.length = int(text)


def parse_head(head: bytes) -> Request:
    """Parses a request's head without its blank line. Raises a bad-request fault."""
    text = head.decode("latin-1")
    first, *lines = text.split("\r\n")
    # A bare line feed is a line's end to some parsers and not to others.
    if "\0" in text or text.count("\n") != len(lines):
        raise _bad_request("the head holds a control character")
    parts = first.split(" ")
    if len(parts) != 3 or parts[2] not in _VERSIONS or not _METHOD.match(parts[0]):
        raise _bad_request("the request line is not valid")
    if not _TARGET.match(parts[1]):
        raise _bad_request("the request target is not valid")
    headers: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name[-1] in _BLANK or name[0] in _BLANK:
            raise _bad_request("a header is not valid")
        headers.append((name.lower(), value.strip(_BLANK)))
    request = Request(parts[0], parts[1], headers, parts[2] == "HTTP/1.1")
    by_name = request.by_name
    if "close" in by_name.get("connection", "").lower():
        request.keep_alive = False
    if "content-length" in by_name or "transfer-encoding" in by_name:
        _framing(request, headers)
    return request


class Connection(asyncio.Protocol):
    """Reads one request after another; while a call runs, only its caller's end is watched for."""

    def __init__(self, slot: int, service: Service) -> None:
        self.slot = slot
        self.call: object | None = None
        self.is_open = False
        self.was_reset = False
        self.was_released = False
        self._service = service
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray()
        self._request: Request | None = None
        self._chunks: list[bytes] = []
        self._received = 0
        self._read: Callable[[], bool] = self._read_head
        self._writable = asyncio.Event()
        self._writable.set()
        self.transport: asyncio.Transport

    # -- asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self.call is not None and self._read == self._idle:
            if len(self._buffer) > _BUFFERED_DURING_CALL:
                self.transport.pause_reading()
            return
        self._advance()

    def eof_received(self) -> bool:
        # A caller that only closes its sending side still waits for the answer; between calls it is gone.
        return self.call is not None and self.is_open

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        self._writable.set()
        if self.call is not None:
            self._service.caller_gone(self)
        self._service.closed(self)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # -- the worker's side

    async def drain(self) -> None:
        """Waits until more may be written."""
        await self._writable.wait()

    def next_request(self) -> None:
        """The call is over: goes on with the next request, which may have arrived already."""
        self._request = None
        self._read = self._read_head
        self.transport.resume_reading()
        if self._buffer:
            self._loop.call_soon(self._advance)

    def skip_request(self) -> bool:
        """Passes over the refused request's body if all of it is here; says whether the connection can go on."""
        request = self._request
        if request is None or request.chunked or not request.keep_alive or len(self._buffer) < request.length:
            return False
        del self._buffer[: request.length]
        self.next_request()
        return True

    def end_after(self, response: bytes) -> None:
        """Sends a last answer. What still arrives is read and dropped for a while, or a reset could overtake it."""
        self._read = self._discard
        self._buffer.clear()
        self.transport.write(response)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._loop.call_later(_LINGER_SECONDS, self.transport.abort)

    def _discard(self) -> bool:
        self._buffer.clear()
        return False

    @property
    def is_between_requests(self) -> bool:
        return self.call is None and not self._buffer and self._read == self._read_head

    def release(self) -> None:
        """Gives the connection back unharmed: the supervisor's duplicate keeps it open for the next worker."""
        self._read = self._idle
        self.was_released = True
        self.transport.abort()

    def close(self) -> None:
        self._read = self._idle
        self.transport.close()

    def reset(self) -> None:
        """Ends the connection so that nobody can take what was sent for a whole answer."""
        self._read = self._idle
        self.was_reset = True
        self.transport.abort()

    # -- reading: each state returns whether there may be more to do

    def _advance(self) -> None:
        try:
            while self.is_open and self._read():
                pass
        except Fault as fault:
            self._read = self._idle
            self._service.refuse(self, fault)

    def _idle(self) -> bool:
        return False

    def _read_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MAX_HEAD_BYTES:
                raise _bad_request(f"the head is longer than {MAX_HEAD_BYTES} bytes")
            return False
        request = parse_head(bytes(self._buffer[:end]))
        del self._buffer[: end + 4]
        self._request = request
        self._chunks, self._received = [], 0
        if request.length > self._service.max_body_bytes:
            raise Fault("body-too-large", "BodyTooLarge", f"the body is larger than {self._service.max_body_bytes} bytes")
        self._service.admit(self, request)
        if request.by_name.get("expect", "").lower() == "100-continue" and not self._buffer:
            self.transport.write(CONTINUE)
        if request.chunked:
            self._read = self._read_chunk_size
        elif request.length:
            self._read = self._read_body
        else:
            self._run(b"")
            return False
        return True

    def _read_body(self) -> bool:
        request = self._request
        if request is None or len(self._buffer) < request.length:
            return False
        body = bytes(self._buffer[: request.length])
        del self._buffer[: request.length]
        self._run(body)
        return False

    def _take_line(self) -> bytes | None:
        end = self._buffer.find(b"\r\n")
        if end < 0:
            if len(self._buffer) > MAX_HEAD_BYTES:
                raise _bad_request("a line of a chunked body is too long")
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 2]
        return line

    def _read_chunk_size(self) -> bool:
        line = self._take_line()
        if line is None:
            return False
        match = _CHUNK_SIZE.match(line)
        if not match:
            raise _bad_request("a chunk's size is not valid")
        self._chunk_left = int(match.group(1), 16)
        self._received += self._chunk_left
        if self._received > self._service.max_body_bytes:
            raise Fault("body-too-large", "BodyTooLarge", f"the body is larger than {self._service.max_body_bytes} bytes")
        self._read = self._read_chunk if self._chunk_left else self._read_trailers
        return True

    def _read_chunk(self) -> bool:
        if len(self._buffer) < self._chunk_left + 2:
            return False
        if self._buffer[self._chunk_left : self._chunk_left + 2] != b"\r\n":
            raise _bad_request("a chunk does not end where its size says")
        self._chunks.append(bytes(self._buffer[: self._chunk_left]))
        del self._buffer[: self._chunk_left + 2]
        self._read = self._read_chunk_size
        return True

    def _read_trailers(self) -> bool:
        line = self._take_line()
        if line is None:
            return False
        if line == b"":
            self._run(b"".join(self._chunks))
            return False
        return True

    def _run(self, body: bytes) -> None:
        self._read = self._idle
        if self._request is not None:
            self._service.run(self, self._request, body)
