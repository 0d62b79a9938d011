"""What a program that uses the library reads in its log, as the older Engram wrote it there.

A program that never loaded `logging` has no log, and a hook must not pay for the module.
"""

from __future__ import annotations

import sys


def info(message: str) -> None:
    """Write a line to the logger `engram`, if the program uses `logging`."""
    _write("info", message)


def warning(message: str) -> None:
    """Write a warning to the logger `engram`, if the program uses `logging`."""
    _write("warning", message)


def _write(level: str, message: str) -> None:
    logging = sys.modules.get("logging")
    if logging is not None:
        getattr(logging.getLogger("engram"), level)("%s", message)
