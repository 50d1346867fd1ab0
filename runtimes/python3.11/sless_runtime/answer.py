"""From what a handler returned to the parts of an HTTP answer."""

from __future__ import annotations

import base64
import binascii
import inspect
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .faults import Fault
from .protocol import PLATFORM_PREFIX

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
BYTES = "application/octet-stream"

# They describe the connection or the framing, which are the runtime's (RFC 9110, section 7.6.1).
_DROPPED = frozenset(
    ("keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer")
    + ("transfer-encoding", "upgrade")
)
# Lower-case names that need no look at their form: what most answers have.
_PLAIN = frozenset(("content-type", "cache-control", "location", "etag", "access-control-allow-origin", "x-request-id"))
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_STATUS = re.compile(r"\d{3}\Z")

Headers = dict[str, list[str]]


@dataclass(slots=True)
class Answer:
    """`body` is all of it, or something to iterate: `stream` says which."""

    status: int
    headers: Headers
    body: Any
    stream: bool = False


def bad_result(message: str) -> Fault:
    return Fault("bad-result", "BadResult", message)


def _status(value: object) -> int:
    if type(value) is int and 200 <= value <= 599:
        return value
    status = int(value) if isinstance(value, str) and _STATUS.match(value) else value
    # 1xx are interim answers: one of them in place of the final answer would leave the caller waiting.
    if isinstance(status, int) and not isinstance(status, bool) and 200 <= status <= 599:
        return status
    shown = repr(value)[:80] if isinstance(value, (str, int, float)) else type(value).__name__
    raise bad_result(f"statusCode is {shown}: use a whole number from 200 to 599")


def _header_text(name: str, value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, (str, int, float)):
        raise bad_result(f"the value of header {name} is of type {type(value).__name__}: use a string, number or boolean")
    text = str(value)
    if _CONTROL.search(text):
        raise bad_result(f"the value of header {name} holds a control character, such as a line break")
    return text


def _take_headers(into: Headers, field: str, given: object) -> None:
    if given is None:
        return
    if type(given) is not dict and not isinstance(given, Mapping):
        raise bad_result(f"{field} is of type {type(given).__name__}: use a dict of names and values")
    for name, value in given.items():
        if type(value) is str and name in _PLAIN and not _CONTROL.search(value):
            into[name] = [value]
            continue
        if not isinstance(name, str) or not _TOKEN.match(name):
            raise bad_result(f"the header name {str(name)[:80]!r} is not valid: letters, digits and hyphens")
        key = name.lower()
        if key in _DROPPED or key.startswith(PLATFORM_PREFIX):
            continue
        values = value if isinstance(value, (list, tuple)) else (value,)
        texts = [text for text in (_header_text(name, one) for one in values) if text is not None]
        if texts:
            into[key] = texts


def to_json(value: object) -> bytes:
    """Compact JSON in UTF-8, the same size as the Node.js runtime's. Raises a bad-result fault naming what can't be."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
    except TypeError as error:
        raise bad_result(f"the result can't be turned into JSON: {error}") from error
    except ValueError as error:
        raise bad_result(f"the result can't be turned into JSON: {error} (NaN and Infinity are no JSON)") from error
    except RecursionError as error:
        raise bad_result("the result can't be turned into JSON: it is nested too deeply") from error


def is_stream(value: object) -> bool:
    return inspect.isgenerator(value) or inspect.isasyncgen(value) or hasattr(value, "__aiter__") or (
        hasattr(value, "__next__") and isinstance(value, Iterable)
    )


def _decode_base64(body: object) -> bytes:
    if isinstance(body, (str, bytes)):
        try:
            return base64.b64decode(body, validate=True)
        except (binascii.Error, ValueError):
            pass
    raise bad_result("isBase64Encoded is true, but the body is not base64 text")


def _body(body: object, is_base64: bool) -> tuple[Any, str | None, bool]:
    """Content, default content type, whether it is a stream."""
    if body is None:
        return b"", None, False
    if is_base64:
        return _decode_base64(body), BYTES, False
    if isinstance(body, str):
        return body.encode("utf-8", "replace"), TEXT, False
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body), BYTES, False
    if is_stream(body):
        return body, BYTES, True
    return to_json(body), JSON, False


def _envelope(envelope: Mapping[str, Any]) -> Answer:
    status = _status(envelope["statusCode"])
    headers: Headers = {}
    _take_headers(headers, "headers", envelope.get("headers"))
    _take_headers(headers, "multiValueHeaders", envelope.get("multiValueHeaders"))
    # Connection and the headers that it names end at the next hop (D39).
    for name in ",".join(headers.pop("connection", ())).split(","):
        headers.pop(name.strip().lower(), None)
    content, default_type, stream = _body(envelope.get("body"), envelope.get("isBase64Encoded") is True)
    if default_type is not None:
        headers.setdefault("content-type", [default_type])
    return Answer(status, headers, content, stream)


def to_answer(result: object) -> Answer:
    """A dict with `statusCode` is an envelope, a generator is streamed, a string is text, anything else is JSON.

    Raises a bad-result fault for a result that has no form in HTTP.
    """
    is_mapping = type(result) is dict or isinstance(result, Mapping)
    if is_mapping and result.get("statusCode") is not None:
        return _envelope(result)
    if isinstance(result, str):
        return Answer(200, {"content-type": [TEXT]}, result.encode("utf-8", "replace"))
    if is_stream(result):
        return Answer(200, {"content-type": [BYTES]}, result, True)
    if isinstance(result, (bytes, bytearray, memoryview)):
        kind = type(result).__name__
        raise bad_result(f"a bare {kind} is not an answer: return it as the body beside a statusCode")
    return Answer(200, {"content-type": [JSON]}, to_json(result))
