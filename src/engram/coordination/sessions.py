"""Sessions: who is here, since when, doing what."""

from __future__ import annotations

import os

from engram import clock, host, plain_json, program_log, text
from engram.clock import MINUTE, moment
from engram.coordination import projects
from engram.coordination.gate import Gate
from engram.errors import InvalidInput, NotFound
from engram.model import Log, Process, Session
from engram.operation import Help, operation
from engram.redaction.removal import remove_from_name, remove_secrets
from engram.store import activity, answered, locks, messages, sightings
from engram.store import sessions as store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Any

    from engram.hub import Hub
    from engram.store.engine import Row

_FOREVER = -1
_JUST_NOW = 5 * clock.SECOND
_DEEPEST = 64  # levels of metadata; what reads it must never run out of stack
_LONG_LAPSED = 7 * 24 * clock.HOUR  # by then its holder has forgotten the lock as well
_HINT = "List them with `engram sessions`."


@operation(writes=True)
def register(
    hub: Hub,
    session_type: Annotated[str, Help("what kind of session this is, in your words")],
    summary: Annotated[str, Help("what it is doing, in one line")],
    metadata: Annotated[Any, Help("anything else worth keeping, as JSON")] = None,
    flavor: Annotated[str | None, Help("which agent program; found from the process if not given")] = None,
    native_id: Annotated[str | None, Help("the agent's own session id; registering it again resumes")] = None,
    cwd: Annotated[str | None, Help("directory worked in")] = None,
    project: Annotated[str | None, Help("project, if not the git root of the directory")] = None,
    model: Annotated[str | None, Help("which language model runs")] = None,
    pid: Annotated[int | None, Help("the agent's process; found from our ancestors if not given")] = None,
) -> str:
    """Announce a session and return its id."""
    session_type, summary = _said(hub, "session_type", session_type), _said(hub, "summary", summary)
    metadata = None if metadata is None else _without_secrets(hub, metadata)
    flavor, native_id, model = (_name(hub, given) for given in (flavor, native_id, model))
    new = announce(hub, session_type, summary, metadata, flavor, native_id, cwd, project, model, pid)
    program_log.info(f"Session registered: {new} ({session_type}) — {text.one_line(require(hub, new)['summary'])}")
    return new


def announce(
    hub: Hub, session_type: str, summary: str, metadata: Any = None, flavor: str | None = None,
    native_id: str | None = None, cwd: str | None = None, project: str | None = None, model: str | None = None,
    pid: int | None = None, *, durable: bool = True,
) -> str:  # fmt: skip
    """Register a session; one a hook tells of need not survive a power cut, for its next event tells of it again."""
    flavor, process = _identify(hub, flavor or session_type, flavor is None, pid)
    facts: dict[str, Any] = {
        "session_type": text.required("session_type", session_type, "Say which kind, e.g. claude-code."),
        "summary": text.required("summary", summary, "Say in one line what this session is doing."),
        "metadata": None if metadata is None else text.clean("metadata", _json(metadata), text.PAGE),
        "model": None if model is None else text.clean("model", model),
        **_where(hub, cwd),
        **_process_columns(process),
    }
    own_id = None if native_id is None else text.name("native_id", native_id)
    with hub.engine.transaction(durable=durable):
        known = store.by_native_id(hub.engine, flavor, own_id) if own_id else None
        if known:
            return _resume(hub, known["id"], facts)
        _tidy(hub)
        return _begin(hub, flavor, own_id, project, facts)


@operation(writes=True)
def heartbeat(
    hub: Hub,
    session_id: Annotated[str, Help("the session that is alive")],
    summary: Annotated[str | None, Help("what it is doing now, if that changed")] = None,
) -> Session:
    """Give a sign of life; a completed session is opened again."""
    news = _said(hub, "summary", summary) if summary is not None else ""
    with hub.engine.transaction():
        return view(hub, touch(hub, session_id, news.strip() or None, exact=True))


