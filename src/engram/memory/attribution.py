"""Which pass of the dream the work at hand belongs to, so that what it writes can be traced to it and undone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from engram.store import passes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub

_current: ContextVar[int | None] = ContextVar("pass", default=None)


@contextmanager
def attributed(pass_id: int) -> Iterator[None]:
    """Attribute what a block writes to a pass."""
    before = _current.set(pass_id)
    try:
        yield
    finally:
        _current.reset(before)


def current() -> int | None:
    """Return the pass at work; None where nobody dreams."""
    return _current.get()


def note(hub: Hub, kind: str, key: str, version: int = 0, before: int = 0) -> None:
    """Write down that the pass at work changed something; in the transaction that changes it."""
    pass_id = _current.get()
    if pass_id is not None:
        passes.note_change(hub.engine, pass_id, kind, key, version, before)
