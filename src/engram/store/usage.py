"""Tokens of models' answers, each counted once wherever it is repeated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from engram.store.engine import among

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

# What the answers of a session in a quarter of an hour come to. {when} says which, so that an index finds them.
SLOT = 900_000_000  # microseconds
_TIMELESS = -1  # the slot of answers that have no time
_CLEAR = "delete from spent where capture = :capture and slot = :slot"
_SUM = f"""
insert into spent (capture, slot, model, basis, answers, {", ".join(_GROWING)}, cost, priced)
select capture, :slot, model, basis, count(*), {", ".join(f"sum({name})" for name in _GROWING)},
       sum(cost), sum(case when cost is null then 0 else 1 end)
  from usage where capture = :capture and counted = 1 and {{when}}
 group by capture, model, basis
"""
_SUM_TIMED = _SUM.format(when=f"at >= cast(:slot as bigint) * {SLOT} and at < cast(:slot as bigint) * {SLOT} + {SLOT}")
_SUM_TIMELESS = _SUM.format(when="at is null")

_ASTRAY = """
select num as capture from captures c
 where coalesce((select sum(output) from usage u where u.capture = c.num and u.counted = 1), 0)
    <> coalesce((select sum(output) from spent t where t.capture = c.num), 0)
    or (select count(*) from usage u where u.capture = c.num and u.counted = 1)
    <> coalesce((select sum(answers) from spent t where t.capture = c.num), 0)
"""

# By flavor too: one says itself what an answer cost, another leaves it to the table.
_SUMS = f"""sum(u.answers) as answers, {", ".join(f"sum(u.{name}) as {name}" for name in _GROWING)},
       sum(u.cost) as cost, sum(u.priced) as priced"""
_TOTALS = f"""
select {{place}} as place, {{part}} as part, u.model, s.flavor, u.basis, {_SUMS}
  from spent u join captures c on c.num = u.capture join sessions s on s.id = c.session_id
 where {{conditions}}
 group by 1, 2, 3, 4, 5 order by 1, 2, 3
"""

# Sessions with the subagents they sent, and theirs; `union` drops whom it has met, so a circle ends.
_KIN = """recursive family (root, id) as (
     select id, id from sessions where id in ({slots})
     union
     select family.root, child.id from family join sessions sender on sender.id = family.id
       join captures sent on sent.parent = sender.native_id and sent.relation = 'subagent'
       join sessions child on child.id = sent.session_id and child.flavor = sender.flavor
   )"""
_FAMILY = f"s.id in (with {_KIN.format(slots=':session')} select id from family)"
_OF_FAMILIES = f"""
with {_KIN}
select f.root as place, '' as part, u.model, s.flavor, u.basis, {_SUMS}
  from family f join captures c on c.session_id = f.id join sessions s on s.id = f.id
  join spent u on u.capture = c.num
 group by 1, 2, 3, 4, 5
"""

# What has no time of its own was said by the session's end.
_TIME = f"coalesce(case when u.slot >= 0 then u.slot * {SLOT} end, c.last_at, 0)"
_PLACES = {
    "session": "s.id", "project": "s.project", "flavor": "s.flavor", "model": "u.model",
    "day": f"({_TIME} + :offset) / 86400000000",
}  # fmt: skip
_CONDITIONS = {
    "flavor": "s.flavor = :flavor", "project": "s.project = :project", "domain": "s.domain = :domain",
    "session": _FAMILY,
    "since": f"(u.slot >= :since / {SLOT} or u.slot < 0 and c.last_at >= :since)",
}  # fmt: skip


def add(engine: Engine, rows: Sequence[Row]) -> None:
    """Count answers, and sum up anew the quarters of an hour that hold them."""
    held = among(engine, "select key, capture, at from usage where key in ({slots})", [row["key"] for row in rows])
    engine.run_many(_ADD, rows)
    add_up(engine, _touched(rows, {row["key"]: row for row in held}))


def _touched(rows: Sequence[Row], held: dict[int, Row]) -> set[tuple[int, int]]:
    """Return captures and slots whose sums may have changed; an answer that is held keeps its time, not its session."""
    pairs = [(row, held.get(row["key"], row)) for row in rows]
    return {(one["capture"], _slot(other["at"])) for pair in pairs for one in pair for other in pair}


def _slot(at: int | None) -> int:
    return _TIMELESS if at is None else at // SLOT


def add_up(engine: Engine, slots: Iterable[tuple[int, int]]) -> None:
    """Sum up the answers of captures in their slots, in place of what was summed before."""
    wanted = [{"capture": capture, "slot": slot} for capture, slot in sorted(slots)]
    engine.run_many(_CLEAR, wanted)
    engine.run_many(_SUM_TIMED, [each for each in wanted if each["slot"] != _TIMELESS])
    engine.run_many(_SUM_TIMELESS, [each for each in wanted if each["slot"] == _TIMELESS])


def astray(engine: Engine) -> list[int]:
    """Return the captures whose sums are not what their answers come to."""
    return [row["capture"] for row in engine.run(_ASTRAY)]


def add_up_all(engine: Engine, captures: Sequence[int]) -> None:
    """Sum up all answers of captures anew."""
    engine.run_many("delete from spent where capture = :capture", [{"capture": each} for each in captures])
    held = among(engine, "select distinct capture, at from usage where capture in ({slots})", captures)
    add_up(engine, {(row["capture"], _slot(row["at"])) for row in held})


def totals(engine: Engine, by: str, offset: int, split: str | None = None, **filters: Any) -> list[Row]:
    """Return sums per place, part, model and basis; a session counts with its subagents, a day by the user's `offset`.

    A place is in one part unless `split` says by what. Time is told apart by quarters of an hour.
    """
    given = {name: each for name, each in filters.items() if each is not None}
    sql = _TOTALS.format(
        place=_PLACES[by], part=_PLACES[split] if split else "''",
        conditions=" and ".join(_CONDITIONS[name] for name in given) or "1 = 1",
    )  # fmt: skip
    return [_whole(row) for row in engine.run(sql, **given, **({"offset": offset} if by == "day" else {}))]


def of_families(engine: Engine, sessions: Sequence[str]) -> list[Row]:
    """Return sums per session, model and basis, each session with the subagents it sent."""
    return [_whole(row) for row in among(engine, _OF_FAMILIES, sessions)]


def _whole(row: Row) -> Row:
    return {**row, **{name: int(row[name]) for name in (*_GROWING, "answers", "priced")}}
