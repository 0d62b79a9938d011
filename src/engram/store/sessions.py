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
values ({", ".join(":" + name for name in _COLUMNS)}, coalesce(cast(:domain as text), {domains.DOMAIN_OF_PROJECT}, ''))
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

# Each reads along one index, with and without a project.
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

# One index lookup per agent: nothing is sorted by the native id alone.
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

_ATTACHED = """
select (select count(*) from session_logs where session_id = :id) as logs,
       (select count(*) from locks where session_id = :id) as locks,
       (select count(*) from messages where recipient = :id) as received
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

# A session that registered itself has the better summary and status.
_DESCRIBE = f"""
update sessions set
  cwd = coalesce(cwd, cast(:cwd as text)), branch = coalesce(cast(:branch as text), branch),
  model = coalesce(cast(:model as text), model),
  project = case when project = '' then :project else project end,
  domain = case when project = '' then coalesce({domains.DOMAIN_OF_PROJECT}, '') else domain end,
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
    """Insert a session; return False if it exists."""
    columns = {name: facts.get(name) for name in (*_COLUMNS, "domain")}
    added = bool(engine.run(_INSERT, **columns, **domains.build_project_keys(facts.get("project"))))
    if added and columns["completion_summary"]:
        _index_completion(engine, columns)
    return added


def get(engine: Engine, session_id: str) -> Row | None:
    """Return one session."""
    rows = engine.run("select * from sessions where id = :id", id=session_id)
    return rows[0] if rows else None


def list_by_prefix(engine: Engine, prefix: str) -> list[Row]:
    """Return up to two sessions whose id has this prefix, enough to detect ambiguity."""
    return engine.run(
        "select * from sessions where id >= :first and id < :last order by id limit 2",
        first=prefix, last=prefix + "\U0010ffff",
    )  # fmt: skip


def list_by_short_id(engine: Engine, short_id: str) -> list[Row]:
    """Return up to two sessions whose id ends so; the short id is what lists show."""
    return engine.run(
        "select * from sessions where substr(id, length(id) - length(:short_id)) = :suffix order by id limit 2",
        short_id=short_id, suffix=f"-{short_id}",
    )  # fmt: skip


def find_by_native_id(engine: Engine, flavor: str, native_id: str) -> Row | None:
    """Return the session with this native id of an agent."""
    rows = engine.run(
        "select * from sessions where flavor = :flavor and native_id = :native_id", flavor=flavor, native_id=native_id
    )
    return rows[0] if rows else None


def list_by_native_id(engine: Engine, native_id: str) -> list[Row]:
    """Return up to two sessions with this native id, of any agent."""
    return engine.run(_NATIVE.format(condition="s.native_id = :id"), id=native_id)


def list_by_native_prefix(engine: Engine, prefix: str) -> list[Row]:
    """Return up to two sessions whose native id has this prefix."""
    condition = 's.native_id /*pg: collate "C" */ >= :first and s.native_id /*pg: collate "C" */ < :last'
    return engine.run(_NATIVE.format(condition=condition), first=prefix, last=prefix + "\U0010ffff")


def record_heartbeat(engine: Engine, session_id: str, now: int, summary: str | None) -> Row:
    """Record a heartbeat."""
    return engine.run(_TOUCH, id=session_id, now=now, summary=summary)[0]


def resume(engine: Engine, session_id: str, **facts: Any) -> None:
    """Resume a session in a new process."""
    engine.run(_RESUME, id=session_id, **facts)


def set_process(engine: Engine, session_id: str, host: str, pid: int | None, pid_start: str | None) -> None:
    """Set the process that runs a session."""
    engine.run(
        "update sessions set host = :host, pid = :pid, pid_start = :pid_start where id = :id",
        id=session_id, host=host, pid=pid, pid_start=pid_start,
    )  # fmt: skip


def complete(engine: Engine, session_id: str, now: int, summary: str) -> Row:
    """Mark a session as completed."""
    row = engine.run(_COMPLETE, id=session_id, now=now, summary=summary)[0]
    _index_completion(engine, row)
    return row


