"""Colours, width and output of the terminal, without click: the commands of `quick` must not import it."""

from __future__ import annotations

import os
import sys

_CODES = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}
_BOLD, _DIM = 1, 2
_RESET = "\x1b[0m"
_DEFAULT_WIDTH = 80


def style(words: str, fg: str | None = None, bold: bool = False, dim: bool = False) -> str:
    """Return text in a colour, bold or dim; the codes are removed again when it is not written to a terminal."""
    codes = [str(code) for code, is_used in ((_CODES.get(fg or ""), fg), (_BOLD, bold), (_DIM, dim)) if is_used]
    return f"\x1b[{';'.join(codes)}m{words}{_RESET}" if codes else words


def unstyle(words: str) -> str:
    """Return text without colours."""
    if "\x1b[" not in words:
        return words
    first, *rest = words.split("\x1b[")
    return first + "".join(part.partition("m")[2] for part in rest)


def write_line(words: str, err: bool = False) -> None:
    """Write a line to standard output or standard error, in colour only on a terminal."""
    stream = sys.stderr if err else sys.stdout
    is_plain = not stream.isatty() or bool(os.environ.get("NO_COLOR"))
    try:
        stream.write(f"{unstyle(words) if is_plain else words}\n")
    except UnicodeEncodeError:  # a terminal that knows ASCII only
        stream.write(f"{unstyle(words)}\n".encode(stream.encoding, "replace").decode(stream.encoding))
    stream.flush()


def get_width() -> int | None:
    """Return how many columns a line may take; None for text that is piped somewhere."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _DEFAULT_WIDTH
    except (OSError, ValueError):
        return _DEFAULT_WIDTH if sys.stdout.isatty() else None
