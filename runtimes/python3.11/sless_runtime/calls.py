"""Runs calls: handler, deadline, answer. Each call ends exactly once."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from .answer import Answer, to_answer
from .capture import TaggedStream, current_request
from . import call_table
from .call_table import CallTable
from .connection import Connection, Request
from .context import Context
from .deadlines import DeadlineTimer
from .event import make_event
from .faults import REASONS, Fault, fault_response
from .handler_threads import HandlerThreads
from .settings import Settings

RECEIVING, RUNNING, ANSWERING, ANSWERED = range(4)
"""Phases of a call: its body arrives, its handler runs, its answer is being streamed, its caller has been served."""

_CANCEL_GRACE_SECONDS = 0.1
"""What a coroutine gets to react to its cancellation before its process counts as stuck with it."""
_NO_BODY = frozenset((204, 205, 304))
_STACK_FRAMES = 20
_STATUS_LINES = {status: f"HTTP/1.1 {status} {reason}" for status, reason in REASONS.items()}
_END = object()


class Call:
    """One call. It is in the runner's `calls` as long as anything of it runs, answered or not."""

    __slots__ = ("connection", "request", "request_id", "started", "deadline", "run_started", "phase", "task", "is_late")

    def __init__(self, connection: Connection, request: Request, request_id: str, started: float, deadline: float) -> None:
        self.connection = connection
        self.request = request
        self.request_id = request_id
        self.started = started
        self.deadline = deadline
        self.run_started = started
        self.phase = RECEIVING
        self.task: asyncio.Task[None] | None = None
        self.is_late = False


def describe_thrown(error: BaseException, code_dir: str) -> Fault:
    """The fault of an exception that left the handler; frames and texts name no path outside the code."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(code_dir)]
    stack = [f"{frame.filename[len(code_dir) + 1:]}:{frame.lineno} in {frame.name}" for frame in frames[-_STACK_FRAMES:]]
    return Fault("handler-error", type(error).__name__, str(error).replace(code_dir + "/", ""), stack)


def format_thrown(error: BaseException, code_dir: str) -> str:
    """The traceback as Python prints it, from the first frame of the user's own code on."""
    frames = error.__traceback__
    while frames is not None and not frames.tb_frame.f_code.co_filename.startswith(code_dir):
        frames = frames.tb_next
    text = "".join(traceback.format_exception(type(error), error, frames or error.__traceback__))
    return text.replace(code_dir + "/", "")


