"""Events: one row each, with their bodies in blobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from engram.store.engine import run_for_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine, Row


_COLUMNS = (
    "id", "capture", "key", "hash", "seq", "at", "kind", "role", "name", "verdict", "exit_code", "call", "parent",
    "blob", "start", "length",
)  # fmt: skip

_ADD = f"insert into events ({', '.join(_COLUMNS)}) values ({', '.join(':' + name for name in _COLUMNS)})"

# A changed event keeps its position.
_CHANGED = [name for name in _COLUMNS if name not in ("id", "seq")]
_CHANGE = f"update events set {', '.join(f'{name} = :{name}' for name in _CHANGED)} where id = :id"

_OF_CAPTURE = """
select e.*, b.sha256, b.evicting_at from events e join blobs b on b.num = e.blob where e.capture = :capture
"""


_STRETCH = """
select e.*, b.sha256, b.evicting_at
  from (select * from events where capture = :capture{only} order by seq, id limit :limit offset :after) e
  join blobs b on b.num = e.blob
"""

_CALLS = """
select e.*, b.sha256, b.evicting_at from events e join blobs b on b.num = e.blob
 where e.capture = :capture and e.kind = 'call' and e.call in ({slots})
"""

_PLACE = """
select case when exists (select 1 from events where capture = :capture and id = :event) then
         (select count(*) from events e, (select seq, id from events where id = :event) one
           where e.capture = :capture and (e.seq, e.id) < (one.seq, one.id)) end as place
"""


def add(engine: Engine, rows: Sequence[Row]) -> None:
    """Insert new events."""
    engine.run_many(_ADD, rows)


def update(engine: Engine, rows: Sequence[Row]) -> None:
    """Update events whose content changed."""
    engine.run_many(_CHANGE, rows)


def find_existing(engine: Engine, capture: int, keys: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Return (id, hash) by key of the given events that are already stored."""
    existing: dict[int, tuple[int, int]] = {}
    for first in range(0, len(keys), 500):
        names = {f"k{n}": key for n, key in enumerate(keys[first : first + 500])}
        slots = ", ".join(f":{name}" for name in names)
        sql = f"select id, key, hash from events where capture = :capture and key in ({slots})"
        existing |= {row["key"]: (row["id"], row["hash"]) for row in engine.run(sql, capture=capture, **names)}
    return existing


def list_by_capture(engine: Engine, capture: int) -> list[Row]:
    """Return the events of a session in order."""
    rows = engine.run(_OF_CAPTURE, capture=capture)
    rows.sort(key=lambda row: (row["seq"], row["id"]))
    return rows


def list_page(engine: Engine, capture: int, after: int, limit: int, **filters: Any) -> list[Row]:
    """Return a page of a session's events in order; filters are columns."""
    chosen = {name: value for name, value in filters.items() if value is not None}
    only = "".join(f" and {name} = :{name}" for name in chosen)
    rows = engine.run(_STRETCH.format(only=only), capture=capture, after=after, limit=limit, **chosen)
    rows.sort(key=lambda row: (row["seq"], row["id"]))
    return rows


def find_calls(engine: Engine, capture: int, rows: Sequence[Row]) -> list[Row]:
    """Return the calls that belong to some results."""
    call_ids = sorted({row["call"] for row in rows if row["call"] is not None and row["kind"] == "result"})
    return run_for_ids(engine, _CALLS, call_ids, capture=capture)


def count_before(engine: Engine, capture: int, event: int) -> int | None:
    """Return how many events of a session come before one, or None if it has no such event."""
    return engine.run(_PLACE, capture=capture, event=event)[0]["place"]  # type: ignore[no-any-return]


def count_by_kind(engine: Engine, capture: int) -> list[Row]:
    """Count the events of a session by kind and verdict."""
    sql = "select kind, verdict, count(*) as n from events where capture = :capture group by kind, verdict"
    return engine.run(sql, capture=capture)


def list_between(engine: Engine, capture: int, after: int, last: int) -> list[Row]:
    """Return the events of a session after one id and up to another, in order."""
    sql = f"{_OF_CAPTURE} and e.id > :after and e.id <= :last"
    rows = engine.run(sql, capture=capture, after=after, last=last)
    rows.sort(key=lambda row: (row["seq"], row["id"]))
    return rows


def fetch_by_ids(engine: Engine, ids: Sequence[int]) -> list[Row]:
    """Return events by id, with their session."""
    names = {f"i{n}": event_id for n, event_id in enumerate(ids)}
    slots = ", ".join(f":{name}" for name in names)
    return engine.run(
        "select e.*, b.sha256, b.evicting_at, c.session_id, s.flavor, s.project, s.summary from events e"
        " join blobs b on b.num = e.blob join captures c on c.num = e.capture join sessions s on s.id = c.session_id"
        f" where e.id in ({slots})",
        **names,
    )  # fmt: skip


def list_ids_in_blob(engine: Engine, capture: int, blob: int) -> list[int]:
    """Return the ids of the events whose bodies are in a blob."""
    rows = engine.run("select id from events where capture = :capture and blob = :blob", capture=capture, blob=blob)
    return [row["id"] for row in rows]


def iterate_captures(engine: Engine) -> Iterator[int]:
    """Yield every capture that has events."""
    last: Any = 0
    while rows := engine.run("select min(capture) as num from events where capture > :last", last=last):
        last = rows[0]["num"]
        if last is None:
            return
        yield last
