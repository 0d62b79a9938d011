"""Tokens of model replies, each counted once even if several transcripts repeat it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from engram.store.engine import run_for_ids
from engram.store.utc_offsets import build_day_sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine, Row


_COLUMNS = (
    "key", "capture", "began", "model", "at", "input", "output", "cache_read", "cache_write", "cache_write_long",
    "reasoning", "cost", "basis", "counted", "speed",
)  # fmt: skip
_TOKEN_COLUMNS = ("input", "output", "cache_read", "cache_write", "cache_write_long", "reasoning")

# Contexts above which some vendor asks for another price. A sum holds only replies between the same two limits, so that
# any price table fits it. A new limit needs a migration that recomputes the sums.
BANDS = (32_000, 100_000, 128_000, 200_000, 256_000, 272_000, 512_000)
_CONTEXT = "input + cache_read + cache_write + cache_write_long"
_BAND = f"case {' '.join(f'when {_CONTEXT} > {limit} then {limit}' for limit in reversed(BANDS))} else 0 end"

# The copy with the largest output wins; the session that started first keeps the reply. Once a reply is known to be in
# another one's tokens, it does not count.


def _keep_larger(column: str) -> str:
    """Return the assignment that keeps the value of the reply with more output."""
    return f"{column} = case when excluded.output > usage.output then excluded.{column} else usage.{column} end"


_ADD = f"""
insert into usage ({", ".join(_COLUMNS)}) values ({", ".join(":" + name for name in _COLUMNS)})
on conflict (key) do update set
  {", ".join(map(_keep_larger, (*_TOKEN_COLUMNS, "speed")))},
  cost = coalesce(excluded.cost, usage.cost),
  counted = case when excluded.counted < usage.counted then excluded.counted else usage.counted end,
  model = case when usage.model = '' then excluded.model else usage.model end,
  capture = case when excluded.began < usage.began then excluded.capture else usage.capture end,
  began = case when excluded.began < usage.began then excluded.began else usage.began end
"""

# Sums of a session's replies per quarter of an hour; {when} selects the slot, so that an index is used.
SLOT = 900_000_000  # microseconds
_TIMELESS = -1  # the slot of replies without a time
_CLEAR = "delete from spent where capture = :capture and slot = :slot"
_SUM = f"""
insert into spent (capture, slot, model, basis, speed, band, answers, {", ".join(_TOKEN_COLUMNS)}, cost, priced)
select capture, :slot, model, basis, speed, {_BAND}, count(*), {", ".join(f"sum({name})" for name in _TOKEN_COLUMNS)},
       sum(cost), sum(case when cost is null then 0 else 1 end)
  from usage where capture = :capture and counted = 1 and {{when}}
 group by 1, 3, 4, 5, 6
"""
_SUM_TIMED = _SUM.format(when=f"at >= cast(:slot as bigint) * {SLOT} and at < cast(:slot as bigint) * {SLOT} + {SLOT}")
_SUM_TIMELESS = _SUM.format(when="at is null")

_WRONG_SUMS = """
select num as capture from captures c
 where coalesce((select sum(output) from usage u where u.capture = c.num and u.counted = 1), 0)
    <> coalesce((select sum(output) from spent t where t.capture = c.num), 0)
    or (select count(*) from usage u where u.capture = c.num and u.counted = 1)
    <> coalesce((select sum(answers) from spent t where t.capture = c.num), 0)
"""

# By flavor too: some agents report costs, others need the price table.
_SUMS = f"""sum(u.answers) as answers, {", ".join(f"sum(u.{name}) as {name}" for name in _TOKEN_COLUMNS)},
       sum(u.cost) as cost, sum(u.priced) as priced"""
_TOTALS = f"""
select {{place}} as place, {{part}} as part, u.model, s.flavor, u.basis, u.speed, u.band, {_SUMS}
  from spent u join captures c on c.num = u.capture join sessions s on s.id = c.session_id
 where {{conditions}}
 group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3
"""

# Sessions with all their subagents; `union` drops duplicates, so a cycle ends.
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
select f.root as place, '' as part, u.model, s.flavor, u.basis, u.speed, u.band, {_SUMS}
  from family f join captures c on c.session_id = f.id join sessions s on s.id = f.id
  join spent u on u.capture = c.num
 group by 1, 2, 3, 4, 5, 6, 7
"""

