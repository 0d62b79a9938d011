"""Sessions: register, heartbeat, log, complete and look up."""

from __future__ import annotations

import os

from engram import clock
from engram.agents import running
from engram.clock import MINUTE, to_datetime
from engram.errors import InvalidInput, NotFound
from engram.operation import Help, operation
from engram.platform import host, plain_json, program_log, text
from engram.platform.host import Process
from engram.redaction.store_redactor import remove_secrets, remove_secrets_from_name
from engram.sessions import checkouts, projects
from engram.sessions.fencing import FencedTransaction
from engram.store import activity, file_snapshots, handled_events, locks, messages, sessions
from engram.types import Log, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Any

    from engram.hub import Hub
    from engram.store.engine import Row

_FOREVER = -1
_SHORT_ID = 8  # characters at the end of an id, as lists show it
_JUST_NOW = 5 * clock.SECOND
_DEEPEST = 64  # maximum nesting of metadata, so that reading it cannot exhaust the stack
_LONG_LAPSED = 7 * 24 * clock.HOUR  # by then its holder does not rely on the lock any more
_HINT = "List them with `engram sessions`."


@operation(writes=True)
def register(
    hub: Hub,
    session_type: Annotated[str, Help("kind of session, in your own words")],
    summary: Annotated[str, Help("what it is working on, in one line")],
    metadata: Annotated[Any, Help("any other facts to keep, as JSON")] = None,
    flavor: Annotated[str | None, Help("agent program; detected from the process by default")] = None,
    native_id: Annotated[str | None, Help("the agent's own session id; registering it again resumes it")] = None,
    cwd: Annotated[str | None, Help("working directory")] = None,
    project: Annotated[str | None, Help("project; default: the git root of the directory")] = None,
    model: Annotated[str | None, Help("language model in use")] = None,
    pid: Annotated[int | None, Help("process id of the agent; detected by default")] = None,
) -> str:
    """Register a session and return its id."""
    session_type, summary = _clean_text(hub, "session_type", session_type), _clean_text(hub, "summary", summary)
    metadata = None if metadata is None else _clean_metadata(hub, metadata)
    flavor, native_id, model = (_clean_name(hub, name) for name in (flavor, native_id, model))
    session_id = announce_session(hub, session_type, summary, metadata, flavor, native_id, cwd, project, model, pid)
    program_log.info(
        f"Session registered: {session_id} ({session_type}) — "
        f"{text.to_one_line(require_session(hub, session_id)['summary'])}"
    )
    return session_id


def announce_session(
    hub: Hub, session_type: str, summary: str, metadata: Any = None, flavor: str | None = None,
    native_id: str | None = None, cwd: str | None = None, project: str | None = None, model: str | None = None,
    pid: int | None = None, *, durable: bool = True,
) -> str:  # fmt: skip
    """Register a session; pass `durable=False` from hooks, whose next event repeats what a power cut lost."""
    flavor, process = _identify_agent(hub, flavor or session_type, flavor is None, pid)
    facts: dict[str, Any] = {
        "session_type": text.require_text("session_type", session_type, "Give a kind, e.g. claude-code."),
        "summary": text.require_text("summary", summary, "Describe in one line what this session is doing."),
        "metadata": None if metadata is None else text.validate_text("metadata", _dump_metadata(metadata), text.PAGE),
        "model": None if model is None else text.validate_text("model", model),
        **_build_directory_columns(hub, cwd),
        **_build_process_columns(process),
    }
    own_id = None if native_id is None else text.validate_name("native_id", native_id)
    with hub.engine.transaction(durable=durable):
        existing = sessions.find_by_native_id(hub.engine, flavor, own_id) if own_id else None
        if existing:
            return _resume_session(hub, existing["id"], facts)
        _delete_expired_rows(hub)
        return _insert_session(hub, flavor, own_id, project, facts)


@operation(writes=True)
def heartbeat(
    hub: Hub,
    session_id: Annotated[str, Help("session that is alive")],
    summary: Annotated[str | None, Help("what it is doing now, if it changed")] = None,
) -> Session:
    """Record that a session is alive; a completed session is reopened."""
    cleaned = _clean_text(hub, "summary", summary) if summary is not None else ""
    with hub.engine.transaction():
        return to_session(hub, touch_session(hub, session_id, cleaned.strip() or None, exact=True))


