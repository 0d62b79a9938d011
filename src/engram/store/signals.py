"""Signals: events in a session that may be part of a pattern; rebuilt with the session's digest."""

from __future__ import annotations

from engram.store.engine import run_for_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine, Row


_COLUMNS = (
    "session_id", "kind", "fingerprint", "text", "quote", "fix", "evidence", "times", "project", "flavor", "at",
    "tokens", "seconds",
)  # fmt: skip

_ADD = f"""
insert into signals ({", ".join(_COLUMNS)}) values ({", ".join(":" + name for name in _COLUMNS)})
on conflict (session_id, kind, fingerprint) do nothing
"""

_FAILED = """
insert into undetected (session_id, tries, problem, at) values (:session_id, 1, :problem, :now)
on conflict (session_id) do update set tries = undetected.tries + 1, problem = excluded.problem, at = excluded.at
returning tries
"""

_OF_PATTERN = """
select s.*, f.pattern from signals s join fingerprints f on f.kind = s.kind and f.fingerprint = s.fingerprint
 where f.pattern in ({slots}) order by s.at desc, s.session_id, s.fingerprint
"""

# The newest of one fingerprint, read along an index.
_NEWEST = """
select s.*, cast(:pattern as text) as pattern from signals s where s.kind = :kind and s.fingerprint = :fingerprint
 order by s.at desc, s.session_id limit :most
"""

_SESSION = """
select s.id, s.flavor, s.project, s.cwd, s.status, c.num, c.parent, c.relation, c.last_at, c.started_at, d.facts,
       coalesce(d.corrected, d.outcome) as outcome, d.confidence
  from sessions s join captures c on c.session_id = s.id join digests d on d.capture = c.num where s.id = :session_id
"""


def fetch_session(engine: Engine, session_id: str) -> Row | None:
    """Return a session with its capture and digest, if any."""
    rows = engine.run(_SESSION, session_id=session_id)
    return rows[0] if rows else None


def replace_signals(
    engine: Engine, session_id: str, rows: Sequence[Row], *, keep: bool = False
) -> set[tuple[str, str]]:
    """Replace the signals of a session; return every kind and fingerprint it has or had.

    With `keep`, the old signals stay, because their events are gone.
    """
    sql = "select kind, fingerprint from signals where session_id = :session_id"
    before = {(row["kind"], row["fingerprint"]) for row in engine.run(sql, session_id=session_id)}
    if not keep:
        engine.run("delete from signals where session_id = :session_id", session_id=session_id)
    engine.run_many(_ADD, rows)
    return before | {(row["kind"], row["fingerprint"]) for row in rows}


def list_by_patterns(engine: Engine, patterns: Sequence[str]) -> list[Row]:
    """Return the signals of patterns, newest first."""
    return run_for_ids(engine, _OF_PATTERN, patterns)


def list_newest(engine: Engine, counts: dict[str, int], most: int = 40) -> dict[str, list[Row]]:
    """Return the newest signals of each pattern, given with its number of signals; of a small pattern, all."""
    signals: dict[str, list[Row]] = {}
    for row in list_by_patterns(engine, sorted(pattern for pattern, count in counts.items() if count <= most)):
        signals.setdefault(row["pattern"], []).append(row)
    large = sorted(pattern for pattern, count in counts.items() if count > most)
    sql = "select kind, fingerprint, pattern from fingerprints where pattern in ({slots}) order by kind, fingerprint"
    for fingerprint in run_for_ids(engine, sql, large):
        rows = signals.setdefault(fingerprint["pattern"], [])
        if len(rows) < most * most:  # limit the work for patterns with very many fingerprints
            rows += engine.run(_NEWEST, most=most, **fingerprint)
    return signals


def list_by_session(engine: Engine, session_id: str) -> list[Row]:
    """Return the signals of a session."""
    sql = "select * from signals where session_id = :session_id order by kind, fingerprint"
    return engine.run(sql, session_id=session_id)


def count(engine: Engine) -> int:
    """Count all signals."""
    return int(engine.run("select count(*) as n from signals")[0]["n"])


def list_answers(engine: Engine, capture: int) -> list[Row]:
    """Return the times of a session's replies and the tokens of each, without cached tokens."""
    return engine.run(
        "select at, input + output + reasoning as tokens from usage"
        " where capture = :capture and counted = 1 order by at",
        capture=capture,
    )  # fmt: skip


def list_event_keys(engine: Engine, capture: int) -> set[int]:
    """Return the keys of a session's events, which are the same in every transcript that repeats them."""
    return {row["key"] for row in engine.run("select key from events where capture = :capture", capture=capture)}


def record_failure(engine: Engine, session_id: str, problem: str, now: int) -> int:
    """Record that a session could not be scanned; return the number of failures."""
    return int(engine.run(_FAILED, session_id=session_id, problem=problem, now=now)[0]["tries"])


def clear_failure(engine: Engine, session_id: str) -> None:
    """Clear the failure of a session."""
    engine.run("delete from undetected where session_id = :session_id", session_id=session_id)


def list_failures(engine: Engine) -> dict[str, str]:
    """Return the sessions that could not be scanned, and why."""
    rows = engine.run("select session_id, problem from undetected order by session_id")
    return {row["session_id"]: row["problem"] for row in rows}
