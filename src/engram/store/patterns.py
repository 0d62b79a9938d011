"""Patterns and their fingerprints. Nothing here changes what a person decided."""

from __future__ import annotations

from engram.store.engine import run_for_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from engram.store.engine import Engine, Row

CANDIDATE, APPROVED, REJECTED, RETIRED, MERGED = "candidate", "approved", "rejected", "retired", "merged"
MOVED = "moved"  # an undecided pattern that turned out to be part of another
UNDECIDED = (CANDIDATE, MOVED)
STATED = "standing-rule"  # the kind of what a person stated as a rule: saying it once is enough
NEW = 2  # a fingerprint not assigned yet

_TOUCH = """
insert into fingerprints (kind, fingerprint, pattern, vector, changed)
values (:kind, :fingerprint, :pattern, :vector, 2)
on conflict (kind, fingerprint) do update set changed = case when fingerprints.changed = 2 then 2 else 1 end
"""

# A pattern without signals is empty; a decided one stays, with zero counts.
_GONE = """
select f.kind, f.fingerprint from fingerprints f
 where f.changed > 0 and not exists (select 1 from signals s where s.kind = f.kind and s.fingerprint = f.fingerprint)
"""

# A session has one flavor and one project, so their counts add up.
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

# A wording by a model stays until a person decides.
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
select p.*, p.sessions as here from patterns p
 where p.state = 'candidate' and (p.sessions >= :least or (p.kind = 'standing-rule' and p.sessions > 0))
"""

# Number of sessions with the pattern, in a project or since a time.
_FREQUENT_WITHIN = """
select p.*, w.here from patterns p join (
  select f.pattern, count(distinct s.session_id) as here
    from signals s join fingerprints f on f.kind = s.kind and f.fingerprint = s.fingerprint
   where s.at >= :since {condition} group by f.pattern, f.kind
  having count(distinct s.session_id) >= :least or f.kind = 'standing-rule'
) w on w.pattern = p.id where p.state = 'candidate'
"""

_EMPTY = """
update patterns set signals = 0, sessions = 0, times = 0, tokens = 0, seconds = 0, flavors = '[]', projects = '[]'
 where id = :id
"""

# Patterns moved into one that no longer exists.
_LOST = """
delete from patterns where state = 'moved' and merged_into not in (select id from patterns where state <> 'moved')
"""


def lock_patterns(engine: Engine) -> None:
    """Lock patterns until the end of this transaction."""
    engine.run("/*pg: select pg_advisory_xact_lock(7405309) */")


def get(engine: Engine, pattern: str) -> Row | None:
    """Return a pattern."""
    rows = engine.run("select * from patterns where id = :id", id=pattern)
    return rows[0] if rows else None


def fetch_by_ids(engine: Engine, ids: Sequence[str]) -> dict[str, Row]:
    """Return patterns by their ids."""
    return {row["id"]: row for row in run_for_ids(engine, "select * from patterns where id in ({slots})", ids)}


def list_frequent(engine: Engine, least: int, project: str | None, since: int | None) -> list[Row]:
    """Return the candidates seen in at least this many sessions, optionally of a project and since a time."""
    if project is None and since is None:
        return engine.run(_FREQUENT, least=least)
    condition = "" if project is None else "and s.project = :project"
    params = {} if project is None else {"project": project}
    return engine.run(_FREQUENT_WITHIN.format(condition=condition), least=least, since=since or 0, **params)


def mark_changed(engine: Engine, rows: Sequence[Row]) -> None:
    """Mark fingerprints whose signals changed; a new one starts as its own pattern."""
    engine.run_many(_TOUCH, rows)


def mark_all_changed(engine: Engine) -> None:
    """Mark everything to be counted again."""
    engine.run("update fingerprints set changed = 1 where changed = 0")


def list_changed_fingerprints(engine: Engine) -> list[Row]:
    """Return the fingerprints whose signals are not counted yet."""
    return engine.run(
        "select kind, fingerprint, pattern from fingerprints where changed > 0 order by kind, fingerprint"
    )


def list_orphan_fingerprints(engine: Engine) -> list[Row]:
    """Return the changed fingerprints that no longer have signals."""
    return engine.run(_GONE)


def list_vectors(engine: Engine, kind: str) -> list[Row]:
    """Return every fingerprint of a kind with its pattern and vector."""
    return engine.run("select fingerprint, pattern, changed, vector from fingerprints where kind = :kind", kind=kind)


def list_decided(engine: Engine, kind: str) -> set[str]:
    """Return the patterns of a kind that a person decided about."""
    sql = "select id from patterns where kind = :kind and (state not in ('candidate', 'moved') or version > 0)"
    return {row["id"] for row in engine.run(sql, kind=kind)}


def assign_fingerprints(engine: Engine, kind: str, pattern_by_fingerprint: dict[str, str]) -> None:
    """Assign fingerprints to patterns."""
    sql = "update fingerprints set pattern = :pattern where kind = :kind and fingerprint = :fingerprint"
    engine.run_many(
        sql,
        [
            {"kind": kind, "fingerprint": fingerprint, "pattern": pattern}
            for fingerprint, pattern in sorted(pattern_by_fingerprint.items())
        ],
    )


def delete_fingerprints(engine: Engine, rows: Sequence[Row]) -> None:
    """Delete fingerprints."""
    sql = "delete from fingerprints where kind = :kind and fingerprint = :fingerprint"
    engine.run_many(sql, [{"kind": row["kind"], "fingerprint": row["fingerprint"]} for row in rows])


def mark_all_counted(engine: Engine) -> None:
    """Mark everything as counted."""
    engine.run("update fingerprints set changed = 0 where changed > 0")


def count_signals(engine: Engine, ids: Sequence[str]) -> dict[str, Row]:
    """Return the totals of patterns' signals; patterns without signals are left out."""
    totals: dict[str, dict[str, Any]] = {}
    for row in run_for_ids(engine, _COUNTS, ids):
        total = totals.setdefault(row["pattern"], {"flavors": set(), "projects": set(), **dict.fromkeys(_SUMS, 0)})
        total |= {name: total[name] + int(row[name]) for name in _SUMS}
        total["first_at"] = min(row["first_at"], total.get("first_at", row["first_at"]))
        total["last_at"] = max(row["last_at"], total.get("last_at", row["last_at"]))
        total["flavors"].add(row["flavor"])
        total["projects"].add(row["project"])
    return totals