@operation(writes=True)
def log(
    hub: Hub,
    session_id: Annotated[str, Help("session the entry belongs to")],
    entry: Annotated[str, Help("what you did or found out")],
) -> Log:
    """Append a progress entry to a session."""
    entry = remove_secrets(hub, text.require_text("entry", entry, "Describe what you did or found out.", text.PAGE))
    with hub.engine.transaction(durable=True):
        session = touch_session(hub, session_id)
        row = sessions.add_log(hub.engine, session["id"], hub.now(), entry)
    assert row is not None  # only imported entries can be duplicates
    return _to_log(row)


@operation(writes=True)
def complete(
    hub: Hub,
    session_id: Annotated[str, Help("session that is finished")],
    completion_summary: Annotated[str, Help("what the next session should know")],
    token: Annotated[int | None, Help("fencing token of a lock the work depended on")] = None,
) -> Session:
    """Complete a session and release its locks."""
    cleaned = text.require_text("completion_summary", completion_summary, "Describe what was done.", text.PAGE)
    summary = remove_secrets(hub, cleaned)
    session_id = require_session(hub, session_id)["id"]
    with FencedTransaction(hub, session_id, token, durable=True):
        row = require_session(hub, session_id)
        if row["status"] == "completed" and row["completion_summary"] is not None:
            _log_completion(hub, row, "Completed again.")
        locks.delete_all(hub.engine, session_id)
        file_snapshots.delete_by_session(hub.engine, session_id)
        session = to_session(hub, sessions.complete(hub.engine, session_id, hub.now(), summary))
    program_log.info(f"Session completed: {session_id}")
    return session


@operation()
def get_session(
    hub: Hub, session_id: Annotated[str, Help("session id, the agent's id of it, or a prefix of either")]
) -> Session:
    """Show one session."""
    row = find_session(hub, session_id) or _find_by_prefix(hub, session_id)
    if row is None:
        raise NotFound(kind="session", id=session_id, hint=_HINT)
    return to_session(hub, row)


@operation()
def get_active_sessions(
    hub: Hub,
    project: Annotated[str | None, Help("only sessions in this project")] = None,
    limit: Annotated[int, Help("maximum number to show")] = 1000,
) -> list[Session]:
    """Show sessions that are not completed, including stale ones, last active first."""
    return [
        to_session(hub, row)
        for row in sessions.list_active(
            hub.engine, _FOREVER, parse_project_filter(project), require_positive("limit", limit)
        )
    ]


@operation()
def get_recent_sessions(
    hub: Hub,
    hours: Annotated[float, Help("how many hours back")] = 24,
    project: Annotated[str | None, Help("only sessions in this project")] = None,
    limit: Annotated[int, Help("maximum number to show")] = 1000,
) -> list[Session]:
    """Show sessions completed in the last hours, newest first."""
    since = compute_since(hub, "hours", hours)
    return [
        to_session(hub, row)
        for row in sessions.list_recent(
            hub.engine, since, parse_project_filter(project), require_positive("limit", limit)
        )
    ]


@operation()
def get_session_logs(
    hub: Hub,
    session_id: Annotated[str, Help("session id")],
    limit: Annotated[int, Help("maximum number to show")] = 20,
) -> list[Log]:
    """Show a session's log entries, newest first."""
    session = require_session(hub, session_id)["id"]
    return [_to_log(row) for row in sessions.list_logs(hub.engine, session, require_positive("limit", limit))]


def find_current_session(hub: Hub) -> Session | None:
    """Return the session of the agent that runs this process."""
    processes = [(process.host, process.pid, process.start) for process in host.list_ancestors()]
    row = sessions.find_by_processes(hub.engine, processes)
    return to_session(hub, row) if row else None


def touch_session(hub: Hub, session_id: str, summary: str | None = None, *, exact: bool = False) -> Row:
    """Record activity of a session as its heartbeat; call inside a transaction.

    A heartbeat within seconds of the last one is not written, unless `exact`: it would cost every lock
    four pages of the store.
    """
    instant = hub.instant()
    # Locks before sessions, as everywhere: on PostgreSQL this order prevents deadlocks between two writers,
    # and the rows read below can no longer change.
    locks.renew_all(hub.engine, text.validate_name("session_id", session_id), instant.steady, _JUST_NOW)
    row = require_session(hub, session_id)
    if row["id"] != session_id:  # the caller passed the agent's id
        return touch_session(hub, row["id"], summary, exact=exact)
    _rebind_if_gone(hub, row)
    is_recent = row["status"] == "active" and 0 <= instant.now - row["last_heartbeat"] < _JUST_NOW
    if is_recent and summary is None and not exact:
        return row
    if row["status"] == "completed" and row["completion_summary"] is not None:  # capture leaves no summary
        _reopen_session(hub, row)
    return sessions.record_heartbeat(hub.engine, session_id, instant.now, summary)


