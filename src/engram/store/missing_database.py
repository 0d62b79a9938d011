"""Detect a home whose database is gone, and refuse to create an empty one there."""

from __future__ import annotations

import os

from engram.errors import StoreMissing
from engram.settings import Settings, is_url

# Files that only exist after a store had rows: folder, file extension, description.
_KINDS = (
    ("blobs", ".zst", "captured bodies"), ("quarantine", ".zst", "bodies in quarantine"), ("wiki", ".md", "a wiki"),
    ("spool", ".json", "a spool"),
)  # fmt: skip
BEFORE_UPGRADE = ".before-upgrade"


def refuse_new_store(settings: Settings) -> None:
    """Raise if opening this store would create an empty database beside the remains of another."""
    if is_url(settings.store) or _is_nonempty_file(settings.store):
        return
    remains = [word for folder, ending, word in _KINDS if _has_file_ending(os.path.join(settings.home, folder), ending)]
    if not remains or _is_nonempty_file(settings.store):  # another process may have just created it
        return
    state = "empty" if os.path.exists(settings.store) else "missing"
    raise StoreMissing(
        home=settings.home,
        store=settings.store,
        remains=" and ".join(remains),
        state=state,
        copy=_describe_copy(settings.store),
    )


def _is_nonempty_file(path: str) -> bool:
    try:
        return os.stat(path).st_size > 0
    except OSError:
        return False


def _has_file_ending(folder: str, ending: str) -> bool:
    """Return whether any file below a folder has an extension."""
    return any(name.endswith(ending) for _, _, names in os.walk(folder) for name in names)


def _describe_copy(store: str) -> str:
    """Return where the copy made before an upgrade is, if it exists."""
    path = f"{store}{BEFORE_UPGRADE}"
    return f" (a copy from before the last upgrade is at {path})" if _is_nonempty_file(path) else ""
