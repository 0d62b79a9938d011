"""A file that holds the room which making room takes: on a full disk even a deletion needs some."""

from __future__ import annotations

import os

SIZE = 16 << 20


def keep(home: str) -> None:
    """Put the room aside, if the disk allows."""
    path = _path(home)
    if is_kept(home):
        return
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, SIZE)  # the room without the writing
            else:
                file.write(b"\0" * SIZE)
                file.flush()
            os.fsync(file.fileno())
    except OSError:
        give_up(home)


def give_up(home: str) -> bool:
    """Free the room; tell whether there was any."""
    try:
        os.unlink(_path(home))
    except OSError:
        return False
    return True


def is_kept(home: str) -> bool:
    """Tell whether room is put aside, all of it: a crash may have cut it short."""
    try:
        return os.path.getsize(_path(home)) >= SIZE
    except OSError:
        return False


def _path(home: str) -> str:
    return os.path.join(home, "ballast")