def require_session(hub: Hub, session_id: str) -> Row:
    """Return a session's row, by our id or its agent's, or raise if it is unknown."""
    row = find_session(hub, session_id)
    if row is None:
        raise NotFound(kind="session", id=session_id, hint="Register it first, or see `engram sessions`.")
    return row


def find_session(hub: Hub, session_id: str) -> Row | None:
    """Return the session with exactly this id: ours first, then its agent's."""
    validated_id = text.validate_name("session_id", session_id)
    return sessions.get(hub.engine, validated_id) or _require_single(
        validated_id, sessions.list_by_native_id(hub.engine, validated_id)
    )


def _find_by_prefix(hub: Hub, prefix: str) -> Row | None:
    """Return the session whose id starts with the prefix."""
    rows = [*sessions.list_by_prefix(hub.engine, prefix), *sessions.list_by_native_prefix(hub.engine, prefix)]
    if not rows and len(prefix) == _SHORT_ID:
        rows = sessions.list_by_short_id(hub.engine, prefix)
    return _require_single(prefix, list({row["id"]: row for row in rows}.values()))


def _require_single(session_ref: str, rows: list[Row]) -> Row | None:
    if len(rows) > 1:
        names = " and ".join(f"{row['id']} ({row['flavor']})" for row in rows[:2])
        raise InvalidInput(
            field="session_id", reason=f"{session_ref!r} matches several sessions, such as {names}. {_HINT}"
        )
    return rows[0] if rows else None


def to_session(hub: Hub, row: Row) -> Session:
    """Turn a stored row into the value users see."""
    process = process_from_row(row)
    completed_at = row["completed_at"]
    return Session(
        id=row["id"],
        flavor=row["flavor"],
        session_type=row["session_type"],
        summary=row["summary"],
        status=row["status"],
        presence=_compute_presence(hub, row, process),
        started_at=to_datetime(row["started_at"]),
        last_heartbeat=to_datetime(row["last_heartbeat"]),
        completed_at=None if completed_at is None else to_datetime(completed_at),
        completion_summary=row["completion_summary"],
        native_id=row["native_id"],
        project=row["project"],
        cwd=row["cwd"],
        branch=row["branch"],
        process=process,
        host=row["host"],
        model=row["model"],
        metadata=None if row["metadata"] is None else plain_json.loads(row["metadata"]),
        domain=row["domain"],
    )


def process_from_row(row: Row) -> Process | None:
    """Return the process recorded in a row, if any."""
    if row["pid"] is None:
        return None
    return Process(host=row["host"], pid=row["pid"], start=row["pid_start"])


def parse_project_filter(project: str | None) -> str | None:
    """Return the project to filter by, or None for all."""
    return text.validate_optional_name("project", project)


def compute_since(hub: Hub, field: str, span: float) -> int:
    """Return the time a number of hours or days ago."""
    if isinstance(span, bool) or not isinstance(span, int | float) or not 0 <= span < 1e6:
        raise InvalidInput(field=field, reason=f"{span!r} is not a number of {field}.")
    return hub.now() - int(span * clock.HOUR * (24 if field == "days" else 1))


def require_positive(field: str, number: int) -> int:
    """Return the number if it is a positive integer, or raise."""
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < 1_000_000_000:
        raise InvalidInput(field=field, reason=f"{number!r} is not a whole number above 0.")
    return number


def _insert_session(hub: Hub, flavor: str, native_id: str | None, project: str | None, facts: dict[str, Any]) -> str:
    now = hub.now()
    session_id = clock.make_session_id(now)
    directory = facts.get("cwd")
    facts["project"] = parse_project_filter(project) or checkouts.add_checkout(hub, directory)
    added = sessions.insert(
        hub.engine,
        id=session_id,
        flavor=flavor,
        native_id=native_id,
        status="active",
        started_at=now,
        last_heartbeat=now,
        **facts,
    )
    existing = None if added or native_id is None else sessions.find_by_native_id(hub.engine, flavor, native_id)
    if existing:  # PostgreSQL: another process registered the same session at the same moment
        facts.pop("project")
        return _resume_session(hub, existing["id"], facts)
    messages.assign_to_session(hub.engine, facts["project"], session_id)
    return session_id


def _delete_expired_rows(hub: Hub) -> None:
    """Delete long expired rows; runs only when a session is registered."""
    locks.delete_lapsed(hub.engine, hub.steady() - _LONG_LAPSED)
    file_snapshots.delete_before(hub.engine, hub.now() - _LONG_LAPSED)
    handled_events.delete_before(hub.engine, hub.now() - _LONG_LAPSED)