# A reply without a time counts at the session's end.
_TIME = f"coalesce(case when u.slot >= 0 then u.slot * {SLOT} end, c.last_at, 0)"
_PLACES = {
    "session": "s.id", "project": "s.project", "flavor": "s.flavor", "model": "u.model",
}  # fmt: skip
_CONDITIONS = {
    "flavor": "s.flavor = :flavor", "project": "s.project = :project", "domain": "s.domain = :domain",
    "session": _FAMILY,
    "since": f"(u.slot >= :since / {SLOT} or u.slot < 0 and c.last_at >= :since)",
}  # fmt: skip


def find_band(context: int) -> int:
    """Return the highest limit that a context exceeds, 0 if none."""
    return max((limit for limit in BANDS if context > limit), default=0)


def add_answers(engine: Engine, rows: Sequence[Row]) -> None:
    """Add replies and recompute the sums of their quarters of an hour."""
    stored = run_for_ids(
        engine, "select key, capture, at from usage where key in ({slots})", [row["key"] for row in rows]
    )
    engine.run_many(_ADD, rows)
    sum_slots(engine, _find_changed_slots([*rows, *stored]))


def _find_changed_slots(rows: Sequence[Row]) -> set[tuple[int, int]]:
    """Return the captures and slots whose sums may change: a reply has the session of one copy, the time of another."""
    copies: dict[int, list[Row]] = {}
    for row in rows:
        copies.setdefault(row["key"], []).append(row)
    return {
        (capture_row["capture"], _get_slot(time_row["at"]))
        for group in copies.values()
        for capture_row in group
        for time_row in group
    }


def _get_slot(at: int | None) -> int:
    return _TIMELESS if at is None else at // SLOT


def sum_slots(engine: Engine, slots: Iterable[tuple[int, int]]) -> None:
    """Recompute the sums of the given slots."""
    rows = [{"capture": capture, "slot": slot} for capture, slot in sorted(slots)]
    engine.run_many(_CLEAR, rows)
    engine.run_many(_SUM_TIMED, [row for row in rows if row["slot"] != _TIMELESS])
    engine.run_many(_SUM_TIMELESS, [row for row in rows if row["slot"] == _TIMELESS])


def list_wrong_sums(engine: Engine) -> list[int]:
    """Return the captures whose sums do not match their replies."""
    return [row["capture"] for row in engine.run(_WRONG_SUMS)]


def sum_captures(engine: Engine, captures: Sequence[int]) -> None:
    """Recompute all sums of captures."""
    engine.run_many("delete from spent where capture = :capture", [{"capture": capture} for capture in captures])
    rows = run_for_ids(engine, "select distinct capture, at from usage where capture in ({slots})", captures)
    sum_slots(engine, {(row["capture"], _get_slot(row["at"])) for row in rows})


def fetch_totals(
    engine: Engine, by: str, offsets: Sequence[tuple[int, int]], split: str | None = None, **filters: Any
) -> list[Row]:
    """Return sums per place, part, model, basis, speed and band; sessions include subagents.

    Days use the user's `offsets` from UTC, each with the time it applies until. A place has one part unless `split`
    names a column. Times have a resolution of a quarter of an hour.
    """
    chosen = {name: value for name, value in filters.items() if value is not None}
    sql = _TOTALS.format(
        place=build_day_sql(_TIME, offsets) if by == "day" else _PLACES[by], part=_PLACES[split] if split else "''",
        conditions=" and ".join(_CONDITIONS[name] for name in chosen) or "1 = 1",
    )  # fmt: skip
    return [_to_integers(row) for row in engine.run(sql, **chosen)]


def fetch_family_totals(engine: Engine, sessions: Sequence[str]) -> list[Row]:
    """Return sums per session, model and basis, each session including its subagents."""
    return [_to_integers(row) for row in run_for_ids(engine, _OF_FAMILIES, sessions)]


def _to_integers(row: Row) -> Row:
    return {**row, **{name: int(row[name]) for name in (*_TOKEN_COLUMNS, "answers", "priced")}}
