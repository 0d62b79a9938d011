"""Cursors: how far each transcript was read."""

from __future__ import annotations

from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine, Row


_COLUMNS = (
    "host", "path", "flavor", "num", "place", "state", "size", "changed_at", "inode", "head", "tail", "damaged",
    "ours", "read_at", "unread", "readers",
)  # fmt: skip

_MOVE = f"""
insert into cursors ({", ".join(_COLUMNS)}) values ({", ".join(":" + name for name in _COLUMNS)})
on conflict (host, path) do update set
  flavor = excluded.flavor, num = excluded.num, ours = excluded.ours, place = excluded.place,
  state = excluded.state, size = excluded.size,
  changed_at = excluded.changed_at, inode = excluded.inode, head = excluded.head, tail = excluded.tail,
  damaged = excluded.damaged, read_at = excluded.read_at, unread = excluded.unread, readers = excluded.readers,
  vanished_at = null
"""
_PASS_OVER = f"""
insert into cursors ({", ".join(_COLUMNS)})
values (:host, :path, '', 0, 0, null, :size, :changed_at, :inode, '', '', 0, null, :read_at, :unread, :readers)
on conflict (host, path) do update set
  size = excluded.size, changed_at = excluded.changed_at, inode = excluded.inode, read_at = excluded.read_at,
  unread = excluded.unread, readers = excluded.readers, vanished_at = null
"""


def list_by_host(engine: Engine, host: str) -> dict[str, Row]:
    """Return every cursor of this machine, by path."""
    columns = "path, flavor, num, size, changed_at, inode, damaged, unread, readers, vanished_at"
    rows = engine.run(f"select {columns} from cursors where host = :host", host=host)
    return {row["path"]: row for row in rows}


def get(engine: Engine, host: str, path: str) -> Row | None:
    """Return the cursor of one transcript."""
    rows = engine.run("select * from cursors where host = :host and path = :path", host=host, path=path)
    return rows[0] if rows else None


def save(engine: Engine, **facts: Any) -> None:
    """Save how far a transcript was read."""
    engine.run(_MOVE, **facts)


def save_unread(engine: Engine, **facts: Any) -> None:
    """Record why a file could not be read, keeping the position of the last successful read."""
    engine.run(_PASS_OVER, **facts)


def mark_vanished(engine: Engine, host: str, path: str, now: int) -> None:
    """Record that a transcript is gone; its events stay."""
    engine.run(
        "update cursors set vanished_at = :now where host = :host and path = :path", host=host, path=path, now=now
    )