def unindex_completion(engine: Engine, session_id: str) -> None:
    """Remove the completion summary of a session from the index."""
    from engram.store import passages

    passages.delete(engine, "completion", session_id)


def _index_completion(engine: Engine, row: Row) -> None:
    from engram.store import passages

    summary, at = row["completion_summary"], row["completed_at"]
    passages.save_parts(engine, "completion", row["id"], [summary] if summary else [], at=at or 0, session_id=row["id"])


def list_active(engine: Engine, since: int, project: str | None, limit: int) -> list[Row]:
    """Return sessions not completed, last active first."""
    return _list_by_project(engine, _ACTIVE, since, project, limit)


def list_active_elsewhere(engine: Engine, since: int, project: str, limit: int) -> list[Row]:
    """Return sessions not completed in other projects, last active first."""
    return engine.run(_ACTIVE_ELSEWHERE, since=since, project=project, limit=limit)


def list_recent(engine: Engine, since: int, project: str | None, limit: int) -> list[Row]:
    """Return sessions completed since a time, newest first."""
    return _list_by_project(engine, _RECENT, since, project, limit)


def _list_by_project(engine: Engine, sql: str, since: int, project: str | None, limit: int) -> list[Row]:
    if project is None:
        return engine.run(sql.format(and_project=""), since=since, limit=limit)
    return engine.run(sql.format(and_project="and project = :project"), since=since, project=project, limit=limit)


def find_by_processes(engine: Engine, processes: Iterable[tuple[str, int, str]]) -> Row | None:
    """Return the session that runs in the first of these processes."""
    for host, pid, start in processes:
        rows = engine.run(_OF_PROCESSES, host=host, pid=pid, start=start)
        if rows:
            return rows[0]
    return None


def list_projects(engine: Engine) -> list[str]:
    """Return every project with sessions."""
    return [row["project"] for row in engine.run("select distinct project from sessions where project <> ''")]


def list_memory_sessions(engine: Engine) -> list[Row]:
    """Return chat sessions and sessions with exchanges, latest start first."""
    return engine.run(_REMEMBERING)


def count_by_project(engine: Engine) -> list[Row]:
    """Count the sessions of every project and flavor, with their last heartbeat."""
    return engine.run(
        "select project, flavor, count(*) as n, max(last_heartbeat) as last_at from sessions group by project, flavor"
    )


def has_flavor(engine: Engine, flavor: str) -> bool:
    """Return whether any session has this flavor."""
    return bool(engine.run("select 1 as found from sessions where flavor = :flavor limit 1", flavor=flavor))


def count_all(engine: Engine) -> Row:
    """Return the number of sessions and logs."""
    return engine.run(_COUNTS)[0]


def add_log(engine: Engine, session_id: str, now: int, entry: str, origin: str | None = None) -> Row | None:
    """Append a log entry; return None if its origin was imported before."""
    rows = engine.run(_LOG, session_id=session_id, now=now, entry=entry, origin=origin)
    _index_logs(engine, rows)
    return rows[0] if rows else None


def add_logs(engine: Engine, entries: Sequence[tuple[str, int, str, str]]) -> set[str]:
    """Append (session, time, entry, origin) rows in order; return the origins that are new."""
    if not entries:
        return set()
    slots = ", ".join(f"(:s{n}, :t{n}, :e{n}, :o{n})" for n in range(len(entries)))
    facts = {f"{key}{n}": value for n, entry in enumerate(entries) for key, value in zip("steo", entry, strict=True)}
    rows = engine.run(
        f"insert into session_logs (session_id, logged_at, entry, origin) values {slots}"
        " on conflict (origin) do nothing returning id, session_id, logged_at, entry, origin",
        **facts,
    )
    _index_logs(engine, rows)
    return {row["origin"] for row in rows}


def _index_logs(engine: Engine, rows: Sequence[Row]) -> None:
    from engram.store import passages

    for row in rows:
        entry, session_id = row["entry"], row["session_id"]
        passages.save_parts(engine, "log", str(row["id"]), [entry], at=row["logged_at"], session_id=session_id)


def update_from_transcript(engine: Engine, session_id: str, **facts: Any) -> None:
    """Update a session with facts from its transcript."""
    engine.run(_DESCRIBE, id=session_id, **facts, **domains.build_project_keys(facts["project"]))


