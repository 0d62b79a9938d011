"""Attribute changes to the running dream, so that they can be traced and undone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from engram.store import dream_passes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub

_current: ContextVar[int | None] = ContextVar("pass", default=None)


@contextmanager
def attribute_to_pass(pass_id: int) -> Iterator[None]:
    """Attribute everything a block writes to a dream."""
    token = _current.set(pass_id)
    try:
        yield
    finally:
        _current.reset(token)


def get_current_pass() -> int | None:
    """Return the running dream; None outside of one."""
    return _current.get()


def record_change(hub: Hub, kind: str, key: str, version: int = 0, before: int = 0) -> None:
    """Record that the running dream changed something; call it in the transaction of the change."""
    pass_id = _current.get()
    if pass_id is not None:
        dream_passes.record_change(hub.engine, pass_id, kind, key, version, before)
