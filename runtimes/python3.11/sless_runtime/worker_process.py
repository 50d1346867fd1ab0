"""The supervisor's view of one worker process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from .call_table import RUNNING, Call, CallTable
from .faults import Fault
from .logs import LineAssembler, LogSink

_PAGE = os.sysconf("SC_PAGE_SIZE")
_READ_BYTES = 65536
_SETTLED_SECONDS = 0.05
"""A call that has run alone for so long is taken for the author of untagged output."""
_PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def private_memory(pid: int) -> int:
    """Bytes that only this process holds; 0 when it is gone or the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * _PAGE


class WorkerProcess:
    """Starts a worker, talks with it, collects what it prints, and notices its end."""

    def __init__(
        self,
        sink: LogSink,
        memory_mb: int,
        on_message: Callable[["WorkerProcess", dict[str, Any]], None],
        on_death: Callable[["WorkerProcess"], None],
    ) -> None:
        self.loaded = False
        self.retiring_since: float | None = None
        self.killed_for: str | None = None
        # It ends because a call ended it, whose caller it has told; not to be taken for a death between calls.
        self.ends_in_call = False
        self.started = time.monotonic()
        self.table = CallTable.create()
        self.slots: set[int] = set()
        self._outbox: deque[tuple[bytes, socket.socket | None]] = deque()
        self._sink = sink
        self._memory_mb = memory_mb
        self._on_message = on_message
        self._on_death = on_death
        self._loop = asyncio.get_running_loop()
        self._link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        log_read, log_write = os.pipe()
        fds = (theirs.fileno(), self.table.fd, log_write)
        self._process = subprocess.Popen(
            [sys.executable, "-B", "-u", "-m", "sless_runtime.worker", *map(str, fds)],
            stdin=subprocess.DEVNULL,
            stdout=out_write,
            stderr=err_write,
            pass_fds=fds,
            env={**os.environ, "PYTHONPATH": _PACKAGE_PARENT},
        )
        for fd in (out_write, err_write, log_write):
            os.close(fd)
        theirs.close()
        self._link.setblocking(False)
        self._loop.add_reader(self._link.fileno(), self._read_link)
        self._open_outputs = 3
        self._collect(out_read, "stdout")
        self._collect(err_read, "stderr")
        self._collect_records(log_read)

    @property
    def pid(self) -> int:
        return self._process.pid

    # -- talk

    def adopt(self, slot: int, sock: socket.socket) -> None:
        """Hands a connection over; this process keeps a duplicate."""
        self.slots.add(slot)
        self._send({"type": "connection", "slot": slot}, sock)

    def drain(self) -> None:
        self._send({"type": "drain"}, None)

    def _send(self, message: dict[str, Any], sock: socket.socket | None) -> None:
        self._outbox.append((json.dumps(message).encode(), sock))
        if len(self._outbox) == 1:
            self._flush()

    def _flush(self) -> None:
        """Sends what waits. The kernel queues about ten messages; more wait here until the worker has read some."""
        try:
            while self._outbox:
                message, sock = self._outbox[0]
                socket.send_fds(self._link, [message], [sock.fileno()] if sock is not None and sock.fileno() >= 0 else [])
                self._outbox.popleft()
        except BlockingIOError:
            self._loop.add_writer(self._link.fileno(), self._flush)
            return
        except OSError:
            # The worker is dying; its death hands its connections on.
            self._outbox.clear()
        self._loop.remove_writer(self._link.fileno())

    def _read_link(self) -> None:
        try:
            data = self._link.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._on_message(self, json.loads(data))
        else:
            self._loop.remove_reader(self._link.fileno())
            self._loop.remove_writer(self._link.fileno())
            self._outbox.clear()
            self._ended()

    def _ended(self) -> None:
        """The link has closed. Outputs may hold more: the death is reported when all of it has been read."""
        self._reaping = self._loop.create_task(self._reap())

    async def _reap(self) -> None:
        while self._process.poll() is None:
            await asyncio.sleep(0.002)
        # A grandchild that holds the outputs open must not hold up the callers.
        give_up = time.monotonic() + 0.2
        while self._open_outputs and time.monotonic() < give_up:
            await asyncio.sleep(0.002)
        self._on_death(self)
        self._link.close()

    # -- what it prints

    def _collect(self, fd: int, stream: str) -> None:
        lines = LineAssembler()

        def write(found: list[tuple[str, int]]) -> None:
            for text, cut in found:
                self._sink.write(stream, text, request_id=self._only_request(), truncated=cut)

        self._watch(fd, lambda data: write(lines.feed(data)), lambda: write(lines.rest()))

    def _collect_records(self, fd: int) -> None:
        buffer = bytearray()

        def take(data: bytes) -> None:
            buffer.extend(data)
            while (end := buffer.find(b"\n")) >= 0:
                record = json.loads(bytes(buffer[:end]))
                del buffer[: end + 1]
                self._sink.write(record["s"], record["m"], request_id=record.get("r", ""), truncated=record.get("t", 0))

        self._watch(fd, take, lambda: None)

    def _watch(self, fd: int, take: Callable[[bytes], None], end: Callable[[], None]) -> None:
        def read() -> None:
            data = os.read(fd, _READ_BYTES)
            if data:
                take(data)
                return
            self._loop.remove_reader(fd)
            os.close(fd)
            end()
            self._open_outputs -= 1

        self._loop.add_reader(fd, read)

    def _only_request(self) -> str:
        """The call that native code or a child process prints for, if that is certain enough."""
        calls = self.calls()
        # What comes right after a call's start may have been printed for the one before it.
        is_settled = len(calls) == 1 and time.monotonic() - calls[0].started > _SETTLED_SECONDS
        return calls[0].request_id if is_settled else ""

    # -- state

    def calls(self) -> list[Call]:
        """Calls whose caller still waits."""
        return [call for slot in self.slots if (call := self.table.read(slot)).state != 0]

    def is_over_memory(self, limit: int) -> bool:
        return private_memory(self.pid) > limit

    def kill(self, reason: str) -> None:
        if self.killed_for is None:
            self.killed_for = reason
            self._process.send_signal(signal.SIGKILL)

    def fault_of_death(self, call: Call | None = None) -> Fault:
        """What the caller of a call is told that the worker held when it ended."""
        if self.killed_for == "memory":
            return Fault(
                "out-of-memory",
                "OutOfMemory",
                f"the function used more than its {self._memory_mb} MB of memory and was stopped",
            )
        if self.killed_for is None:
            return Fault("exited", "Exited", f"the function's process ended {self.describe_end()} during the call")
        if call is not None and call.state == RUNNING and call.deadline <= time.monotonic():
            budget = round((call.deadline - call.started) * 1000)
            return Fault("timeout", "Timeout", f"the function did not finish within {budget} ms and did not react")
        return Fault(
            "exited",
            "Exited",
            "the function's process was stopped during the call, because another call blocked it past its deadline",
        )

    def describe_end(self) -> str:
        code = self._process.returncode
        if code is not None and code < 0:
            return f"by signal {signal.Signals(-code).name}"
        return f"with code {code}"
