"""A reserve file that frees disk space when the disk is full, because even a deletion needs some."""

from __future__ import annotations

import os

SIZE = 16 << 20


def reserve_space(home: str) -> None:
    """Create the reserve file, if the disk allows."""
    path = _get_path(home)
    if is_reserved(home):
        return
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, SIZE)  # allocates the space without writing it
            else:
                file.write(b"\0" * SIZE)
                file.flush()
            os.fsync(file.fileno())
    except OSError:
        free_space(home)


def free_space(home: str) -> bool:
    """Delete the reserve file; return whether it existed."""
    try:
        os.unlink(_get_path(home))
    except OSError:
        return False
    return True


def is_reserved(home: str) -> bool:
    """Return whether the reserve file is complete: a crash may have cut it short."""
    try:
        return os.path.getsize(_get_path(home)) >= SIZE
    except OSError:
        return False


def _get_path(home: str) -> str:
    return os.path.join(home, "ballast")