@operation(writes=True)
def log(
    hub: Hub,
    session_id: Annotated[str, Help("the session the entry belongs to")],
    entry: Annotated[str, Help("what was done or found")],
) -> Log:
    """Append a progress entry to a session."""
    entry = remove_secrets(hub, text.required("entry", entry, "Say what was done or found.", text.PAGE))
    with hub.engine.transaction(durable=True):
        session = touch(hub, session_id)
        row = store.add_log(hub.engine, session["id"], hub.now(), entry)
    assert row is not None  # only an imported entry can be known already
    return _log_view(row)


@operation(writes=True)
def complete(
    hub: Hub,
    session_id: Annotated[str, Help("the session that is done")],
    completion_summary: Annotated[str, Help("what the next session should know")],
    token: Annotated[int | None, Help("fencing token of a lock the work relied on")] = None,
) -> Session:
    """Finish a session and free everything it holds."""
    said = text.required("completion_summary", completion_summary, "Say what was done.", text.PAGE)
    summary = remove_secrets(hub, said)
    session_id = require(hub, session_id)["id"]
    with Gate(hub, session_id, token, durable=True):
        row = require(hub, session_id)
        if row["status"] == "completed" and row["completion_summary"] is not None:
            _keep_completion(hub, row, "Completed again.")
        locks.delete_all(hub.engine, session_id)
        sightings.forget(hub.engine, session_id)
        done = view(hub, store.complete(hub.engine, session_id, hub.now(), summary))
    program_log.info(f"Session completed: {session_id}")
    return done


@operation()
def get_session(
    hub: Hub, session_id: Annotated[str, Help("the session, by our id or its agent's, or the start of one")]
) -> Session:
    """Show one session."""
    found = known(hub, session_id) or _alike(hub, session_id)
    if found is None:
        raise NotFound(kind="session", id=session_id, hint=_HINT)
    return view(hub, found)


@operation()
def get_active_sessions(
    hub: Hub,
    project: Annotated[str | None, Help("only this project")] = None,
    limit: Annotated[int, Help("at most so many")] = 1000,
) -> list[Session]:
    """Show every session not completed, newest sign of life first, stale ones included."""
    return [view(hub, row) for row in store.active(hub.engine, _FOREVER, room(project), positive("limit", limit))]


@operation()
def get_recent_sessions(
    hub: Hub,
    hours: Annotated[float, Help("how far back")] = 24,
    project: Annotated[str | None, Help("only this project")] = None,
    limit: Annotated[int, Help("at most so many")] = 1000,
) -> list[Session]:
    """Show sessions completed in the last hours, newest first."""
    since = back(hub, "hours", hours)
    return [view(hub, row) for row in store.recent(hub.engine, since, room(project), positive("limit", limit))]


@operation()
def get_session_logs(
    hub: Hub,
    session_id: Annotated[str, Help("the session")],
    limit: Annotated[int, Help("at most so many")] = 20,
) -> list[Log]:
    """Show a session's log entries, newest first."""
    session = require(hub, session_id)["id"]
    return [_log_view(row) for row in store.logs(hub.engine, session, positive("limit", limit))]


def current(hub: Hub) -> Session | None:
    """Return the session of the agent that runs this process."""
    above = [(p.host, p.pid, p.start) for p in host.ancestors()]
    found = store.of_processes(hub.engine, above)
    return view(hub, found) if found else None


def touch(hub: Hub, session_id: str, summary: str | None = None, *, exact: bool = False) -> Row:
    """Take any act of a session as its sign of life; call inside a transaction.

    A sign within seconds of the last one is not written down, unless `exact`: it would cost every lock
    four pages of the store.
    """
    at = hub.instant()
    # Locks before sessions, as everywhere: on PostgreSQL the order keeps two writers from deadlock, and
    # what is read below cannot change any more.
    locks.renew_all(hub.engine, text.name("session_id", session_id), at.steady)
    row = require(hub, session_id)
    if row["id"] != session_id:  # it was named by its agent's id
        return touch(hub, row["id"], summary, exact=exact)
    _rebind_if_gone(hub, row)
    told_before = row["status"] == "active" and 0 <= at.now - row["last_heartbeat"] < _JUST_NOW
    if told_before and summary is None and not exact:
        return row
    if row["status"] == "completed" and row["completion_summary"] is not None:  # a captured one said nothing
        _reopen(hub, row)
    return store.touch(hub.engine, session_id, at.now, summary)


