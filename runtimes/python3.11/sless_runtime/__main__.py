"""`python3 -m sless_runtime`: the pod's first process."""

from __future__ import annotations

import asyncio
import os
import sys

from .logs import LogSink
from .settings import read_settings
from .supervisor import Supervisor


def main() -> int:
    sink = LogSink()
    try:
        settings = read_settings(os.environ)
    except ValueError as error:
        sink.platform("error", str(error))
        return 2
    return asyncio.run(Supervisor(settings, sink).run())


if __name__ == "__main__":
    sys.exit(main())
