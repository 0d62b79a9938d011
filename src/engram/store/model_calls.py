"""Engram's own model calls: reserved before, recorded after."""

from __future__ import annotations

from engram.store.utc_offsets import build_day_sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from engram.store.engine import Engine, Row

_RESERVE = """
insert into model_calls (at, host, purpose, provider, model, input, output, cost, basis, state, lapses_at)
values (:at, :host, :purpose, :provider, :model, :input, :output, :cost, 'uncertain', 'reserved', :lapses_at)
returning id
"""

_SETTLE = """
update model_calls set state = :state, model = :model, input = :input, output = :output, cache_read = :cache_read,
       cache_write = :cache_write, cost = :cost, basis = :basis, seconds = :seconds, error = :error, reply = :reply
 where id = :id
"""

# Not billed: it cost nothing. Possibly billed: it counts as what was reserved.
_FAIL = """
update model_calls set state = 'failed', seconds = :seconds, error = :error, reply = :reply,
       cost = case when :billed = 1 then cost else 0 end, input = case when :billed = 1 then input else 0 end,
       output = case when :billed = 1 then output else 0 end
 where id = :id
"""

# A team shares one store, but each machine has its own cap.
_COUNTS = "at >= :since and (state <> 'reserved' or lapses_at > :now) /*pg: and host = :host */"

_SPENT = f"""
select coalesce(sum(cost), 0) as money, count(*) as calls,
       coalesce(sum(case when cost is null then input + output + cache_read + cache_write else 0 end), 0) as tokens
  from model_calls where {_COUNTS}
"""

_TOTALS = """
select {day} as day, purpose, model, basis, count(*) as answers,
       sum(input) as input, sum(output) as output, sum(cache_read) as cache_read, sum(cache_write) as cache_write,
       sum(cost) as cost, sum(case when cost is null then 0 else 1 end) as priced
  from model_calls where at >= :since and state <> 'reserved'
 group by 1, 2, 3, 4 order by 1, 2, 3, 4
"""


def lock_table(engine: Engine) -> None:
    """Allow one caller at a time to check the remaining budget; SQLite has one writer anyway."""
    engine.run("/*pg: lock table model_calls in exclusive mode */")


def reserve(engine: Engine, **facts: Any) -> int:
    """Insert a call before it is made and return its id."""
    return int(engine.run(_RESERVE, **facts)[0]["id"])


def record_result(engine: Engine, call: int, **facts: Any) -> None:
    """Replace a reservation by the actual usage of the call."""
    engine.run(_SETTLE, id=call, **facts)


def record_failure(engine: Engine, call: int, *, seconds: float, error: str, reply: str | None, billed: bool) -> None:
    """Record a failed call; one that may have been billed keeps its reserved cost."""
    engine.run(_FAIL, id=call, seconds=seconds, error=error, reply=reply, billed=int(billed))


def sum_spending(engine: Engine, since: int, now: int, host: str) -> Row:
    """Return what calls since a time cost or may cost: money, tokens without a price, count."""
    row = engine.run(_SPENT, since=since, now=now, host=host)[0]
    return {"money": float(row["money"]), "tokens": int(row["tokens"]), "calls": int(row["calls"])}


def sum_by_day(engine: Engine, since: int, offsets: Sequence[tuple[int, int]]) -> list[Row]:
    """Return sums per day, purpose, model and basis; `offsets` are the user's, each with the time it applies until."""
    rows = engine.run(_TOTALS.format(day=build_day_sql("at", offsets)), since=since)
    integer_columns = ("day", "answers", "input", "output", "cache_read", "cache_write", "priced")
    return [{**row, **{name: int(row[name]) for name in integer_columns}} for row in rows]


def delete_replies(engine: Engine) -> None:
    """Delete the replies kept for inspection: which sessions they are about is unknown."""
    engine.run("update model_calls set reply = null, error = null where reply is not null")
