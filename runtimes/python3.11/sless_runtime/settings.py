"""What the pod's environment says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

# Settings of the platform that the user's code may see beside its own environment.
VISIBLE = ("SLESS_FUNCTION", "SLESS_VERSION", "SLESS_MEMORY_MB", "SLESS_TIMEOUT_SEC")


@dataclass(frozen=True, slots=True)
class Settings:
    entrypoint: str
    code_dir: str
    host: str
    port: int
    control_port: int
    timeout_sec: float
    memory_mb: int
    concurrency: int
    function: str
    version: str
    version_uid: str
    max_body_bytes: int
    termination_log: str
    load_timeout_sec: float


def read_settings(env: Mapping[str, str]) -> Settings:
    """Reads the settings; those that a pod spec always sets have defaults too, so that a bare start works.

    Raises ValueError naming the variable that can't be read.
    """

    def number(name: str, default: float) -> float:
        text = env.get(name, "")
        try:
            return float(text) if text else default
        except ValueError:
            raise ValueError(f"{name} must be a number, not {text!r}") from None

    return Settings(
        entrypoint=env.get("SLESS_ENTRYPOINT", "main.handler"),
        code_dir=env.get("SLESS_CODE_DIR", "/function"),
        host=env.get("SLESS_HOST", "0.0.0.0"),
        port=int(number("SLESS_PORT", 8080)),
        control_port=int(number("SLESS_CONTROL_PORT", 8081)),
        timeout_sec=number("SLESS_TIMEOUT_SEC", 30),
        memory_mb=int(number("SLESS_MEMORY_MB", 128)),
        concurrency=int(number("SLESS_CONCURRENCY", 1)),
        function=env.get("SLESS_FUNCTION", ""),
        version=env.get("SLESS_VERSION", ""),
        version_uid=env.get("SLESS_VERSION_UID", ""),
        max_body_bytes=int(number("SLESS_MAX_BODY_BYTES", 6 * 1024 * 1024)),
        termination_log=env.get("SLESS_TERMINATION_LOG", "/dev/termination-log"),
        load_timeout_sec=number("SLESS_LOAD_TIMEOUT_SEC", 60),
    )


def worker_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The environment of the user's code: without the platform's settings and without what starts the runtime."""
    hidden = {"PYTHONPATH", "PYTHONUNBUFFERED"}
    visible = {
        name: value
        for name, value in env.items()
        if name not in hidden and (not name.startswith("SLESS_") or name in VISIBLE)
    }
    # HOME is read-only in a pod; libraries that insist on writing find a place.
    visible.setdefault("HOME", os.environ.get("TMPDIR", "/tmp"))
    return visible
