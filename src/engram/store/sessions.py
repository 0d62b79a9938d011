"""Sessions and their logs."""

from __future__ import annotations

from engram.store import domains

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from engram.store.engine import Engine, Row

_COLUMNS = (
    "id", "flavor", "native_id", "session_type", "summary", "status", "project", "cwd", "branch", "host", "pid",
    "pid_start", "model", "started_at", "last_heartbeat", "completed_at", "completion_summary", "metadata",
)  # fmt: skip

_INSERT = f"""
insert into sessions ({", ".join(_COLUMNS)}, domain)
values ({", ".join(":" + name for name in _COLUMNS)}, coalesce(cast(:domain as text), {domains.OF_PROJECT}, ''))
on conflict do nothing returning id
"""

_TOUCH = """
update sessions set last_heartbeat = :now,
       summary = coalesce(cast(:summary as text), summary),
       status = 'active', completed_at = null, completion_summary = null
 where id = :id returning *
"""

_RESUME = """
update sessions set last_heartbeat = :now, summary = :summary, session_type = :session_type,
       cwd = coalesce(cast(:cwd as text), cwd), branch = coalesce(cast(:branch as text), branch),
       host = :host, pid = :pid, pid_start = :pid_start,
       model = coalesce(cast(:model as text), model), metadata = coalesce(cast(:metadata as text), metadata)
 where id = :id
"""

_COMPLETE = """
update sessions set status = 'completed', completed_at = :now, last_heartbeat = :now, completion_summary = :summary
 where id = :id returning *
"""

# Each is one walk along one index, whatever else is stored: with a project, and without.
_ACTIVE = """
select * from sessions where status = 'active' and last_heartbeat > :since {and_project}
 order by last_heartbeat desc limit :limit
"""

_ACTIVE_ELSEWHERE = """
select * from (
  select * from sessions where status = 'active' and last_heartbeat > :since order by last_heartbeat desc limit 500
) as newest where project <> :project order by last_heartbeat desc limit :limit
"""

_RECENT = """
select * from sessions where completed_at > :since {and_project}
 order by completed_at desc limit :limit
"""

_OF_PROCESSES = """
select * from sessions where status = 'active' and pid = :pid and pid_start = :start and host = :host
 order by last_heartbeat desc, id desc limit 1
"""

# One step of an index per agent: nothing is sorted by the native id alone.
_NATIVE = """
with recursive agents (flavor) as (
  select min(flavor) from sessions where native_id is not null
  union all
  select (select min(s.flavor) from sessions s where s.native_id is not null and s.flavor > agents.flavor)
    from agents where agents.flavor is not null
)
select s.* from agents join sessions s on s.flavor = agents.flavor and s.native_id is not null and {condition}
 order by s.id limit 2
"""

_COUNTS = """
select (select count(*) from sessions) as total_sessions,
       (select count(*) from sessions where status = 'active') as active_sessions,
       (select count(*) from sessions where status = 'completed') as completed_sessions,
       (select count(*) from session_logs) as total_logs
"""

_LOG = """
insert into session_logs (session_id, logged_at, entry, origin) values (:session_id, :now, :entry, :origin)
on conflict (origin) do nothing returning id, session_id, logged_at, entry
"""

_RESTATE = """
update sessions set summary = :summary, status = :status, started_at = :started_at, last_heartbeat = :last_heartbeat,
       completed_at = :completed_at, completion_summary = :completion_summary
 where id = :id and last_heartbeat = :seen returning id
"""

# A session that registered itself knows better what it does and whether it is done.
_DESCRIBE = f"""
update sessions set
  cwd = coalesce(cwd, cast(:cwd as text)), branch = coalesce(cast(:branch as text), branch),
  model = coalesce(cast(:model as text), model),
  project = case when project = '' then :project else project end,
  domain = case when project = '' then coalesce({domains.OF_PROJECT}, '') else domain end,
  summary = case when pid is null and status = 'completed' and completion_summary is null
                 then :summary else summary end,
  last_heartbeat = case when pid is null and last_heartbeat < :last_at then :last_at else last_heartbeat end,
  completed_at = case when pid is null and completion_summary is null and completed_at < :last_at and :main = 1
                      then :last_at else completed_at end
 where id = :id
"""

_REMEMBERING = """
select s.id, s.summary from sessions s
 where s.flavor in ('chat', 'lyra') or exists (select 1 from exchanges e where e.session_id = s.id)
 order by s.started_at desc, s.id desc
"""

_LOGS = "select * from session_logs where session_id = :session_id order by id desc limit :limit"


def insert(engine: Engine, **facts: Any) -> bool:
    """Add a session; False when it is already known."""
    columns = {name: facts.get(name) for name in (*_COLUMNS, "domain")}
    added = bool(engine.run(_INSERT, **columns, **domains.names(facts.get("project"))))
    if added and columns["completion_summary"]:
        _make_completion_findable(engine, columns)
    return added


def get(engine: Engine, session_id: str) -> Row | None:
    """Return one session."""
    rows = engine.run("select * from sessions where id = :id", id=session_id)
    return rows[0] if rows else None