_CONDITIONS = {
    "session": "s.id = :session",
    "project": "s.project = :project",
    "domain": "s.domain = :domain",
    "flavor": "s.flavor = :flavor",
    "outcome": "coalesce(d.corrected, d.outcome) = :outcome",
    "file": "position(:file in d.facts) > 0",
    "tool": "exists (select 1 from events e where e.capture = c.num and e.kind = 'call' and e.name = :tool)",
}


def find_matching_ids(engine: Engine, **filters: str) -> list[str]:
    """Return the ids of sessions that match the filters."""
    conditions = " and ".join(_CONDITIONS[name] for name in filters)
    if engine.dialect == "sqlite":
        conditions = conditions.replace("position(:file in d.facts)", "instr(d.facts, :file)")
    rows = engine.run(
        "select s.id from sessions s left join captures c on c.session_id = s.id"
        f" left join digests d on d.capture = c.num where {conditions}", **filters
    )  # fmt: skip
    return [row["id"] for row in rows]


def set_summary(engine: Engine, session_id: str, summary: str) -> None:
    """Set the summary of a session."""
    engine.run("update sessions set summary = :summary where id = :id", id=session_id, summary=summary)


def backdate_start(engine: Engine, session_id: str, at: int) -> None:
    """Set the start of a chat session to its earliest message."""
    sql = "update sessions set started_at = :at where id = :id and session_type = 'chat' and started_at > :at"
    engine.run(sql, id=session_id, at=at)


def count_attached(engine: Engine, session_id: str) -> dict[str, int]:
    """Count the log entries, locks and received messages of a session."""
    return {name: int(number) for name, number in engine.run(_ATTACHED, id=session_id)[0].items()}


def delete(engine: Engine, session_id: str) -> None:
    """Delete a session and everything that belongs to it."""
    engine.run("delete from sessions where id = :id", id=session_id)


def mark_deleted(engine: Engine, flavor: str, native_id: str, now: int) -> None:
    """Record that a session must not be captured again."""
    sql = (
        "insert into deleted_sessions (flavor, native_id, at) values (:flavor, :native_id, :now) on conflict do nothing"
    )
    engine.run(sql, flavor=flavor, native_id=native_id, now=now)


def list_deleted(engine: Engine) -> set[tuple[str, str]]:
    """Return the deleted sessions, by flavor and native id."""
    return {(row["flavor"], row["native_id"]) for row in engine.run("select flavor, native_id from deleted_sessions")}


def filter_existing(engine: Engine, ids: Sequence[str]) -> set[str]:
    """Return the sessions that exist, locked until the end of this transaction."""
    existing: set[str] = set()
    for first in range(0, len(ids), 500):
        names = {f"i{n}": session_id for n, session_id in enumerate(ids[first : first + 500])}
        slots = ", ".join(f":{name}" for name in names)
        rows = engine.run(f"select id from sessions where id in ({slots}) /*pg: for key share */", **names)
        existing |= {row["id"] for row in rows}
    return existing


def lock_rows(engine: Engine, ids: Iterable[str]) -> None:
    """Lock sessions before deleting from them; on PostgreSQL the fixed order prevents deadlocks."""
    for session_id in sorted(ids):
        engine.run("select id from sessions where id = :id /*pg: for update */", id=session_id)


def truncate_wal(engine: Engine) -> None:
    """Truncate SQLite's write-ahead log, so that deleted text is gone; other connections may prevent it."""
    if engine.dialect == "sqlite":
        engine.run("pragma wal_checkpoint(truncate)")


def update_imported(engine: Engine, session_id: str, seen: int, **facts: Any) -> bool:
    """Update an imported session; return False if it had a heartbeat since it was read."""
    updated = bool(engine.run(_RESTATE, id=session_id, seen=seen, **facts))
    if updated:
        _index_completion(engine, {"id": session_id, **facts})
    return updated


def list_logs(engine: Engine, session_id: str, limit: int) -> list[Row]:
    """Return a session's log entries, newest first."""
    return engine.run(_LOGS, session_id=session_id, limit=limit)
