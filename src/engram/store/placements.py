"""Where approved rules were put, from when to when; which sessions were told; which files hold them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from engram.store.engine import Engine, Row

CONTEXT = "context"  # the place of what a briefing tells

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

# What can be compared: captured sessions that were looked through for signals, but for parts of others.
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


def standing(engine: Engine) -> list[Row]:
    """Return the placements that were not taken back."""
    return engine.run(_STANDING)


def by_pattern(engine: Engine) -> dict[str, list[Row]]:
    """Return all placements there ever were, oldest first, by their pattern."""
    found: dict[str, list[Row]] = {}
    for row in engine.run(_EVERY):
        found.setdefault(row["pattern"], []).append(row)
    return found


def of_pattern(engine: Engine, pattern: str) -> list[Row]:
    """Return all placements of a pattern, oldest first."""
    return engine.run(_OF_PATTERN, pattern=pattern)


def put(engine: Engine, facts: Iterable[Row], now: int) -> None:
    """Note that rules were put somewhere."""
    engine.run_many(_PUT, [{**each, "now": now} for each in facts])


def remove(engine: Engine, ids: Iterable[int], now: int) -> None:
    """Note that rules were taken back."""
    rows = [{"id": each, "now": now} for each in ids]
    engine.run_many("update placements set removed_at = :now where id = :id and removed_at is null", rows)


def files(engine: Engine, host: str) -> dict[str, str]:
    """Return the files of a host that hold rules, with what was made for them, as JSON."""
    return {row["path"]: row["made"] for row in engine.run("select * from placed where host = :host", host=host)}


def note_file(engine: Engine, host: str, path: str, made: str, now: int) -> None:
    """Note a file before it is written to; what was known of it stays."""
    engine.run(_NOTE_FILE, host=host, path=path, made=made, now=now)


def drop_file(engine: Engine, host: str, path: str) -> None:
    """Forget a file that holds nothing of ours."""
    engine.run("delete from placed where host = :host and path = :path", host=host, path=path)


def tell(engine: Engine, session_id: str, rules: Iterable[tuple[str, int]], now: int) -> None:
    """Note which rules a session was told."""
    rows = [
        {"session_id": session_id, "pattern": pattern, "version": version, "now": now} for pattern, version in rules
    ]
    engine.run_many(_TELL, rows)


def exposed(engine: Engine, pattern: str) -> set[str]:
    """Return the sessions that were told a rule."""
    found = engine.run("select session_id from exposures where pattern = :pattern", pattern=pattern)
    return {row["session_id"] for row in found}


def comparable(engine: Engine) -> list[Row]:
    """Return the sessions that can be compared, those that began first before others."""
    return engine.run(_SESSIONS)