def with_prefix(engine: Engine, prefix: str) -> list[Row]:
    """Return up to two sessions whose id starts so: enough to tell one from several."""
    return engine.run(
        "select * from sessions where id >= :first and id < :last order by id limit 2",
        first=prefix, last=prefix + "\U0010ffff",
    )  # fmt: skip


def by_native_id(engine: Engine, flavor: str, native_id: str) -> Row | None:
    """Return the session an agent knows under its own id."""
    rows = engine.run(
        "select * from sessions where flavor = :flavor and native_id = :native_id", flavor=flavor, native_id=native_id
    )
    return rows[0] if rows else None


def with_native_id(engine: Engine, native_id: str) -> list[Row]:
    """Return up to two sessions an agent knows under this id, whichever agent it is."""
    return engine.run(_NATIVE.format(condition="s.native_id = :id"), id=native_id)


def with_native_prefix(engine: Engine, prefix: str) -> list[Row]:
    """Return up to two sessions whose agent's id starts so."""
    condition = 's.native_id /*pg: collate "C" */ >= :first and s.native_id /*pg: collate "C" */ < :last'
    return engine.run(_NATIVE.format(condition=condition), first=prefix, last=prefix + "\U0010ffff")


def touch(engine: Engine, session_id: str, now: int, summary: str | None) -> Row:
    """Record a sign of life."""
    return engine.run(_TOUCH, id=session_id, now=now, summary=summary)[0]


def resume(engine: Engine, session_id: str, **facts: Any) -> None:
    """Let a known session be run by a new process."""
    engine.run(_RESUME, id=session_id, **facts)


def rebind(engine: Engine, session_id: str, host: str, pid: int | None, pid_start: str | None) -> None:
    """Change which process runs a session."""
    engine.run(
        "update sessions set host = :host, pid = :pid, pid_start = :pid_start where id = :id",
        id=session_id, host=host, pid=pid, pid_start=pid_start,
    )  # fmt: skip


def complete(engine: Engine, session_id: str, now: int, summary: str) -> Row:
    """Mark a session as done."""
    row = engine.run(_COMPLETE, id=session_id, now=now, summary=summary)[0]
    _make_completion_findable(engine, row)
    return row


def reopen(engine: Engine, session_id: str) -> None:
    """Let what a session said at its end no longer be found as its end."""
    from engram.store import passages

    passages.drop(engine, "completion", session_id)


def _make_completion_findable(engine: Engine, row: Row) -> None:
    from engram.store import passages

    said, at = row["completion_summary"], row["completed_at"]
    passages.put(engine, "completion", row["id"], [said] if said else [], at=at or 0, session_id=row["id"])


def active(engine: Engine, since: int, project: str | None, limit: int) -> list[Row]:
    """Return sessions not completed, newest sign of life first."""
    return _listed(engine, _ACTIVE, since, project, limit)


def active_elsewhere(engine: Engine, since: int, project: str, limit: int) -> list[Row]:
    """Return sessions not completed in other projects, of those seen last anywhere."""
    return engine.run(_ACTIVE_ELSEWHERE, since=since, project=project, limit=limit)


def recent(engine: Engine, since: int, project: str | None, limit: int) -> list[Row]:
    """Return sessions completed since then, newest first."""
    return _listed(engine, _RECENT, since, project, limit)


def _listed(engine: Engine, sql: str, since: int, project: str | None, limit: int) -> list[Row]:
    if project is None:
        return engine.run(sql.format(and_project=""), since=since, limit=limit)
    return engine.run(sql.format(and_project="and project = :project"), since=since, project=project, limit=limit)


def of_processes(engine: Engine, processes: Iterable[tuple[str, int, str]]) -> Row | None:
    """Return the session that the first of these processes runs."""
    for host, pid, start in processes:
        rows = engine.run(_OF_PROCESSES, host=host, pid=pid, start=start)
        if rows:
            return rows[0]
    return None


def projects(engine: Engine) -> list[str]:
    """Return every project sessions worked in."""
    return [row["project"] for row in engine.run("select distinct project from sessions where project <> ''")]


def remembering(engine: Engine) -> list[Row]:
    """Return the sessions that remember, with or without a message, the one that began last first."""
    return engine.run(_REMEMBERING)


def by_project(engine: Engine) -> list[Row]:
    """Count the sessions of every project and flavor, with the last sign of life."""
    return engine.run(
        "select project, flavor, count(*) as n, max(last_heartbeat) as last_at from sessions group by project, flavor"
    )


def has_flavor(engine: Engine, flavor: str) -> bool:
    """Tell whether any session was of a flavor."""
    return bool(engine.run("select 1 as found from sessions where flavor = :flavor limit 1", flavor=flavor))


def counts(engine: Engine) -> Row:
    """Return how many sessions and logs there are."""
    return engine.run(_COUNTS)[0]


def add_log(engine: Engine, session_id: str, now: int, entry: str, origin: str | None = None) -> Row | None:
    """Append a log entry; None when that origin was taken over before."""
    rows = engine.run(_LOG, session_id=session_id, now=now, entry=entry, origin=origin)
    _make_logs_findable(engine, rows)
    return rows[0] if rows else None


