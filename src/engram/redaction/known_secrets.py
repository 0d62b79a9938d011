"""What the redactor keeps between ingests: its key, and keyed hashes of values once seen after a label.

A hash cannot be reversed; it only tells whether a word is the same value again.
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


def load_home_redactor(home: str, *, make: bool = True) -> Redactor:
    """Return the redactor of a home, which recognizes values once seen after a label."""
    from engram.platform.host import get_working_directory
    from engram.redaction.redactor import Redactor, find_known_secrets

    return Redactor(
        load_key(home, make=make), find_known_secrets(os.environ, get_working_directory()), read_known_hashes(home)
    )


def load_key(home: str, *, make: bool = True) -> bytes:
    """Return the key of this home, created once; without `make`, or if it cannot be saved, a temporary one."""
    stored = _read_bytes(os.path.join(home, "redaction.key"))
    if len(stored) == _KEY:
        return stored
    new_key = secrets.token_bytes(_KEY)
    if make:
        with suppress(OSError):
            _write_bytes(os.path.join(home, "redaction.key"), new_key)
    return new_key


def read_known_hashes(home: str) -> list[str]:
    """Return the hashes saved by earlier ingests."""
    return _read_bytes(os.path.join(home, "redaction.known")).decode("ascii", "replace").split()


def save_known_hashes(home: str, redactor: Redactor) -> None:
    """Save the hashes this ingest learned."""
    if redactor.learned_hashes:
        lines = [*read_known_hashes(home), *redactor.learned_hashes]
        _write_bytes(os.path.join(home, "redaction.known"), "\n".join(list(dict.fromkeys(lines))[-_MOST:]).encode())


def _read_bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _write_bytes(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    temporary = f"{path}.{secrets.token_hex(4)}.tmp"
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