def require(hub: Hub, session_id: str) -> Row:
    """Return a session's row, by our id or its agent's, or say that it is unknown."""
    found = known(hub, session_id)
    if found is None:
        raise NotFound(kind="session", id=session_id, hint="Register it first, or see `engram sessions`.")
    return found


def known(hub: Hub, session_id: str) -> Row | None:
    """Return the session of exactly this id: ours first, then the one its agent gave it."""
    given = text.name("session_id", session_id)
    return store.get(hub.engine, given) or _only(given, store.with_native_id(hub.engine, given))


def _alike(hub: Hub, start: str) -> Row | None:
    """Return the session whose id starts so."""
    rows = [*store.with_prefix(hub.engine, start), *store.with_native_prefix(hub.engine, start)]
    return _only(start, list({row["id"]: row for row in rows}.values()))


def _only(given: str, rows: list[Row]) -> Row | None:
    if len(rows) > 1:
        names = " and ".join(f"{row['id']} ({row['flavor']})" for row in rows[:2])
        raise InvalidInput(field="session_id", reason=f"{given!r} fits several sessions, such as {names}. {_HINT}")
    return rows[0] if rows else None


def view(hub: Hub, row: Row) -> Session:
    """Turn a stored row into the value users see."""
    process = process_of(row)
    done = row["completed_at"]
    return Session(
        id=row["id"], flavor=row["flavor"], session_type=row["session_type"], summary=row["summary"],
        status=row["status"], presence=_presence(hub, row, process),
        started_at=moment(row["started_at"]), last_heartbeat=moment(row["last_heartbeat"]),
        completed_at=None if done is None else moment(done), completion_summary=row["completion_summary"],
        native_id=row["native_id"], project=row["project"], cwd=row["cwd"], branch=row["branch"],
        process=process, host=row["host"], model=row["model"],
        metadata=None if row["metadata"] is None else plain_json.loads(row["metadata"]), domain=row["domain"],
    )  # fmt: skip


def process_of(row: Row) -> Process | None:
    """Return the process a row names, if it names one."""
    if row["pid"] is None:
        return None
    return Process(host=row["host"], pid=row["pid"], start=row["pid_start"])


def room(project: str | None) -> str | None:
    """Return the project asked about, or None for all."""
    return text.name_or_none("project", project)


def back(hub: Hub, field: str, span: float) -> int:
    """Return the moment so many hours or days ago."""
    if isinstance(span, bool) or not isinstance(span, int | float) or not 0 <= span < 1e6:
        raise InvalidInput(field=field, reason=f"{span!r} is not a number of {field}.")
    return hub.now() - int(span * clock.HOUR * (24 if field == "days" else 1))


def positive(field: str, number: int) -> int:
    """Return a count that makes sense."""
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < 1_000_000_000:
        raise InvalidInput(field=field, reason=f"{number!r} is not a whole number above 0.")
    return number


def _begin(hub: Hub, flavor: str, native_id: str | None, project: str | None, facts: dict[str, Any]) -> str:
    now = hub.now()
    new = clock.session_id(now)
    home = facts.get("cwd")
    facts["project"] = room(project) or projects.project_of(home)
    added = store.insert(
        hub.engine, id=new, flavor=flavor, native_id=native_id, status="active", started_at=now, last_heartbeat=now,
        **facts,
    )  # fmt: skip
    known = None if added or native_id is None else store.by_native_id(hub.engine, flavor, native_id)
    if known:  # PostgreSQL: another process announced the same session this very moment
        facts.pop("project")
        return _resume(hub, known["id"], facts)
    messages.adopt(hub.engine, facts["project"], new)
    return new


def _tidy(hub: Hub) -> None:
    """Drop what nobody can miss any more, at a moment that comes seldom."""
    locks.sweep(hub.engine, hub.steady() - _LONG_LAPSED)
    sightings.forget_old(hub.engine, hub.now() - _LONG_LAPSED)
    answered.forget(hub.engine, hub.now() - _LONG_LAPSED)


