"""From an HTTP request to the event that a handler sees."""

from __future__ import annotations

import base64
import binascii
import json
import time
from typing import Any
from urllib.parse import parse_qsl

from .protocol import PLATFORM_PREFIX

Header = tuple[str, str]


def _pairs(text: str) -> list[tuple[str, str]]:
    """Names and values in order. Most queries hold nothing to decode, which the library's parser would look for."""
    if "%" in text or "+" in text:
        return parse_qsl(text, keep_blank_values=True, errors="replace")
    parts = (part.partition("=") for part in text.split("&") if part)
    return [(name, value) for name, _, value in parts]


def _query(text: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    single: dict[str, str] = {}
    multi: dict[str, list[str]] = {}
    for key, value in _pairs(text):
        single[key] = value
        multi.setdefault(key, []).append(value)
    return single, multi


def _headers(headers: list[Header]) -> tuple[dict[str, str], dict[str, list[str]]]:
    single: dict[str, str] = {}
    multi: dict[str, list[str]] = {}
    for name, value in headers:
        if name.startswith(PLATFORM_PREFIX):
            continue
        if name in multi:
            multi[name].append(value)
            # Cookies alone are joined with a semicolon (RFC 9113, 8.2.3).
            single[name] += ("; " if name == "cookie" else ", ") + value
        else:
            multi[name] = [value]
            single[name] = value
    return single, multi


def _body(body: bytes) -> tuple[str, bool]:
    try:
        return body.decode("utf-8"), False
    except UnicodeDecodeError:
        return base64.b64encode(body).decode("ascii"), True


_second, _second_text = -1, ""


def _time_text(milliseconds: int) -> str:
    """RFC 3339 with milliseconds; all but those is formatted once a second."""
    global _second, _second_text
    second = milliseconds // 1000
    if second != _second:
        _second_text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        _second = second
    return f"{_second_text}.{milliseconds % 1000:03d}Z"


def _platform_context(encoded: str | None) -> dict[str, Any]:
    """What the gateway adds to the request context. Anything but a JSON object counts as nothing."""
    if not encoded:
        return {}
    try:
        padded = encoded + "=" * (-len(encoded) % 4)
        value = json.loads(base64.urlsafe_b64decode(padded))
    except (ValueError, binascii.Error):
        return {}
    return value if isinstance(value, dict) else {}


def make_event(
    method: str, target: str, headers: list[Header], body: bytes, request_id: str, context: str | None
) -> dict[str, Any]:
    """The event of one call. Path and query stay raw; the body is text, or base64 when it is no UTF-8."""
    path, _, query = target.partition("?")
    single_headers, multi_headers = _headers(headers)
    single_query, multi_query = _query(query) if query else ({}, {})
    text, is_base64 = _body(body) if body else ("", False)
    now = time.time_ns() // 1_000_000
    given = _platform_context(context)
    identity = given.pop("identity", None)
    client = {"sourceIp": given.pop("sourceIp", ""), "userAgent": single_headers.get("user-agent", "")}
    return {
        "httpMethod": method,
        "path": path or "/",
        "headers": single_headers,
        "multiValueHeaders": multi_headers,
        "queryStringParameters": single_query,
        "multiValueQueryStringParameters": multi_query,
        "body": text,
        "isBase64Encoded": is_base64,
        "requestContext": {
            **given,
            "requestId": request_id,
            "identity": {**client, **identity} if isinstance(identity, dict) else client,
            "httpMethod": method,
            "requestTime": _time_text(now),
            "timestamp": now,
        },
    }
