"""The names and numbers that gateway and runtime agree on."""

from __future__ import annotations

PLATFORM_PREFIX = "x-sless-"

# Status of each answer that is not the handler's own.
FAULT_STATUS = {
    "busy": 503,
    "draining": 503,
    "not-ready": 503,
    "wrong-version": 421,
    "body-too-large": 413,
    "bad-request": 400,
    "handler-error": 502,
    "bad-result": 502,
    "timeout": 504,
    "exited": 502,
    "out-of-memory": 502,
}

MAX_HEAD_BYTES = 64 * 1024
MAX_LINE_BYTES = 16 * 1024
MAX_MESSAGE_CHARS = 4096
"""Bound of a fault's message and of the termination message."""

GRACE_SECONDS = 5.0
"""Beyond its timeout, how long a pod that was told to go may take."""