def _resume(hub: Hub, session_id: str, facts: dict[str, Any]) -> str:
    touch(hub, session_id)
    store.resume(hub.engine, session_id, now=hub.now(), **facts)
    return session_id


def _rebind_if_gone(hub: Hub, row: Row) -> None:
    """Let another process carry on a session that acts although its own has ended."""
    process = process_of(row)
    if process is not None and host.alive(process) is False:
        above = None if hub.serving else host.agent()
        store.rebind(hub.engine, row["id"], **_process_columns(above[0] if above else None))


def _reopen(hub: Hub, row: Row) -> None:
    """Keep what a completed session had said, then let it go on."""
    said = row["completion_summary"]
    _keep_completion(hub, row, "Re-opened.")
    store.reopen(hub.engine, row["id"])
    activity.record(
        hub.engine, hub.now(), "reopened", row["id"], session_id=row["id"], project=row["project"], said=said
    )


def _keep_completion(hub: Hub, row: Row, why: str) -> None:
    """Keep what a session said at its end as a log entry, before it is replaced."""
    when = moment(row["completed_at"]).isoformat(timespec="seconds")
    entry = f"{why} It had been completed at {when}: {row['completion_summary']}"
    store.add_log(hub.engine, row["id"], hub.now(), entry)


def _presence(hub: Hub, row: Row, process: Process | None) -> str:
    if row["status"] == "completed":
        return "done"
    if process is not None and host.alive(process) is False:
        return "gone"
    silent = hub.now() - row["last_heartbeat"]
    return "stale" if silent > hub.settings.stale_minutes * MINUTE else "here"


def _identify(hub: Hub, flavor: str, look: bool, pid: int | None) -> tuple[str, Process | None]:
    """Find which agent runs us and as which process."""
    flavor = host.flavor_of([text.name("flavor", flavor)]) or flavor
    if pid is not None:
        process = host.process(positive("pid", pid))
        if process is None:
            raise InvalidInput(field="pid", reason=f"there is no process {pid} on this machine.")
        return flavor, process
    above = None if hub.serving else host.agent()
    if above is None:
        return flavor, None
    return (above[1] if look else flavor), above[0]


def _where(hub: Hub, cwd: str | None) -> dict[str, Any]:
    if cwd is None and not hub.serving:
        cwd = host.directory()
    if cwd is None:
        return {"cwd": None, "branch": None}
    if hub.serving and not os.path.isabs(cwd):
        raise InvalidInput(field="cwd", reason=f"{cwd!r} is relative; a server has no directory to start from.")
    real = os.path.realpath(text.name("cwd", cwd))
    return {"cwd": real, "branch": projects.place(real).branch}


def _process_columns(process: Process | None) -> dict[str, Any]:
    return {
        "host": process.host if process else host.name(),
        "pid": process.pid if process else None,
        "pid_start": process.start if process else None,
    }


def _said(hub: Hub, field: str, said: str) -> str:
    return remove_secrets(hub, text.clean(field, said))


def _name(hub: Hub, given: str | None) -> str | None:
    return remove_from_name(hub, given) if isinstance(given, str) else given


def _without_secrets(hub: Hub, metadata: Any) -> Any:
    """Return metadata without its secrets; as one text, names and all, for a name tells what its value is."""
    given = _json(metadata)
    cleaned = remove_secrets(hub, given)
    try:
        return metadata if cleaned == given else plain_json.loads(cleaned)
    except ValueError:  # a secret that ran over the quotes took them along
        return cleaned


def _json(metadata: Any) -> str:
    import json

    try:
        if not _shallow(metadata, _DEEPEST):
            raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
        return json.dumps(metadata, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise InvalidInput(field="metadata", reason=f"it is not JSON: {problem}.") from problem


def _shallow(part: Any, levels: int) -> bool:
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, (list, tuple)) else ()
    return levels > 0 and all(_shallow(each, levels - 1) for each in inner)


def _log_view(row: Row) -> Log:
    return Log(id=row["id"], session_id=row["session_id"], timestamp=moment(row["logged_at"]), entry=row["entry"])
