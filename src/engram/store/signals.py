"""Signals: what happened in a session that may be part of a pattern; made anew with the session's digest."""

from __future__ import annotations

from engram.store.engine import among

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

# The newest of one fingerprint, without a look at the rest.
_NEWEST = """
select s.*, cast(:pattern as text) as pattern from signals s where s.kind = :kind and s.fingerprint = :fingerprint
 order by s.at desc, s.session_id limit :most
"""

_SESSION = """
select s.id, s.flavor, s.project, s.cwd, s.status, c.num, c.parent, c.relation, c.last_at, c.started_at, d.facts,
       coalesce(d.corrected, d.outcome) as outcome, d.confidence
  from sessions s join captures c on c.session_id = s.id join digests d on d.capture = c.num where s.id = :session_id
"""


def session(engine: Engine, session_id: str) -> Row | None:
    """Return a session with its capture and digest, if it has them."""
    rows = engine.run(_SESSION, session_id=session_id)
    return rows[0] if rows else None


def replace(engine: Engine, session_id: str, rows: Sequence[Row], *, keep: bool = False) -> set[tuple[str, str]]:
    """Put signals in place of the session's; return every kind and fingerprint it has or had.

    With `keep` the old ones stay: what they were made of is gone.
    """
    sql = "select kind, fingerprint from signals where session_id = :session_id"
    before = {(row["kind"], row["fingerprint"]) for row in engine.run(sql, session_id=session_id)}
    if not keep:
        engine.run("delete from signals where session_id = :session_id", session_id=session_id)
    engine.run_many(_ADD, rows)
    return before | {(row["kind"], row["fingerprint"]) for row in rows}


def of_patterns(engine: Engine, patterns: Sequence[str]) -> list[Row]:
    """Return the signals of patterns, newest first."""
    return among(engine, _OF_PATTERN, patterns)


def newest(engine: Engine, counts: dict[str, int], most: int = 40) -> dict[str, list[Row]]:
    """Return the newest signals of each pattern, whose numbers of signals are given; of a small one, all."""
    found: dict[str, list[Row]] = {}
    for row in of_patterns(engine, sorted(each for each, count in counts.items() if count <= most)):
        found.setdefault(row["pattern"], []).append(row)
    large = sorted(each for each, count in counts.items() if count > most)
    sql = "select kind, fingerprint, pattern from fingerprints where pattern in ({slots}) order by kind, fingerprint"
    for place in among(engine, sql, large):
        told = found.setdefault(place["pattern"], [])
        if len(told) < most * most:  # of very many fingerprints the first ones
            told += engine.run(_NEWEST, most=most, **place)
    return found


def of_session(engine: Engine, session_id: str) -> list[Row]:
    """Return the signals of a session."""
    sql = "select * from signals where session_id = :session_id order by kind, fingerprint"
    return engine.run(sql, session_id=session_id)


def count(engine: Engine) -> int:
    """Count all signals."""
    return int(engine.run("select count(*) as n from signals")[0]["n"])


def answers(engine: Engine, capture: int) -> list[Row]:
    """Return when a session's answers came and how many tokens each took, without what went through a cache."""
    return engine.run(
        "select at, input + output + reasoning as tokens from usage"
        " where capture = :capture and counted = 1 order by at",
        capture=capture,
    )  # fmt: skip


def event_keys(engine: Engine, capture: int) -> set[int]:
    """Return by what the events of a session are known in whichever transcript repeats them."""
    return {row["key"] for row in engine.run("select key from events where capture = :capture", capture=capture)}


def failed(engine: Engine, session_id: str, problem: str, now: int) -> int:
    """Note that a session could not be looked through; return how often that was so."""
    return int(engine.run(_FAILED, session_id=session_id, problem=problem, now=now)[0]["tries"])


def mended(engine: Engine, session_id: str) -> None:
    """Forget that a session could not be looked through."""
    engine.run("delete from undetected where session_id = :session_id", session_id=session_id)


def undetected(engine: Engine) -> dict[str, str]:
    """Return the sessions that could not be looked through, and why."""
    rows = engine.run("select session_id, problem from undetected order by session_id")
    return {row["session_id"]: row["problem"] for row in rows}
