"""The control port: health, state and drain. No forwarded call can reach it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

_HEAD_SECONDS = 5.0
_HEAD_BYTES = 8192
Reply = tuple[int, dict[str, Any]]


async def serve_control(host: str, port: int, routes: dict[tuple[str, str], Callable[[], Reply]]) -> asyncio.Server:
    """Serves `routes`, keyed by method and path; one request a connection."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _HEAD_SECONDS)
            method, target, *_ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ") + ["", ""]
            route = routes.get((method, target.partition("?")[0]))
            status, body = route() if route else (404, {"message": "not found"})
            content = json.dumps(body).encode()
            reason = {200: "OK", 404: "Not Found", 503: "Service Unavailable"}[status]
            writer.write(
                f"HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\n"
                f"content-length: {len(content)}\r\nconnection: close\r\n\r\n".encode()
                + content
            )
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.TimeoutError):
            # Whoever asked went away or said nothing sensible: there is nobody to answer.
            pass
        finally:
            writer.close()

    return await asyncio.start_server(handle, host, port, limit=_HEAD_BYTES)
