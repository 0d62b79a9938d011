"""Patterns, and which fingerprints belong to them. What a person decided about one is never changed from here."""

from __future__ import annotations

from engram.store.engine import among

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from engram.store.engine import Engine, Row

CANDIDATE, APPROVED, REJECTED, RETIRED, MERGED = "candidate", "approved", "rejected", "retired", "merged"
MOVED = "moved"  # an undecided one that turned out to be another
UNDECIDED = (CANDIDATE, MOVED)
NEW = 2  # of a fingerprint: it was not settled yet

_TOUCH = """
insert into fingerprints (kind, fingerprint, pattern, vector, changed)
values (:kind, :fingerprint, :pattern, :vector, 2)
on conflict (kind, fingerprint) do update set changed = case when fingerprints.changed = 2 then 2 else 1 end
"""

# A pattern is empty once no signal has a fingerprint of it any more; a decided one stays, with nothing to count.
_GONE = """
select f.kind, f.fingerprint from fingerprints f
 where f.changed > 0 and not exists (select 1 from signals s where s.kind = f.kind and s.fingerprint = f.fingerprint)
"""

# A session has one flavor and one project, so that what they count adds up.
_COUNTS = """
select f.pattern, s.flavor, s.project, count(*) as signals, count(distinct s.session_id) as sessions,
       sum(s.times) as times, sum(s.tokens) as tokens, sum(s.seconds) as seconds, min(s.at) as first_at,
       max(s.at) as last_at
  from fingerprints f join signals s on s.kind = f.kind and s.fingerprint = f.fingerprint
 where f.pattern in ({slots}) group by f.pattern, s.flavor, s.project
"""
_SUMS = ("signals", "sessions", "times", "tokens", "seconds")

_COUNTED = (
    "signals", "sessions", "times", "tokens", "seconds", "flavors", "projects", "confidence", "first_at", "last_at",
)  # fmt: skip

_PROPOSED = ("proposed", "proposed_fix", "proposed_by")

# A wording of a model stays until a person decides.
_KEPT = "{name} = case when patterns.proposed_by like 'model:%' then patterns.{name} else excluded.{name} end"
_PUT = f"""
insert into patterns (id, kind, state, title, seed, {", ".join((*_PROPOSED, *_COUNTED))})
values (:id, :kind, 'candidate', :title, :seed, {", ".join(":" + name for name in (*_PROPOSED, *_COUNTED))})
on conflict (id) do update set {", ".join(f"{name} = excluded.{name}" for name in _COUNTED)},
  {", ".join(_KEPT.format(name=name) for name in _PROPOSED)},
  title = case when patterns.version = 0 then excluded.title else patterns.title end,
  merged_into = case when patterns.state = 'moved' then null else patterns.merged_into end,
  state = case when patterns.state = 'moved' then 'candidate' else patterns.state end
"""

_FREQUENT = """
select p.*, p.sessions as here from patterns p where p.state = 'candidate' and p.sessions >= :least
"""

# How many sessions of a project, or since a time, tell of it.
_FREQUENT_WITHIN = """
select p.*, w.here from patterns p join (
  select f.pattern, count(distinct s.session_id) as here
    from signals s join fingerprints f on f.kind = s.kind and f.fingerprint = s.fingerprint
   where s.at >= :since {condition} group by f.pattern having count(distinct s.session_id) >= :least
) w on w.pattern = p.id where p.state = 'candidate'
"""

_EMPTY = """
update patterns set signals = 0, sessions = 0, times = 0, tokens = 0, seconds = 0, flavors = '[]', projects = '[]'
 where id = :id
"""

# What was moved to a pattern that is gone leads nowhere.
_LOST = """
delete from patterns where state = 'moved' and merged_into not in (select id from patterns where state <> 'moved')
"""


def hold(engine: Engine) -> None:
    """Let nobody else settle patterns until the end of this transaction."""
    engine.run("/*pg: select pg_advisory_xact_lock(7405309) */")


def get(engine: Engine, pattern: str) -> Row | None:
    """Return a pattern."""
    rows = engine.run("select * from patterns where id = :id", id=pattern)
    return rows[0] if rows else None


def by_id(engine: Engine, ids: Sequence[str]) -> dict[str, Row]:
    """Return patterns by their ids."""
    return {row["id"]: row for row in among(engine, "select * from patterns where id in ({slots})", ids)}


def in_state(engine: Engine, *states: str) -> list[Row]:
    """Return the patterns in these states, or all, the latest first."""
    condition = f"where state in ({', '.join(f':s{n}' for n in range(len(states)))})" if states else ""
    named = {f"s{n}": state for n, state in enumerate(states)}
    return engine.run(f"select * from patterns {condition} order by last_at desc, id", **named)


def frequent(engine: Engine, least: int, project: str | None, since: int | None) -> list[Row]:
    """Return the candidates that so many sessions tell of, of a project and since a time if these are given."""
    if project is None and since is None:
        return engine.run(_FREQUENT, least=least)
    condition = "" if project is None else "and s.project = :project"
    given = {} if project is None else {"project": project}
    return engine.run(_FREQUENT_WITHIN.format(condition=condition), least=least, since=since or 0, **given)


def touch(engine: Engine, rows: Sequence[Row]) -> None:
    """Note that signals of these fingerprints are new, changed or gone; a new one is a pattern by itself for now."""
    engine.run_many(_TOUCH, rows)


