"""Finds and imports the handler, and says in words what is wrong when it can't."""

from __future__ import annotations

import importlib
import os
import re
import sys
import traceback
from collections.abc import Callable
from typing import Any


_MODULE = re.compile(r"\w+([./]\w+)*\Z")


class LoadError(Exception):
    """The code can't be loaded; the message is for its author and names no path outside the code."""


def _relative(path: str, code_dir: str) -> str:
    return os.path.relpath(path, code_dir) if path.startswith(code_dir) else os.path.basename(path)


def _module_file(code_dir: str, module: str) -> str | None:
    base = os.path.join(code_dir, *module.split("."))
    candidates = (base + ".py", os.path.join(base, "__init__.py"))
    return next((path for path in candidates if os.path.isfile(path)), None)


def _what_is_there(code_dir: str) -> str:
    try:
        names = sorted(name for name in os.listdir(code_dir) if not name.startswith("."))
    except OSError:
        names = []
    if not names:
        return "the code is empty"
    return "the code has " + ", ".join(names[:20]) + (" …" if len(names) > 20 else "")


def _where(error: BaseException, code_dir: str) -> str:
    """`file:line: ` of the deepest frame inside the code, or nothing."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(code_dir)]
    return f"{_relative(frames[-1].filename, code_dir)}:{frames[-1].lineno}: " if frames else ""


def describe_exception(error: BaseException, code_dir: str) -> str:
    """One line that names file, line, type and text of an exception, with paths relative to the code."""
    if isinstance(error, SyntaxError):
        where = f"{_relative(error.filename, code_dir)}:{error.lineno}: " if error.filename else ""
        return f"{where}{type(error).__name__}: {error.msg}"
    text = str(error).replace(code_dir + os.sep, "")
    return f"{_where(error, code_dir)}{type(error).__name__}{': ' + text if text else ''}"


def _exit_code(error: SystemExit) -> int:
    return error.code if isinstance(error.code, int) else 0 if error.code is None else 1


def split_entrypoint(entrypoint: str) -> tuple[str, str]:
    """`pkg/sub/mod.fn` and `pkg.sub.mod.fn` alike: module `pkg.sub.mod`, name `fn`.

    Raises LoadError for text without a dot.
    """
    module, dot, name = entrypoint.rpartition(".")
    if not dot or not _MODULE.match(module) or not name.isidentifier():
        raise LoadError(f'the entrypoint "{entrypoint}" must have the form file.export, for example main.handler')
    return module.replace("/", "."), name


def load_handler(entrypoint: str, code_dir: str) -> Callable[..., Any]:
    """Imports the module of an entrypoint and returns its handler.

    Raises LoadError saying which file and which name were looked for, or where the import failed.
    """
    code_dir = os.path.realpath(code_dir)
    module_name, name = split_entrypoint(entrypoint)
    file = _module_file(code_dir, module_name)
    if file is None:
        wanted = module_name.replace(".", "/")
        raise LoadError(
            f'the entrypoint "{entrypoint}" needs the file {wanted}.py or {wanted}/__init__.py, '
            f"and there is none; {_what_is_there(code_dir)}"
        )
    sys.path.insert(0, code_dir)
    try:
        module = importlib.import_module(module_name)
    except SystemExit as error:
        raise LoadError(f"{_where(error, code_dir)}the code ended the process with code {_exit_code(error)} while it was loaded") from error
    except BaseException as error:  # noqa: BLE001 - whatever user code raises while it is imported
        raise LoadError(f"loading {_relative(file, code_dir)} failed: {describe_exception(error, code_dir)}") from error
    handler = getattr(module, name, None)
    if not callable(handler):
        defined = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        there = f"it defines {', '.join(defined[:20])}" if defined else "it defines no function"
        kind = "no" if handler is None else "a value that can't be called as"
        raise LoadError(f'{_relative(file, code_dir)} has {kind} "{name}"; {there}')
    return handler
