"""The call table: shared memory in which a worker notes what each connection is at.

It outlives a worker that dies at any instruction, so the supervisor knows which connections it owes an answer, and what
it costs per call is two writes to memory.
"""

from __future__ import annotations

import mmap
import os
import struct
from dataclasses import dataclass

IDLE, RUNNING, ANSWERING = 0, 1, 2

_RECORD = struct.Struct("<B7xdd64s")
_STATE = struct.Struct("<B")
_BEAT = struct.Struct("<d")
_HEADER_BYTES = 64
MAX_SLOTS = 4096
_TABLE_BYTES = _HEADER_BYTES + MAX_SLOTS * _RECORD.size


@dataclass(frozen=True, slots=True)
class Call:
    slot: int
    state: int
    started: float
    deadline: float
    request_id: str


class CallTable:
    """One worker's table. Times are of time.monotonic(), which all processes of a machine share."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._memory = mmap.mmap(fd, _TABLE_BYTES)

    @classmethod
    def create(cls) -> "CallTable":
        fd = os.memfd_create("sless-calls")
        os.ftruncate(fd, _TABLE_BYTES)
        return cls(fd)

    def begin(self, slot: int, request_id: str, started: float, deadline: float) -> None:
        at = _HEADER_BYTES + slot * _RECORD.size
        _RECORD.pack_into(self._memory, at, RUNNING, started, deadline, request_id.encode("latin-1", "replace")[:64])

    def set_state(self, slot: int, state: int) -> None:
        _STATE.pack_into(self._memory, _HEADER_BYTES + slot * _RECORD.size, state)

    def beat(self, now: float) -> None:
        _BEAT.pack_into(self._memory, 0, now)

    def last_beat(self) -> float:
        return _BEAT.unpack_from(self._memory, 0)[0]

    def read(self, slot: int) -> Call:
        state, started, deadline, request_id = _RECORD.unpack_from(self._memory, _HEADER_BYTES + slot * _RECORD.size)
        return Call(slot, state, started, deadline, request_id.rstrip(b"\0").decode("latin-1"))

    def close(self) -> None:
        self._memory.close()
        os.close(self.fd)
