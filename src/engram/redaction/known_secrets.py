"""What the redactor keeps between sweeps: its key, and keyed hashes of what it once saw behind a label.

A hash cannot be turned back, and tells only whether a word met again is the same.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engram.redaction.redactor import Redactor

_KEY = 32  # bytes
_MOST = 20_000  # hashes


def redactor(home: str, *, make: bool = True) -> Redactor:
    """Return the redactor of a home, which knows again what it once saw behind a label."""
    from engram.host import directory
    from engram.redaction.redactor import Redactor, known_from

    return Redactor(key(home, make=make), known_from(os.environ, directory()), remembered(home))


def key(home: str, *, make: bool = True) -> bytes:
    """Return the key of this home, made once; without `make`, or where it cannot be kept, a passing one."""
    found = _read(os.path.join(home, "redaction.key"))
    if len(found) == _KEY:
        return found
    fresh = secrets.token_bytes(_KEY)
    if make:
        with suppress(OSError):
            _write(os.path.join(home, "redaction.key"), fresh)
    return fresh


def remembered(home: str) -> list[str]:
    """Return the hashes kept by earlier sweeps."""
    return _read(os.path.join(home, "redaction.known")).decode("ascii", "replace").split()


def keep(home: str, redactor: Redactor) -> None:
    """Keep the hashes of what this sweep learnt as well."""
    if redactor.learnt:
        lines = [*remembered(home), *redactor.learnt]
        _write(os.path.join(home, "redaction.known"), "\n".join(list(dict.fromkeys(lines))[-_MOST:]).encode())


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _write(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    temporary = f"{path}.{secrets.token_hex(4)}.tmp"
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
