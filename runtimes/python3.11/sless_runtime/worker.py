"""The worker process: loads the handler, then serves the connections that the supervisor hands over."""

from __future__ import annotations

import asyncio
import json
import math
import os
import resource
import signal
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any, NoReturn

from .call_table import CallTable
from .calls import Call, CallRunner
from .capture import LineChannel, TaggedStream, capture_output
from .connection import Connection, Request
from .faults import Fault, fault_response
from .loader import LoadError, load_handler
from .settings import Settings, read_settings, worker_environment

_BEAT_SECONDS = 0.1
_FAR_DEADLINE_MS = 10**9
_EXIT_FLUSH_SECONDS = 0.5
_STACK_BYTES = 1024 * 1024
_SPARE_THREADS = 16
"""Beyond one for each call: what the user's own threads may take before they count as the function's memory."""


class SupervisorLink:
    """The worker's end of the socket to its supervisor: messages as JSON lines, connections as descriptors."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._socket.setblocking(True)

    def send(self, **message: Any) -> None:
        try:
            self._socket.send(json.dumps(message).encode())
        except OSError:
            # The supervisor is gone; the watch on the same socket ends this process.
            pass

    def receive(self) -> tuple[dict[str, Any], list[int]] | None:
        """The next message with the descriptors that came along; None when the supervisor is gone."""
        data, fds, _, _ = socket.recv_fds(self._socket, 65536, 8)
        return (json.loads(data), fds) if data else None

    def fileno(self) -> int:
        return self._socket.fileno()


class Worker:
    """Admits calls as far as there is room, and keeps the supervisor informed."""

    def __init__(self, settings: Settings, link: SupervisorLink, table: CallTable) -> None:
        self.max_body_bytes = settings.max_body_bytes
        self._settings = settings
        self._link = link
        self._table = table
        self._connections: dict[int, Connection] = {}
        self._closing: str | None = None
        self._runner: CallRunner
        self._loop: asyncio.AbstractEventLoop

    async def serve(self, handler: Callable[..., Any], code_dir: str, streams: tuple[TaggedStream, TaggedStream]) -> None:
        self._loop = asyncio.get_running_loop()
        self._runner = CallRunner(
            self._settings, code_dir, handler, self._table, streams, self._retire, self._exit
        )
        self._hook_exit()
        self._loop.add_reader(self._link.fileno(), self._on_message)
        self._beat()
        self._link.send(type="loaded")
        await self._loop.create_future()

    # -- connections

    def _on_message(self) -> None:
        received = self._link.receive()
        if received is None:
            os._exit(0)
        message, fds = received
        if message["type"] == "connection" and fds:
            self._loop.create_task(self._adopt(message["slot"], socket.socket(fileno=fds[0])))
        elif message["type"] == "drain":
            self._stop_taking("draining")

    async def _adopt(self, slot: int, sock: socket.socket) -> None:
        sock.setblocking(False)
        connection = Connection(slot, self)
        self._connections[slot] = connection
        if self._closing == "not-ready":
            # It was on its way here when the replacement was ordered.
            sock.close()
            connection.was_released = True
            self.closed(connection)
            return
        await self._loop.connect_accepted_socket(lambda: connection, sock)

    def closed(self, connection: Connection) -> None:
        del self._connections[connection.slot]
        kind = "released" if connection.was_released else "closed"
        self._link.send(type=kind, slot=connection.slot, reset=connection.was_reset)

    # -- calls

    def admit(self, connection: Connection, request: Request) -> None:
        by_name = request.by_name
        expected = by_name.get("x-sless-version-uid")
        if expected is not None and expected != self._settings.version_uid:
            raise Fault("wrong-version", "WrongVersion", "another version runs here")
        if self._closing is not None:
            raise Fault(self._closing, "NotTaken", "this process takes no more calls")
        if len(self._runner.calls) >= self._settings.concurrency:
            raise Fault("busy", "Busy", f"all {self._settings.concurrency} places are taken")
        started = time.monotonic()
        remaining = min(self._settings.timeout_sec, _milliseconds(by_name.get("x-sless-deadline-ms")) / 1000)
        if remaining <= 0:
            raise Fault("timeout", "Timeout", "the deadline has passed before the call arrived")
        request_id = by_name.get("x-sless-request-id") or str(uuid.uuid4())
        self._runner.admit(Call(connection, request, request_id, started, started + remaining))

    def run(self, connection: Connection, request: Request, body: bytes) -> None:
        if isinstance(connection.call, Call):
            self._runner.run(connection.call, body)

    def refuse(self, connection: Connection, fault: Fault) -> None:
        if isinstance(connection.call, Call):
            self._runner.fail(connection.call, fault)
            return
        goes_on = self._closing is None and connection.skip_request()
        response = fault_response(fault, self._settings.version_uid, close=not goes_on)
        if goes_on:
            connection.transport.write(response)
        else:
            connection.end_after(response)

    def caller_gone(self, connection: Connection) -> None:
        if isinstance(connection.call, Call):
            self._runner.caller_gone(connection.call)

    # -- life

    def _beat(self) -> None:
        self._table.beat(time.monotonic())
        self._loop.call_later(_BEAT_SECONDS, self._beat)

    def _stop_taking(self, reason: str) -> None:
        """No more calls here; connections end with the call that they carry."""
        self._closing = reason
        for connection in self._connections.values():
            if isinstance(connection.call, Call):
                connection.call.request.keep_alive = False

    def _give_up_idle(self) -> None:
        """Takes no more calls and hands the connections between two calls back."""
        if self._closing is None:
            self._stop_taking("not-ready")
            for connection in [one for one in self._connections.values() if one.is_between_requests]:
                connection.release()

    def _retire(self, reason: str, request_id: str) -> None:
        self._give_up_idle()
        self._link.send(type="retire", reason=reason, requestId=request_id)

    def _hook_exit(self) -> None:
        """`os._exit` by user code: callers learn of it before the process goes."""
        real_exit = os._exit

        def exit_process(code: int) -> NoReturn:
            self._exit(code)
            # Out of the loop's thread: it flushes the answers and ends the process; this thread waits for that.
            time.sleep(_EXIT_FLUSH_SECONDS)
            real_exit(code)

        self._real_exit = real_exit
        os._exit = exit_process  # type: ignore[assignment]

    def _exit(self, code: int) -> None:
        def leave() -> None:
            # Idle connections go to the next worker before a caller who has its answer can send another request here.
            self._give_up_idle()
            if self._runner.calls:
                self._link.send(type="exiting")
            self._runner.exiting(code)
            self._loop.call_soon(self._real_exit, code & 0xFF)

        self._loop.call_soon_threadsafe(leave)


def _milliseconds(text: str | None) -> float:
    try:
        value = float(text) if text else math.inf
    except ValueError:
        return _FAR_DEADLINE_MS
    return value if 0 <= value < _FAR_DEADLINE_MS else _FAR_DEADLINE_MS


def _limit_memory(settings: Settings) -> None:
    """Allocations beyond the limit raise MemoryError, which can still be answered; the supervisor watches the rest.

    Stacks count as data whether they are used or not, so they are kept small and get room of their own.
    """
    threading.stack_size(_STACK_BYTES)
    limit = settings.memory_mb * 1024 * 1024 + (settings.concurrency + _SPARE_THREADS) * _STACK_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def main(link_fd: int, table_fd: int, log_fd: int, environment: dict[str, str]) -> None:
    """Runs the worker until its supervisor goes or ends it."""
    settings = read_settings(environment)
    link = SupervisorLink(socket.socket(fileno=link_fd))
    table = CallTable(table_fd)
    # Ctrl-C and SIGTERM are the supervisor's to handle.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    streams = capture_output(LineChannel(log_fd))
    visible = worker_environment(environment)
    os.environ.clear()
    os.environ.update(visible)
    _limit_memory(settings)
    code_dir = os.path.realpath(settings.code_dir)
    try:
        handler = load_handler(settings.entrypoint, code_dir)
    except LoadError as error:
        for stream in streams:
            stream.end_call("")
        link.send(type="load-error", message=str(error))
        os._exit(1)
    sys.argv[:] = [settings.entrypoint]
    asyncio.run(Worker(settings, link, table).serve(handler, code_dir, streams))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), dict(os.environ))
