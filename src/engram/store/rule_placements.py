"""Where approved rules were placed and when; which sessions saw them; which files contain them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from engram.store.engine import Engine, Row

CONTEXT = "context"  # the placement in briefings

_STANDING = "select * from placements where removed_at is null order by id"

_EVERY = "select * from placements order by placed_at, id"

_OF_PATTERN = "select * from placements where pattern = :pattern order by placed_at, id"

_PUT = """
insert into placements (pattern, version, flavor, project, place, host, placed_at)
values (:pattern, :version, :flavor, :project, :place, :host, :now)
"""

_NOTE_FILE = """
insert into placed (host, path, made, at) values (:host, :path, :made, :now)
on conflict (host, path) do nothing
"""

_TELL = """
insert into exposures (session_id, pattern, version, at) values (:session_id, :pattern, :version, :now)
on conflict (session_id, pattern) do nothing
"""

# Comparable: captured sessions that were scanned for signals, except subagents and forks.
_SESSIONS = """
select s.id, s.flavor, s.project, s.host, c.num as capture, coalesce(c.started_at, s.started_at) as began,
       (d.facts like '%"tests":{"runs"%' or d.facts like '%"tests": {"runs"%') as tested,
       not exists (select 1 from blobs b where b.capture = c.num and b.evicting_at is not null) as whole
  from captures c join sessions s on s.id = c.session_id join digests d on d.capture = c.num
 where c.relation is null
   and not exists (select 1 from news n where n.step = 'detect' and n.key = s.id)
   and not exists (select 1 from undetected u where u.session_id = s.id)
 order by began, s.id
"""


def list_standing(engine: Engine) -> list[Row]:
    """Return the placements still in effect."""
    return engine.run(_STANDING)


def group_by_pattern(engine: Engine) -> dict[str, list[Row]]:
    """Return all placements, oldest first, by pattern."""
    placements: dict[str, list[Row]] = {}
    for row in engine.run(_EVERY):
        placements.setdefault(row["pattern"], []).append(row)
    return placements


def list_by_pattern(engine: Engine, pattern: str) -> list[Row]:
    """Return all placements of a pattern, oldest first."""
    return engine.run(_OF_PATTERN, pattern=pattern)


def add_placements(engine: Engine, placements: Iterable[Row], now: int) -> None:
    """Record that rules were placed."""
    engine.run_many(_PUT, [{**placement, "now": now} for placement in placements])


def mark_removed(engine: Engine, ids: Iterable[int], now: int) -> None:
    """Record that rules were removed."""
    rows = [{"id": placement_id, "now": now} for placement_id in ids]
    engine.run_many("update placements set removed_at = :now where id = :id and removed_at is null", rows)


def list_files(engine: Engine, host: str) -> dict[str, str]:
    """Return the files of a host that contain rules, with what was written to them, as JSON."""
    return {row["path"]: row["made"] for row in engine.run("select * from placed where host = :host", host=host)}


def insert_file_row(engine: Engine, host: str, path: str, made: str, now: int) -> None:
    """Insert the row of a file before it is written; an existing row stays."""
    engine.run(_NOTE_FILE, host=host, path=path, made=made, now=now)


def delete_file_row(engine: Engine, host: str, path: str) -> None:
    """Delete the row of a file that contains nothing of ours."""
    engine.run("delete from placed where host = :host and path = :path", host=host, path=path)


def record_exposures(engine: Engine, session_id: str, rules: Iterable[tuple[str, int]], now: int) -> None:
    """Record which rules a session was shown."""
    rows = [
        {"session_id": session_id, "pattern": pattern, "version": version, "now": now} for pattern, version in rules
    ]
    engine.run_many(_TELL, rows)


def list_exposed_sessions(engine: Engine, pattern: str) -> set[str]:
    """Return the sessions that were shown a rule."""
    rows = engine.run("select session_id from exposures where pattern = :pattern", pattern=pattern)
    return {row["session_id"] for row in rows}


def list_comparable_sessions(engine: Engine) -> list[Row]:
    """Return the sessions that can be compared, earliest first."""
    return engine.run(_SESSIONS)
