"""Move what belongs to one project to another, in the caller's transaction."""

from __future__ import annotations

from engram.platform import plain_json
from engram.store import cases, checkouts, commits, domains

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine, Row

_ALL = "select id from sessions where project = :old"

# Sessions that ran in one checkout of a project: its directory, and all below it.
_IN_CHECKOUT = """
select id from sessions where project = :old and (host is null or host = :host or :host = '')
   and (cwd = :path or substr(cwd, 1, length(:path) + 1) in (:path || '/', :path || '\\'))
"""

_SESSION_TABLES = ("signals", "gisted", "passages", "activity", "locks", "pushes")
_PROJECT_TABLES = ("passages", "activity", "messages", "locks", "placements")

# The numbers of a pattern are counted again from its signals.
_RECOUNT = """
update fingerprints set changed = 1 where changed = 0 and exists (
  select 1 from signals s where s.kind = fingerprints.kind and s.fingerprint = fingerprints.fingerprint
     and s.session_id in ({sessions}))
"""

_GISTS = """
update documents set sources = replace(sources, :old_source, :new_source)
 where kind = 'gist' and key in ({sessions})
"""

_CAPTURE_TABLES = ("cases", "session_errors", "refused_commands")
_OF_CAPTURES = """
update {table} set project = :new where capture in (select num from captures where session_id in ({sessions}))
"""

_SESSIONS = """
update sessions set project = :new, domain = case when :domain = '' then domain else :domain end
 where id in ({sessions})
"""


def lock_moves(engine: Engine) -> None:
    """Let one machine move projects at a time; SQLite has one writer anyway."""
    engine.run("/*pg: select pg_advisory_xact_lock(7405292) */")


def list_named_locks(engine: Engine, project: str, steady: int) -> list[Row]:
    """Return the unexpired locks on names: the name of such a lock includes the project."""
    sql = "select * from locks where project = :project and kind = 'name' and expires_at > :steady"
    return engine.run(sql, project=project, steady=steady)


def count_sessions(engine: Engine, project: str) -> int:
    """Count the sessions of a project."""
    return int(engine.run("select count(*) as n from sessions where project = :project", project=project)[0]["n"])


def move_all(engine: Engine, old: str, new: str) -> None:
    """Move a whole project; its world state moves only if the other project has none."""
    _move_sessions(engine, _ALL, old, new)
    cases.delete_commits(engine, old)
    commits.delete_by_project(engine, old)
    for table in _PROJECT_TABLES:
        engine.run(f"update {table} set project = :new where project = :old", old=old, new=new)
    engine.run(
        "update rules set scope = :new_scope where scope = :old_scope",
        old_scope=f"project:{old}", new_scope=f"project:{new}",
    )  # fmt: skip
    if not engine.run("select 1 as one from documents where kind = 'world' and key = :new limit 1", new=new):
        engine.run("update documents set key = :new where kind = 'world' and key = :old", old=old, new=new)
        engine.run("update passages set key = :new where kind = 'world' and key = :old", old=old, new=new)
    checkouts.rename_project(engine, old, new)


def move_checkout(engine: Engine, host: str, path: str, old: str, new: str) -> None:
    """Move the sessions of one checkout to a project of its own."""
    _move_sessions(engine, _IN_CHECKOUT, old, new, host=host, path=path)


def _move_sessions(engine: Engine, which: str, old: str, new: str, **place: str) -> None:
    """Move the rows of some sessions, and these sessions last, as they say which rows these are."""
    engine.run(_RECOUNT.format(sessions=which), old=old, **place)
    for table in _SESSION_TABLES:
        engine.run(
            f"update {table} set project = :new where project = :old and session_id in ({which})",
            old=old, new=new, **place,
        )  # fmt: skip
    for table in _CAPTURE_TABLES:
        engine.run(_OF_CAPTURES.format(table=table, sessions=which), old=old, new=new, **place)
    old_source, new_source = (f'"project":{_to_json(project)}' for project in (old, new))
    engine.run(_GISTS.format(sessions=which), old=old, old_source=old_source, new_source=new_source, **place)
    engine.run(_SESSIONS.format(sessions=which), old=old, new=new, domain=domains.find_domain(engine, new), **place)


def _to_json(words: str) -> str:
    return plain_json.dumps(words)
