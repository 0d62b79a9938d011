"""Log lines for programs that use the library, as the older Engram wrote them.

A program that never loaded `logging` has no log, and a hook must not load the module.
"""

from __future__ import annotations

import sys


def info(message: str) -> None:
    """Log a line to the logger `engram`, if the program uses `logging`."""
    _log_message("info", message)


def warning(message: str) -> None:
    """Log a warning to the logger `engram`, if the program uses `logging`."""
    _log_message("warning", message)


def _log_message(level: str, message: str) -> None:
    logging = sys.modules.get("logging")
    if logging is not None:
        getattr(logging.getLogger("engram"), level)("%s", message)
