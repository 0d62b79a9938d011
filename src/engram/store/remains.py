"""What is left in a home whose database is gone: reason enough not to start a new one there."""

from __future__ import annotations

import os

from engram.errors import StoreMissing
from engram.settings import Settings, is_url

# What only a store with rows can have made: folder, ending of its files, the word for them.
_KINDS = (
    ("blobs", ".zst", "captured bodies"), ("quarantine", ".zst", "bodies in quarantine"), ("wiki", ".md", "a wiki"),
    ("spool", ".json", "a spool"),
)  # fmt: skip
BEFORE_UPGRADE = ".before-upgrade"


def refuse_new_store(settings: Settings) -> None:
    """Raise if opening this store would create an empty database over what another one left."""
    if is_url(settings.store) or _holds_something(settings.store):
        return
    found = [word for folder, ending, word in _KINDS if _contains(os.path.join(settings.home, folder), ending)]
    if not found or _holds_something(settings.store):  # another process may have made it just now
        return
    state = "empty" if os.path.exists(settings.store) else "missing"
    raise StoreMissing(
        home=settings.home, store=settings.store, remains=" and ".join(found), state=state, copy=_copy(settings.store)
    )


def _holds_something(path: str) -> bool:
    try:
        return os.stat(path).st_size > 0
    except OSError:
        return False


def _contains(folder: str, ending: str) -> bool:
    """Tell whether any file below a folder has an ending."""
    return any(name.endswith(ending) for _, _, names in os.walk(folder) for name in names)


def _copy(store: str) -> str:
    """Name the copy that an upgrade left, if there is one."""
    path = f"{store}{BEFORE_UPGRADE}"
    return f" (a copy from before the last upgrade is {path})" if _holds_something(path) else ""