class CallRunner:
    def __init__(
        self,
        settings: Settings,
        code_dir: str,
        handler: Callable[..., Any],
        table: CallTable,
        streams: tuple[TaggedStream, TaggedStream],
        retire: Callable[[str, str], None],
        end_process: Callable[[int], None],
    ) -> None:
        self.calls: set[Call] = set()
        self._settings = settings
        self._uid_header = f"x-sless-version-uid: {settings.version_uid}"
        self._code_dir = code_dir
        self._handler = handler
        self._is_coroutine = inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(
            getattr(handler, "__call__", None)
        )
        self._table = table
        self._streams = streams
        self._retire = retire
        self._end_process = end_process
        self._loop = asyncio.get_running_loop()
        self._threads = HandlerThreads(self._loop)
        self._deadlines = DeadlineTimer(self._loop, self._end_late_calls)

    def admit(self, call: Call) -> None:
        """Counts the call and watches its deadline, from before its body is read."""
        call.connection.call = call
        self._table.begin(call.connection.slot, call.request_id, call.started, call.deadline)
        self.calls.add(call)
        self._deadlines.watch(call.deadline)

    def run(self, call: Call, body: bytes) -> None:
        request = call.request
        event = make_event(
            request.method, request.target, request.headers, body, call.request_id, request.by_name.get("x-sless-context")
        )
        context = Context(call.request_id, call.deadline, self._settings)
        call.run_started = time.monotonic()
        call.phase = RUNNING
        if self._is_coroutine:
            self._await(call, self._handler(event, context))
        else:
            self._threads.submit(partial(self._run_in_thread, call, event, context))

    # -- the handler

    def _run_in_thread(self, call: Call, event: dict[str, Any], context: Context) -> None:
        try:
            result = contextvars.Context().run(self._invoke, call.request_id, event, context)
        except BaseException as error:  # noqa: BLE001 - whatever user code raises ends its call, not this thread
            self._threads.to_loop(partial(self._on_raised, call, error))
        else:
            self._threads.to_loop(partial(self._on_returned, call, result))

    def _invoke(self, request_id: str, event: dict[str, Any], context: Context) -> Any:
        current_request.set(request_id)
        return self._handler(event, context)

    def _await(self, call: Call, awaitable: Any) -> None:
        async def run() -> None:
            current_request.set(call.request_id)
            try:
                result = await awaitable
            except BaseException as error:  # noqa: BLE001 - whatever user code raises
                self._on_raised(call, error)
            else:
                self._on_returned(call, result)

        call.task = self._loop.create_task(run())

    def _on_returned(self, call: Call, result: Any) -> None:
        if call.phase == ANSWERED:
            self._finish(call)
        elif type(result) is not dict and inspect.isawaitable(result):
            self._await(call, result)
        else:
            self._answer(call, result)

    def _on_raised(self, call: Call, error: BaseException) -> None:
        if call.phase == ANSWERED:
            self._finish(call)
        elif isinstance(error, SystemExit):
            self._exited(call, error.code)
        elif isinstance(error, MemoryError):
            self._retire("the function ran out of memory", call.request_id)
            self.fail(call, self._out_of_memory())
        elif isinstance(error, Fault):
            self.fail(call, error)
        else:
            self._log(call, format_thrown(error, self._code_dir))
            self.fail(call, describe_thrown(error, self._code_dir))

    def _out_of_memory(self) -> Fault:
        megabytes = self._settings.memory_mb
        return Fault("out-of-memory", "OutOfMemory", f"the function used more than its {megabytes} MB of memory and was stopped")

    def _exited(self, call: Call, code: object) -> None:
        number = code if isinstance(code, int) else 0 if code is None else 1
        if isinstance(code, str):
            self._log(call, code)
        self._end_process(number)

    def exiting(self, code: int) -> None:
        """Tells every caller that the process ends; to be called just before it does."""
        message = f"the function's process ended with code {code} during the call"
        for call in list(self.calls):
            self.fail(call, Fault("exited", "Exited", message))

    def _log(self, call: Call, text: str) -> None:
        token = current_request.set(call.request_id)
        self._streams[1].write(text if text.endswith("\n") else text + "\n")
        current_request.reset(token)

    # -- the answer

    def _answer(self, call: Call, result: Any) -> None:
        try:
            answer = to_answer(result)
        except Fault as fault:
            self.fail(call, fault)
            return
        if answer.stream:
            call.task = self._loop.create_task(self._stream(call, answer))
            return
        response = self._whole(call, answer)
        if call.connection.is_open:
            call.connection.transport.write(response)
        self._end_answered(call)

    def _whole(self, call: Call, answer: Answer) -> bytes:
        answer.headers.pop("content-length", None)
        head = self._head(call, answer, f"content-length: {len(answer.body)}")
        return head if call.request.method == "HEAD" or answer.status in _NO_BODY else head + answer.body

    def _head(self, call: Call, answer: Answer, framing: str) -> bytes:
        lines = [_STATUS_LINES.get(answer.status) or f"HTTP/1.1 {answer.status} Unknown"]
        for name, values in answer.headers.items():
            for value in values:
                lines.append(f"{name}: {value}")
        if answer.status not in _NO_BODY:
            lines.append(framing)
        run_ms = (time.monotonic() - call.run_started) * 1000
        lines.append(f"{self._uid_header}\r\nx-sless-run-ms: {run_ms:.3f}")
        lines.append("\r\n" if call.request.keep_alive else "connection: close\r\n\r\n")
        return _header_bytes("\r\n".join(lines))

    async def _stream(self, call: Call, answer: Answer) -> None:
        current_request.set(call.request_id)
        source = answer.body
        try:
            pieces = self._pieces(source)
            # An answer whose source breaks at once can still become a fault.
            first = await anext(pieces, _END)
            if call.phase != ANSWERED:
                await self._send_stream(call, answer, first, pieces)
        except BaseException as error:  # noqa: BLE001 - user code again
            self._on_raised(call, error)
        else:
            self._end_answered(call)
        finally:
            await _close_source(source)

    async def _send_stream(self, call: Call, answer: Answer, first: Any, pieces: Any) -> None:
        connection = call.connection
        declared = answer.headers.pop("content-length", [None])[-1]
        call.phase = ANSWERING
        self._table.set_state(connection.slot, call_table.ANSWERING)
        framing = "transfer-encoding: chunked" if declared is None else f"content-length: {declared}"
        connection.transport.write(self._head(call, answer, framing))
        if call.request.method == "HEAD" or answer.status in _NO_BODY:
            return
        sent = 0
        piece = first
        while piece is not _END and connection.is_open:
            data = _piece_bytes(piece)
            sent += len(data)
            if data:
                connection.transport.write(data if declared else b"%x\r\n%b\r\n" % (len(data), data))
                await connection.drain()
            piece = await anext(pieces, _END)
        if declared is None:
            connection.transport.write(b"0\r\n\r\n")
        elif str(sent) != declared:
            raise Fault("bad-result", "BadResult", f"content-length says {declared}, but the stream had {sent} bytes")

    async def _pieces(self, source: Any) -> Any:
        if hasattr(source, "__aiter__"):
            async for piece in source:
                yield piece
            return
        context = contextvars.copy_context()
        while (piece := await self._in_thread(lambda: context.run(next, source, _END))) is not _END:
            yield piece

    def _in_thread(self, work: Callable[[], Any]) -> asyncio.Future[Any]:
        future = self._loop.create_future()

        def settle(setter: Callable[[Any], None], value: Any) -> None:
            if not future.done():
                setter(value)

        def run() -> None:
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001
                self._threads.to_loop(partial(settle, future.set_exception, error))
            else:
                self._threads.to_loop(partial(settle, future.set_result, result))

        self._threads.submit(run)
        return future

    def fail(self, call: Call, fault: Fault) -> None:
        """Serves the caller a fault, if it still waits, and ends the call."""
        self._serve_fault(call, fault)
        self._finish(call)

    def _serve_fault(self, call: Call, fault: Fault) -> None:
        connection = call.connection
        phase = call.phase
        if phase == ANSWERED:
            return
        self._detach(call)
        run_ms = (time.monotonic() - call.run_started) * 1000
        # An unread rest of the body would be taken for the next request.
        goes_on = phase == RUNNING and call.request.keep_alive
        if not connection.is_open:
            return
        if phase == ANSWERING:
            connection.reset()
            return
        response = fault_response(fault, self._settings.version_uid, run_ms=run_ms, close=not goes_on)
        if goes_on:
            connection.transport.write(response)
            connection.next_request()
        else:
            connection.end_after(response)

    def _end_answered(self, call: Call) -> None:
        connection = call.connection
        self._detach(call)
        self._finish(call)
        if call.request.keep_alive and connection.is_open:
            connection.next_request()
        else:
            connection.close()

    # -- ends

    def _end_late_calls(self) -> None:
        now = time.monotonic()
        for call in tuple(self.calls):
            if call.is_late:
                continue
            if call.deadline <= now:
                call.is_late = True
                self._on_deadline(call)
            else:
                self._deadlines.watch(call.deadline)

    def _on_deadline(self, call: Call) -> None:
        milliseconds = round((call.deadline - call.started) * 1000)
        message = f"the function did not finish within {milliseconds} ms"
        fault = Fault("timeout", "Timeout", message)
        if call.phase == RECEIVING:
            self.fail(call, fault)
        elif call.task is None:
            # A thread can't be stopped, only its process. The replacement starts before the caller can come back.
            self._retire(message, call.request_id)
            self._serve_fault(call, fault)
        else:
            self._serve_fault(call, fault)
            call.task.cancel()
            self._loop.call_later(_CANCEL_GRACE_SECONDS, self._retire_if_running, call, message)

    def _retire_if_running(self, call: Call, message: str) -> None:
        if call in self.calls:
            self._retire(message, call.request_id)

    def caller_gone(self, call: Call) -> None:
        """The caller hung up: a coroutine is cancelled; a thread goes on and holds its place until it is done."""
        received = call.phase != RECEIVING
        self._detach(call)
        if call.task is not None:
            call.task.cancel()
        elif not received:
            self._finish(call)

    def _detach(self, call: Call) -> None:
        """The caller is served, or gone: the connection is free and the supervisor owes it nothing."""
        call.phase = ANSWERED
        if call.connection.call is call:
            call.connection.call = None
            self._table.set_state(call.connection.slot, call_table.IDLE)

    def _finish(self, call: Call) -> None:
        """Nothing of the call runs any more."""
        if call not in self.calls:
            return
        self._detach(call)
        self.calls.discard(call)
        for stream in self._streams:
            if stream.has_partial:
                stream.end_call(call.request_id)


def _header_bytes(head: str) -> bytes:
    """A head in Latin-1; lines with text beyond it travel as their UTF-8 bytes."""
    try:
        return head.encode("latin-1")
    except UnicodeEncodeError:
        return b"\r\n".join(_line_bytes(line) for line in head.split("\r\n"))


def _line_bytes(line: str) -> bytes:
    try:
        return line.encode("latin-1")
    except UnicodeEncodeError:
        return line.encode("utf-8")


def _piece_bytes(piece: object) -> bytes:
    if isinstance(piece, str):
        return piece.encode("utf-8", "replace")
    if isinstance(piece, (bytes, bytearray, memoryview)):
        return bytes(piece)
    raise Fault("bad-result", "BadResult", f"a streamed piece is of type {type(piece).__name__}: yield text or bytes")


async def _close_source(source: Any) -> None:
    close = getattr(source, "aclose", None)
    if close is not None:
        await close()
    elif hasattr(source, "close"):
        try:
            source.close()
        except ValueError:
            # A generator that is still running in its thread can't be closed; its process is replaced.
            pass
