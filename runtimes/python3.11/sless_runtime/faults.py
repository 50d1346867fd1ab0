"""Answers that are not the handler's own."""

from __future__ import annotations

import json
from http import HTTPStatus

from .protocol import FAULT_STATUS, MAX_MESSAGE_CHARS

REASONS = {status.value: status.phrase for status in HTTPStatus}


class Fault(Exception):
    """A call that ends without an answer of the handler's."""

    def __init__(self, kind: str, error_type: str, message: str, stack: list[str] | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.error_type = error_type
        self.message = message[:MAX_MESSAGE_CHARS]
        self.stack = stack


def fault_response(fault: Fault, version_uid: str, *, run_ms: float | None = None, close: bool = False) -> bytes:
    """The whole HTTP/1.1 answer of a fault."""
    body: dict[str, object] = {"errorType": fault.error_type[:256], "errorMessage": fault.message}
    if fault.stack:
        body["stackTrace"] = fault.stack
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    status = FAULT_STATUS[fault.kind]
    lines = [
        f"HTTP/1.1 {status} {REASONS[status]}",
        "content-type: application/json",
        f"content-length: {len(content)}",
        f"x-sless-version-uid: {version_uid}",
        f"x-sless-fault: {fault.kind}",
    ]
    if run_ms is not None:
        lines.append(f"x-sless-run-ms: {run_ms:.3f}")
    if close:
        lines.append("connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace") + content
