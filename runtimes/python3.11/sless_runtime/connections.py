"""The gateway's connections: accepted here, served by a worker, answered here when their worker dies."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from dataclasses import dataclass

from .call_table import ANSWERING, IDLE, MAX_SLOTS
from .faults import Fault, fault_response
from .worker_process import WorkerProcess

_HOLD_SECONDS = 10.0
"""How long a connection waits for a worker to become ready before it is told to go elsewhere."""
_LINGER_SECONDS = 2.0
_RESET = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class Held:
    slot: int
    sock: socket.socket
    worker: WorkerProcess | None = None
    hold: asyncio.TimerHandle | None = None


class Connections:
    """Keeps a duplicate of each connection's descriptor while a worker serves it.

    What a worker leaves behind when it dies is answered here or handed on.
    """

    def __init__(self, listener: socket.socket, version_uid: str) -> None:
        self._listener = listener
        self._version_uid = version_uid
        self._by_slot: dict[int, Held] = {}
        self._free = list(range(MAX_SLOTS - 1, -1, -1))
        self._worker: WorkerProcess | None = None
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(listener.fileno(), self._accept)

    def stop_accepting(self) -> None:
        self._loop.remove_reader(self._listener.fileno())
        self._listener.close()

    def _accept(self) -> None:
        try:
            sock, _ = self._listener.accept()
        except OSError:
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self._free:
            self._answer(sock, Fault("busy", "Busy", f"{MAX_SLOTS} connections are open"))
            return
        held = Held(self._free.pop(), sock)
        self._by_slot[held.slot] = held
        self._place(held)

    def route(self, worker: WorkerProcess | None) -> None:
        """From now on connections go to this worker, those that wait for one first; None lets them wait."""
        self._worker = worker
        if worker is not None:
            for held in [held for held in self._by_slot.values() if held.worker is None]:
                self._place(held)

    def closed(self, slot: int, worker: WorkerProcess, reset: bool) -> None:
        """A worker has ended a connection."""
        held = self._by_slot.get(slot)
        worker.slots.discard(slot)
        if held is None or held.worker is not worker:
            return
        if reset:
            held.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        held.sock.close()
        self._release(held)

    def released(self, slot: int, worker: WorkerProcess) -> None:
        """A worker has given up a connection between two calls."""
        held = self._by_slot.get(slot)
        worker.slots.discard(slot)
        if held is not None and held.worker is worker:
            self._place(held)

    def orphaned(self, worker: WorkerProcess) -> None:
        """A worker has died: calls get their fault, half-sent answers a reset, idle connections the next worker."""
        for held in [held for held in self._by_slot.values() if held.worker is worker]:
            call = worker.table.read(held.slot)
            if call.state == IDLE:
                self._place(held)
                continue
            if call.state == ANSWERING:
                held.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                held.sock.close()
            else:
                self._answer(held.sock, worker.fault_of_death(call), (time.monotonic() - call.started) * 1000)
            self._release(held)

    def refuse_waiting(self, fault: Fault) -> None:
        """Answers every connection that no worker serves."""
        for held in [held for held in self._by_slot.values() if held.worker is None]:
            self._answer(held.sock, fault)
            self._release(held)

    def _place(self, held: Held) -> None:
        if held.hold is not None:
            held.hold.cancel()
        held.worker = self._worker
        if held.worker is not None:
            held.worker.adopt(held.slot, held.sock)
        else:
            held.hold = self._loop.call_later(_HOLD_SECONDS, self._give_up, held)

    def _give_up(self, held: Held) -> None:
        if held.worker is None:
            self._answer(held.sock, Fault("not-ready", "NotReady", "the function's process did not become ready in time"))
            self._release(held)

    def _release(self, held: Held) -> None:
        if held.hold is not None:
            held.hold.cancel()
        if self._by_slot.pop(held.slot, None) is not None:
            self._free.append(held.slot)

    def _answer(self, sock: socket.socket, fault: Fault, run_ms: float | None = None) -> None:
        """Sends a last answer; what still arrives is read for a while, or a reset could overtake it."""
        try:
            sock.send(fault_response(fault, self._version_uid, run_ms=run_ms, close=True))
            sock.shutdown(socket.SHUT_WR)
        except OSError:
            sock.close()
            return

        def drop() -> None:
            try:
                data = sock.recv(65536)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                end()

        def end() -> None:
            timer.cancel()
            self._loop.remove_reader(fd)
            sock.close()

        fd = sock.fileno()
        timer = self._loop.call_later(_LINGER_SECONDS, end)
        self._loop.add_reader(fd, drop)
