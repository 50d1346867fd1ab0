"""Owns the call port and the workers: starts, replaces and ends them, and answers for those that cannot."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import time
from typing import Any

from .connections import Connections
from .control import Reply, serve_control
from .faults import Fault
from .logs import LogSink
from .protocol import GRACE_SECONDS, MAX_MESSAGE_CHARS
from .settings import Settings
from .worker_process import WorkerProcess, private_memory

_BUSY_TICK, _IDLE_TICK = 0.025, 0.1
_STUCK_AFTER = 0.6
"""A loop that has not turned for this long is stuck."""
_OVERRUN_GRACE = 0.1
_SILENCE_GRACE = 1.0
_MAX_IDLE_DEATHS, _IDLE_DEATH_WINDOW = 5, 10.0
_BACKLOG = 1024


class Supervisor:
    """The pod's first process."""

    def __init__(self, settings: Settings, sink: LogSink) -> None:
        self._settings = settings
        self._sink = sink
        self._workers: set[WorkerProcess] = set()
        self._current: WorkerProcess | None = None
        self._idle_deaths: list[float] = []
        self._draining = False
        self._failed = False
        self._memory_limit = settings.memory_mb * 1024 * 1024
        self._exit: asyncio.Future[int]
        self._connections: Connections

    async def run(self) -> int:
        """Serves until the pod shall end; returns the exit code."""
        loop = asyncio.get_running_loop()
        self._exit = loop.create_future()
        settings = self._settings
        listener = socket.create_server((settings.host, settings.port), backlog=_BACKLOG)
        listener.setblocking(False)
        self._connections = Connections(listener, settings.version_uid)
        self._memory_limit -= private_memory(os.getpid())
        self._start_worker()
        control = await serve_control(
            settings.host,
            settings.control_port,
            {
                ("GET", "/livez"): lambda: (200, {}),
                ("GET", "/readyz"): self._readiness,
                ("GET", "/state"): lambda: (200, self._state()),
                ("POST", "/drain"): self._on_drain,
            },
        )
        loop.add_signal_handler(signal.SIGTERM, lambda: loop.create_task(self._stop()))
        loop.add_signal_handler(signal.SIGINT, lambda: loop.create_task(self._stop()))
        watch = loop.create_task(self._watch())
        code = await self._exit
        watch.cancel()
        control.close()
        for worker in list(self._workers):
            worker.kill("stopping")
        return code

    # -- control

    def _readiness(self) -> Reply:
        if self._draining:
            return 503, {"reason": "Draining", "message": "the pod takes no more calls"}
        if self._current is not None and self._current.loaded:
            return 200, {}
        return 503, {"reason": "Loading", "message": f"{self._settings.entrypoint} is being loaded"}

    def _state(self) -> dict[str, Any]:
        return {
            "inFlight": self._in_flight(),
            "concurrency": self._settings.concurrency,
            "ready": self._readiness()[0] == 200,
            "draining": self._draining,
            "versionUid": self._settings.version_uid,
        }

    def _on_drain(self) -> Reply:
        self._drain()
        return 200, {}

    def _in_flight(self) -> int:
        return sum(len(worker.calls()) for worker in self._workers)

    def _drain(self) -> None:
        if self._draining:
            return
        self._draining = True
        for worker in self._workers:
            if worker.loaded:
                worker.drain()
        if self._current is None or not self._current.loaded:
            self._refuse_waiting()

    def _refuse_waiting(self) -> None:
        kind = "not-ready" if self._failed else "draining"
        self._connections.refuse_waiting(Fault(kind, "NotTaken", "the pod is being stopped"))

    async def _stop(self) -> None:
        """Drains, waits for calls in progress within the timeout, and ends."""
        self._drain()
        give_up = time.monotonic() + self._settings.timeout_sec + GRACE_SECONDS
        while self._in_flight() and time.monotonic() < give_up:
            await asyncio.sleep(_BUSY_TICK)
        self._finish(0)

    def _finish(self, code: int) -> None:
        if not self._exit.done():
            self._exit.set_result(code)

    # -- workers

    def _start_worker(self) -> None:
        self._current = WorkerProcess(self._sink, self._settings.memory_mb, self._on_message, self._on_death)
        self._workers.add(self._current)

    def _on_message(self, worker: WorkerProcess, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "loaded":
            worker.loaded = True
            if self._draining:
                worker.drain()
            if worker is self._current:
                self._connections.route(worker)
        elif kind == "load-error":
            self._fail("LoadError", message["message"])
        elif kind == "closed":
            self._connections.closed(message["slot"], worker, message["reset"])
        elif kind == "released":
            self._connections.released(message["slot"], worker)
        elif kind == "exiting":
            worker.ends_in_call = True
        elif kind == "retire":
            self._sink.platform("error", f"{message['reason']}; the process is replaced", message["requestId"])
            self._replace(worker)

    def _replace(self, worker: WorkerProcess) -> None:
        """The replacement starts at once; the old worker's calls go on until the watch sees that none is left."""
        worker.retiring_since = worker.retiring_since or time.monotonic()
        if worker is not self._current:
            return
        self._connections.route(None)
        self._current = None
        if not self._draining:
            self._start_worker()

    def _on_death(self, worker: WorkerProcess) -> None:
        if worker not in self._workers:
            return
        self._workers.discard(worker)
        calls = worker.calls()
        if worker is self._current:
            self._connections.route(None)
            self._current = None
        self._connections.orphaned(worker)
        for call in calls:
            self._sink.platform("error", worker.fault_of_death(call).message, call.request_id)
        worker.table.close()
        if self._draining or worker.retiring_since is not None or self._failed:
            return
        if not worker.loaded:
            self._on_death_while_loading(worker)
        elif calls or worker.ends_in_call or not self._dies_too_often():
            self._start_worker()
        else:
            end = worker.describe_end()
            self._fail("WorkerCrashed", f"the process ended {end} {_MAX_IDLE_DEATHS} times between calls")

    def _on_death_while_loading(self, worker: WorkerProcess) -> None:
        fault = worker.fault_of_death()
        if fault.kind == "out-of-memory":
            self._fail("OutOfMemory", f"{fault.message} while it was loaded")
        else:
            self._fail("LoadError", f"the process ended {worker.describe_end()} while {self._settings.entrypoint} was loaded")

    def _dies_too_often(self) -> bool:
        now = time.monotonic()
        self._idle_deaths = [at for at in self._idle_deaths if now - at < _IDLE_DEATH_WINDOW] + [now]
        return len(self._idle_deaths) >= _MAX_IDLE_DEATHS

    def _fail(self, reason: str, message: str) -> None:
        """Ends the pod for a reason that its status shall tell."""
        if self._failed or self._draining:
            return
        self._failed = True
        self._refuse_waiting()
        self._sink.platform("error", message)
        text = json.dumps({"reason": reason, "message": message[: MAX_MESSAGE_CHARS // 2]})
        try:
            with open(self._settings.termination_log, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            self._sink.platform("warn", f"the termination log could not be written: {error.strerror}")
        self._finish(1)

    # -- watch

    async def _watch(self) -> None:
        while True:
            busy = [self._look_at(worker) for worker in list(self._workers)]
            self._sink.report_dropped()
            await asyncio.sleep(_BUSY_TICK if any(busy) else _IDLE_TICK)

    def _look_at(self, worker: WorkerProcess) -> bool:
        """Ends a worker that must end; says whether something goes on in it."""
        now = time.monotonic()
        if worker.is_over_memory(self._memory_limit):
            worker.kill("memory")
        if not worker.loaded:
            limit = self._settings.load_timeout_sec
            if now - worker.started > limit:
                worker.kill("not-loaded")
                self._fail("LoadError", f"{self._settings.entrypoint} did not finish loading within {limit:g} s")
            return True
        calls = worker.calls()
        if worker.retiring_since is not None:
            late = now - worker.retiring_since > self._settings.timeout_sec + _SILENCE_GRACE
            if late or not calls:
                worker.kill("retired")
        elif self._is_stuck(now - worker.table.last_beat(), [call.deadline for call in calls], now):
            worker.kill("stuck")
        return bool(calls)

    def _is_stuck(self, silence: float, deadlines: list[float], now: float) -> bool:
        """The loop does not turn, so it can't end an overrun by itself."""
        if silence > self._settings.timeout_sec + _SILENCE_GRACE:
            return True
        return silence > _STUCK_AFTER and any(now > deadline + _OVERRUN_GRACE for deadline in deadlines)