def find_by_fingerprints(engine: Engine, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the patterns of fingerprints, given with their kinds."""
    sql = "select kind, fingerprint, pattern from fingerprints where fingerprint in ({slots})"
    rows = run_for_ids(engine, sql, sorted({fingerprint for _, fingerprint in keys}))
    return {(row["kind"], row["fingerprint"]): row["pattern"] for row in rows}


def save(engine: Engine, rows: Sequence[Row]) -> None:
    """Save the current totals of patterns; state, rule and a title given by a person stay."""
    engine.run_many(_PUT, rows)


def empty_patterns(engine: Engine, ids: Iterable[str]) -> None:
    """Delete undecided patterns without signals, and reset the counts of decided ones."""
    delete_sql = "delete from patterns where id = :id and state in ('candidate', 'moved') and version = 0"
    for pattern_id in sorted(ids):
        engine.run(delete_sql, id=pattern_id)
        engine.run(_EMPTY, id=pattern_id)
    engine.run(_LOST)


def move_into(engine: Engine, pattern: str, into: str) -> None:
    """Redirect an undecided pattern to the one it turned out to be; its id stays valid."""
    sql = "update patterns set state = 'moved', merged_into = :into where id = :id and state in ('candidate', 'moved')"
    engine.run(sql, id=pattern, into=into)
    engine.run(_EMPTY, id=pattern)


def save_proposal(engine: Engine, pattern: str, rule: str, fix: str, by: str) -> None:
    """Save a proposed wording for a rule; a person must approve it."""
    sql = "update patterns set proposed = :rule, proposed_fix = :fix, proposed_by = :by where id = :id"
    engine.run(sql, id=pattern, rule=rule, fix=fix, by=by)


def sum_signals(engine: Engine) -> int:
    """Return the total number of signals counted in all patterns."""
    return int(engine.run("select coalesce(sum(signals), 0) as n from patterns")[0]["n"])


_MET_IN = """
select p.id, p.kind, p.title, p.sessions, s.session_id
  from signals s join fingerprints f on f.kind = s.kind and f.fingerprint = s.fingerprint
  join patterns p on p.id = f.pattern
 where p.sessions > 1 and p.state in ('candidate', 'approved') and s.session_id in ({slots})
"""


def list_by_sessions(engine: Engine, session_ids: Sequence[str]) -> list[Row]:
    """Return patterns that occur in several sessions, including these; one row per given session."""
    rows = run_for_ids(engine, _MET_IN, session_ids)
    return sorted(rows, key=lambda row: (-row["sessions"], row["id"], row["session_id"]))
