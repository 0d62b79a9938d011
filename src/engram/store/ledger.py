"""What Engram itself asked of models: reserved before, settled after."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
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

# It cost nothing (`cost` 0), or what was reserved for it: nobody told us.
_FAIL = """
update model_calls set state = 'failed', seconds = :seconds, error = :error, reply = :reply,
       cost = case when :billed = 1 then cost else 0 end, input = case when :billed = 1 then input else 0 end,
       output = case when :billed = 1 then output else 0 end
 where id = :id
"""

# A team's store is shared, but everybody has a cap of their own.
_COUNTS = "at >= :since and (state <> 'reserved' or lapses_at > :now) /*pg: and host = :host */"

_SPENT = f"""
select coalesce(sum(cost), 0) as money, count(*) as calls,
       coalesce(sum(case when cost is null then input + output + cache_read + cache_write else 0 end), 0) as tokens
  from model_calls where {_COUNTS}
"""

_TOTALS = """
select (at + :offset) / 86400000000 as day, purpose, model, basis, count(*) as answers,
       sum(input) as input, sum(output) as output, sum(cache_read) as cache_read, sum(cache_write) as cache_write,
       sum(cost) as cost, sum(case when cost is null then 0 else 1 end) as priced
  from model_calls where at >= :since and state <> 'reserved'
 group by 1, 2, 3, 4 order by 1, 2, 3, 4
"""


def serialize(engine: Engine) -> None:
    """Let only one at a time judge what is left; SQLite has one writer anyway."""
    engine.run("/*pg: lock table model_calls in exclusive mode */")


def reserve(engine: Engine, **facts: Any) -> int:
    """Count a call before it is made and return its id."""
    return int(engine.run(_RESERVE, **facts)[0]["id"])


def settle(engine: Engine, call: int, **facts: Any) -> None:
    """Replace a reservation by what the call took."""
    engine.run(_SETTLE, id=call, **facts)


def fail(engine: Engine, call: int, *, seconds: float, error: str, reply: str | None, billed: bool) -> None:
    """Settle a call nobody answered; one that may have been billed keeps what was reserved for it."""
    engine.run(_FAIL, id=call, seconds=seconds, error=error, reply=reply, billed=int(billed))


def spent(engine: Engine, since: int, now: int, host: str) -> Row:
    """Return what calls since then took or may take: money, tokens without a price, how many."""
    row = engine.run(_SPENT, since=since, now=now, host=host)[0]
    return {"money": float(row["money"]), "tokens": int(row["tokens"]), "calls": int(row["calls"])}


def totals(engine: Engine, since: int, offset: int) -> list[Row]:
    """Return sums per day, purpose, model and basis, a day by the user's `offset`."""
    rows = engine.run(_TOTALS, since=since, offset=offset)
    whole = ("day", "answers", "input", "output", "cache_read", "cache_write", "priced")
    return [{**row, **{name: int(row[name]) for name in whole}} for row in rows]


def hush(engine: Engine) -> None:
    """Forget the replies kept for inspection: nobody knows which session they speak of."""
    engine.run("update model_calls set reply = null, error = null where reply is not null")


def newest(engine: Engine, limit: int) -> list[Row]:
    """Return calls, newest first."""
    return engine.run("select * from model_calls order by id desc limit :limit", limit=limit)