def touch_all(engine: Engine) -> None:
    """Note that everything has to be counted again."""
    engine.run("update fingerprints set changed = 1 where changed = 0")


def changed(engine: Engine) -> list[Row]:
    """Return the fingerprints whose signals are not counted yet."""
    return engine.run(
        "select kind, fingerprint, pattern from fingerprints where changed > 0 order by kind, fingerprint"
    )


def without_signals(engine: Engine) -> list[Row]:
    """Return the changed fingerprints no signal has any more."""
    return engine.run(_GONE)


def vectors(engine: Engine, kind: str) -> list[Row]:
    """Return every fingerprint of a kind with its pattern and vector."""
    return engine.run("select fingerprint, pattern, changed, vector from fingerprints where kind = :kind", kind=kind)


def decided(engine: Engine, kind: str) -> set[str]:
    """Return the patterns of a kind that a person decided about."""
    sql = "select id from patterns where kind = :kind and (state not in ('candidate', 'moved') or version > 0)"
    return {row["id"] for row in engine.run(sql, kind=kind)}


def assign(engine: Engine, kind: str, placed: dict[str, str]) -> None:
    """Say to which patterns fingerprints belong."""
    sql = "update fingerprints set pattern = :pattern where kind = :kind and fingerprint = :fingerprint"
    engine.run_many(
        sql, [{"kind": kind, "fingerprint": each, "pattern": pattern} for each, pattern in sorted(placed.items())]
    )


def drop_fingerprints(engine: Engine, rows: Sequence[Row]) -> None:
    """Forget fingerprints."""
    sql = "delete from fingerprints where kind = :kind and fingerprint = :fingerprint"
    engine.run_many(sql, [{"kind": row["kind"], "fingerprint": row["fingerprint"]} for row in rows])


def settled(engine: Engine) -> None:
    """Note that everything is counted."""
    engine.run("update fingerprints set changed = 0 where changed > 0")


def counts(engine: Engine, ids: Sequence[str]) -> dict[str, Row]:
    """Return what the signals of patterns come to; of one without signals, nothing."""
    found: dict[str, dict[str, Any]] = {}
    for row in among(engine, _COUNTS, ids):
        known = found.setdefault(row["pattern"], {"flavors": set(), "projects": set(), **dict.fromkeys(_SUMS, 0)})
        known |= {name: known[name] + int(row[name]) for name in _SUMS}
        known["first_at"] = min(row["first_at"], known.get("first_at", row["first_at"]))
        known["last_at"] = max(row["last_at"], known.get("last_at", row["last_at"]))
        known["flavors"].add(row["flavor"])
        known["projects"].add(row["project"])
    return found


def places_of(engine: Engine, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the patterns that fingerprints, each with its kind, belong to."""
    sql = "select kind, fingerprint, pattern from fingerprints where fingerprint in ({slots})"
    rows = among(engine, sql, sorted({fingerprint for _, fingerprint in wanted}))
    return {(row["kind"], row["fingerprint"]): row["pattern"] for row in rows}


def put(engine: Engine, rows: Sequence[Row]) -> None:
    """Write what patterns come to now; state, rule and a title somebody gave stay."""
    engine.run_many(_PUT, rows)


def empty(engine: Engine, ids: Iterable[str]) -> None:
    """Take away the undecided ones of patterns without signals, and the counts of the others."""
    gone = "delete from patterns where id = :id and state in ('candidate', 'moved') and version = 0"
    for each in sorted(ids):
        engine.run(gone, id=each)
        engine.run(_EMPTY, id=each)
    engine.run(_LOST)


def move(engine: Engine, pattern: str, into: str) -> None:
    """Let an undecided pattern lead to the one it turned out to be; its id stays good."""
    sql = "update patterns set state = 'moved', merged_into = :into where id = :id and state in ('candidate', 'moved')"
    engine.run(sql, id=pattern, into=into)
    engine.run(_EMPTY, id=pattern)


def propose(engine: Engine, pattern: str, rule: str, fix: str, by: str) -> None:
    """Keep a wording for a rule; it is no rule until a person says so."""
    sql = "update patterns set proposed = :rule, proposed_fix = :fix, proposed_by = :by where id = :id"
    engine.run(sql, id=pattern, rule=rule, fix=fix, by=by)


def merge(engine: Engine, pattern: str, into: str) -> None:
    """Give the fingerprints of one pattern to another, as a person said; count them afterwards."""
    sql = "update fingerprints set pattern = :into, changed = 1 where pattern = :id"
    engine.run(sql, id=pattern, into=into)
    engine.run("update patterns set state = 'merged', merged_into = :into where id = :id", id=pattern, into=into)
    engine.run(_EMPTY, id=pattern)


def counted(engine: Engine) -> int:
    """Return how many signals all patterns together are counted from."""
    return int(engine.run("select coalesce(sum(signals), 0) as n from patterns")[0]["n"])


_MET_IN = """
select p.id, p.kind, p.title, p.sessions, s.session_id
  from signals s join fingerprints f on f.kind = s.kind and f.fingerprint = s.fingerprint
  join patterns p on p.id = f.pattern
 where p.sessions > 1 and p.state in ('candidate', 'approved') and s.session_id in ({slots})
"""


def met_in(engine: Engine, session_ids: Sequence[str]) -> list[Row]:
    """Return the patterns several sessions met, these among them; a row for each of these."""
    rows = among(engine, _MET_IN, session_ids)
    return sorted(rows, key=lambda row: (-row["sessions"], row["id"], row["session_id"]))
