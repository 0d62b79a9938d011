"""Tokens of models' answers, each counted once wherever it is repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine, Row


_COLUMNS = (
    "key", "capture", "began", "model", "at", "input", "output", "cache_read", "cache_write", "cache_write_long",
    "reasoning", "cost", "basis", "counted",
)  # fmt: skip
_GROWING = ("input", "output", "cache_read", "cache_write", "cache_write_long", "reasoning")

# The copy with the largest output wins; the session that began first keeps the answer.
_ADD = f"""
insert into usage ({", ".join(_COLUMNS)}) values ({", ".join(":" + name for name in _COLUMNS)})
on conflict (key) do update set
  {", ".join(f"{n} = case when excluded.output > usage.output then excluded.{n} else usage.{n} end" for n in _GROWING)},
  cost = coalesce(excluded.cost, usage.cost),
  model = case when usage.model = '' then excluded.model else usage.model end,
  capture = case when excluded.began < usage.began then excluded.capture else usage.capture end,
  began = case when excluded.began < usage.began then excluded.began else usage.began end
"""

# By flavor too: one says itself what an answer cost, another leaves it to the table.
_TOTALS = """
select {group} as place, u.model, s.flavor, u.basis, count(*) as answers,
       sum(u.input) as input, sum(u.output) as output, sum(u.cache_read) as cache_read,
       sum(u.cache_write) as cache_write, sum(u.cache_write_long) as cache_write_long, sum(u.reasoning) as reasoning,
       sum(u.cost) as cost, sum(case when u.cost is null then 0 else 1 end) as priced
  from usage u join captures c on c.num = u.capture join sessions s on s.id = c.session_id
 where u.counted = 1 {conditions}
 group by 1, 2, 3, 4 order by 1, 2
"""

# A session with the subagents it sent, and theirs; `union` drops whom it has met, so a circle ends.
_FAMILY = """
 and s.id in (
   with recursive family (id) as (
     select id from sessions where id = :session
     union
     select child.id from family join sessions sender on sender.id = family.id
       join captures sent on sent.parent = sender.native_id and sent.relation = 'subagent'
       join sessions child on child.id = sent.session_id and child.flavor = sender.flavor
   ) select id from family)
"""

_GROUPS = {
    "session": "s.id", "project": "s.project", "flavor": "s.flavor", "model": "u.model",
    "day": "(coalesce(u.at, c.last_at, 0) + :offset) / 86400000000",
}  # fmt: skip


def add(engine: Engine, rows: Sequence[Row]) -> None:
    """Count answers."""
    engine.run_many(_ADD, rows)


def totals(engine: Engine, by: str, offset: int, **filters: Any) -> list[Row]:
    """Return sums per place, model and basis; a session counts with its subagents, a day by the user's `offset`."""
    conditions = {
        "flavor": "and s.flavor = :flavor", "project": "and s.project = :project", "session": _FAMILY,
        "since": "and coalesce(u.at, c.last_at) >= :since",
    }  # fmt: skip
    given = {name: each for name, each in filters.items() if each is not None}
    sql = _TOTALS.format(group=_GROUPS[by], conditions=" ".join(conditions[name] for name in given))
    extra = {"offset": offset} if by == "day" else {}
    rows = engine.run(sql, **given, **extra)
    return [{**row, **{name: int(row[name]) for name in (*_GROWING, "answers", "priced")}} for row in rows]