def add_logs(engine: Engine, entries: Sequence[tuple[str, int, str, str]]) -> set[str]:
    """Append (session, time, entry, origin) in order; return the origins that were not here before."""
    if not entries:
        return set()
    slots = ", ".join(f"(:s{n}, :t{n}, :e{n}, :o{n})" for n in range(len(entries)))
    facts = {f"{key}{n}": each for n, entry in enumerate(entries) for key, each in zip("steo", entry, strict=True)}
    rows = engine.run(
        f"insert into session_logs (session_id, logged_at, entry, origin) values {slots}"
        " on conflict (origin) do nothing returning id, session_id, logged_at, entry, origin",
        **facts,
    )
    _make_logs_findable(engine, rows)
    return {row["origin"] for row in rows}


def _make_logs_findable(engine: Engine, rows: Sequence[Row]) -> None:
    from engram.store import passages

    for row in rows:
        entry, session_id = row["entry"], row["session_id"]
        passages.put(engine, "log", str(row["id"]), [entry], at=row["logged_at"], session_id=session_id)


def describe(engine: Engine, session_id: str, **facts: Any) -> None:
    """Set what a transcript says of its session."""
    engine.run(_DESCRIBE, id=session_id, **facts, **domains.names(facts["project"]))


_MATCHING = {
    "session": "s.id = :session",
    "project": "s.project = :project",
    "domain": "s.domain = :domain",
    "flavor": "s.flavor = :flavor",
    "outcome": "coalesce(d.corrected, d.outcome) = :outcome",
    "file": "position(:file in d.facts) > 0",
    "tool": "exists (select 1 from events e where e.capture = c.num and e.kind = 'call' and e.name = :tool)",
}


def matching(engine: Engine, **wanted: str) -> list[str]:
    """Return the ids of sessions by what is known of them."""
    conditions = " and ".join(_MATCHING[name] for name in wanted)
    if engine.dialect == "sqlite":
        conditions = conditions.replace("position(:file in d.facts)", "instr(d.facts, :file)")
    rows = engine.run(
        "select s.id from sessions s left join captures c on c.session_id = s.id"
        f" left join digests d on d.capture = c.num where {conditions}", **wanted
    )  # fmt: skip
    return [row["id"] for row in rows]


def rename(engine: Engine, session_id: str, summary: str) -> None:
    """Call a session by another name."""
    engine.run("update sessions set summary = :summary where id = :id", id=session_id, summary=summary)


def backdate(engine: Engine, session_id: str, at: int) -> None:
    """Let a session that only remembers begin with its earliest message."""
    sql = "update sessions set started_at = :at where id = :id and session_type = 'chat' and started_at > :at"
    engine.run(sql, id=session_id, at=at)


def delete(engine: Engine, session_id: str) -> None:
    """Remove a session with all that hangs on it."""
    engine.run("delete from sessions where id = :id", id=session_id)


def note_deleted(engine: Engine, flavor: str, native_id: str, now: int) -> None:
    """Note that a session is not to be taken in again."""
    sql = (
        "insert into deleted_sessions (flavor, native_id, at) values (:flavor, :native_id, :now) on conflict do nothing"
    )
    engine.run(sql, flavor=flavor, native_id=native_id, now=now)


def deleted(engine: Engine) -> set[tuple[str, str]]:
    """Return the sessions that were deleted, by flavor and their agent's id."""
    return {(row["flavor"], row["native_id"]) for row in engine.run("select flavor, native_id from deleted_sessions")}


def those_here(engine: Engine, ids: Sequence[str]) -> set[str]:
    """Return those of some sessions that are in the store, and stay there until the end of this transaction."""
    found: set[str] = set()
    for first in range(0, len(ids), 500):
        names = {f"i{n}": each for n, each in enumerate(ids[first : first + 500])}
        slots = ", ".join(f":{name}" for name in names)
        rows = engine.run(f"select id from sessions where id in ({slots}) /*pg: for key share */", **names)
        found |= {row["id"] for row in rows}
    return found


def hold(engine: Engine, ids: Iterable[str]) -> None:
    """Keep other writers out of sessions before anything of them is deleted: on PostgreSQL the order keeps us apart."""
    for session_id in sorted(ids):
        engine.run("select id from sessions where id = :id /*pg: for update */", id=session_id)


def sink(engine: Engine) -> None:
    """Leave nothing of what was deleted in SQLite's write-ahead log, which others who are here keep from ending."""
    if engine.dialect == "sqlite":
        engine.run("pragma wal_checkpoint(truncate)")


def restate(engine: Engine, session_id: str, seen: int, **facts: Any) -> bool:
    """Set what an imported session says of itself; False when it gave a sign of life since it was seen."""
    restated = bool(engine.run(_RESTATE, id=session_id, seen=seen, **facts))
    if restated:
        _make_completion_findable(engine, {"id": session_id, **facts})
    return restated


def logs(engine: Engine, session_id: str, limit: int) -> list[Row]:
    """Return a session's log entries, newest first by order of writing."""
    return engine.run(_LOGS, session_id=session_id, limit=limit)