def _resume_session(hub: Hub, session_id: str, facts: dict[str, Any]) -> str:
    touch_session(hub, session_id)
    sessions.resume(hub.engine, session_id, now=hub.now(), **facts)
    return session_id


def _rebind_if_gone(hub: Hub, row: Row) -> None:
    """Bind a session to the current agent process if its own has ended."""
    process = process_from_row(row)
    if process is not None and host.is_alive(process) is False:
        agent = None if hub.serving else running.find_running_agent()
        sessions.set_process(hub.engine, row["id"], **_build_process_columns(agent[0] if agent else None))


def _reopen_session(hub: Hub, row: Row) -> None:
    """Log the summary of a completed session before it is reopened."""
    summary = row["completion_summary"]
    _log_completion(hub, row, "Re-opened.")
    sessions.unindex_completion(hub.engine, row["id"])
    activity.record(
        hub.engine, hub.now(), "reopened", row["id"], session_id=row["id"], project=row["project"], completion=summary
    )


def _log_completion(hub: Hub, row: Row, why: str) -> None:
    """Save a session's completion summary as a log entry before it is replaced."""
    when = to_datetime(row["completed_at"]).isoformat(timespec="seconds")
    entry = f"{why} It was completed at {when}: {row['completion_summary']}"
    sessions.add_log(hub.engine, row["id"], hub.now(), entry)


def _compute_presence(hub: Hub, row: Row, process: Process | None) -> str:
    if row["status"] == "completed":
        return "done"
    if process is not None and host.is_alive(process) is False:
        return "gone"
    silent = hub.now() - row["last_heartbeat"]
    return "stale" if silent > hub.settings.stale_minutes * MINUTE else "here"


def _identify_agent(hub: Hub, flavor: str, detect: bool, pid: int | None) -> tuple[str, Process | None]:
    """Find which agent runs us, and its process."""
    flavor = running.match_command([text.validate_name("flavor", flavor)]) or flavor
    if pid is not None:
        process = host.find_process(require_positive("pid", pid))
        if process is None:
            raise InvalidInput(field="pid", reason=f"No process {pid} on this machine.")
        return flavor, process
    agent = None if hub.serving else running.find_running_agent()
    if agent is None:
        return flavor, None
    return (agent[1] if detect else flavor), agent[0]


def _build_directory_columns(hub: Hub, cwd: str | None) -> dict[str, Any]:
    if cwd is None and not hub.serving:
        cwd = host.get_working_directory()
    if cwd is None:
        return {"cwd": None, "branch": None}
    if hub.serving and not os.path.isabs(cwd):
        raise InvalidInput(field="cwd", reason=f"{cwd!r} is relative. Pass an absolute path to a server.")
    real = os.path.realpath(text.validate_name("cwd", cwd))
    return {"cwd": real, "branch": projects.find_git_location(real).branch}


def _build_process_columns(process: Process | None) -> dict[str, Any]:
    return {
        "host": process.host if process else host.get_host_name(),
        "pid": process.pid if process else None,
        "pid_start": process.start if process else None,
    }


def _clean_text(hub: Hub, field: str, content: str) -> str:
    return remove_secrets(hub, text.validate_text(field, content))


def _clean_name(hub: Hub, name: str | None) -> str | None:
    return remove_secrets_from_name(hub, name) if isinstance(name, str) else name


def _clean_metadata(hub: Hub, metadata: Any) -> Any:
    """Return metadata without secrets; names and values are checked together, as a name identifies its value."""
    dumped = _dump_metadata(metadata)
    cleaned = remove_secrets(hub, dumped)
    try:
        return metadata if cleaned == dumped else plain_json.loads(cleaned)
    except ValueError:  # the redacted part included the quotes
        return cleaned


def _dump_metadata(metadata: Any) -> str:
    import json

    try:
        if not _is_shallow(metadata, _DEEPEST):
            raise ValueError(f"nested more than {_DEEPEST} levels deep")
        return json.dumps(metadata, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise InvalidInput(field="metadata", reason=f"Not valid JSON: {problem}.") from problem


def _is_shallow(content: Any, levels: int) -> bool:
    inner = content.values() if isinstance(content, dict) else content if isinstance(content, (list, tuple)) else ()
    return levels > 0 and all(_is_shallow(value, levels - 1) for value in inner)


def _to_log(row: Row) -> Log:
    return Log(id=row["id"], session_id=row["session_id"], timestamp=to_datetime(row["logged_at"]), entry=row["entry"])
