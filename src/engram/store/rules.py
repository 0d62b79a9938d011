"""The catalog: every version of every rule, and the decisions about their patterns."""

from __future__ import annotations

from engram.platform import plain_json
from engram.store import patterns
from engram.store.engine import escape_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.store.engine import Engine, Row

_BEGINNING = "select id from patterns where id like :start escape '!' order by id limit 2"

_LISTED = """
select p.*, r.rule, r.fix, r.scope from patterns p
  left join rules r on r.pattern = p.id and r.version = p.version
 where (cast(:state as text) is null or p.state = :state)
   and (cast(:project as text) is null or p.projects like :project escape '!')
   and (cast(:flavor as text) is null or p.flavors like :flavor escape '!')
"""

_VERSIONS = "select * from rules where pattern = :id order by version"

_VERSION = "select * from rules where pattern = :id and version = :version"

# The version number is unique: of two concurrent decisions, the second fails.
_ADD = """
insert into rules (pattern, version, state, rule, fix, scope, author, reason, evidence, at)
values (:pattern, :version, :state, :rule, :fix, :scope, :author, :reason, :evidence, :now)
on conflict (pattern, version) do nothing returning *
"""

_DECIDE = """
update patterns set state = :state, version = :version, merged_into = :merged_into, recommended = null
 where id = :id
"""

_ENTER = """
insert into patterns (id, kind, state, title, seed, first_at, last_at)
values (:id, :kind, :state, :title, :seed, :now, :now) on conflict (id) do nothing
"""

_EVIDENCE = """
select s.* from fingerprints f join signals s on s.kind = f.kind and s.fingerprint = f.fingerprint
 where f.pattern = :id order by s.times desc, s.at desc, s.session_id limit :limit
"""

_SESSIONS = """
select s.session_id, sum(s.times) as times, sum(s.tokens) as tokens, sum(s.seconds) as seconds
  from fingerprints f join signals s on s.kind = f.kind and s.fingerprint = f.fingerprint
 where f.pattern = :id group by s.session_id
"""

_MOVE = "update fingerprints set pattern = :into, changed = 1 where pattern = :pattern returning kind, fingerprint"

_MOVE_BACK = """
update fingerprints set pattern = :back, changed = 1
 where pattern = :into and kind = :kind and fingerprint = :fingerprint
"""

_RECOUNT = """
update patterns set signals = :signals, sessions = :sessions, times = :times, tokens = :tokens, seconds = :seconds,
  flavors = :flavors, projects = :projects where id = :pattern
"""

_NO_SIGNALS = {"signals": 0, "sessions": 0, "times": 0, "tokens": 0, "seconds": 0, "flavors": (), "projects": ()}

_APPROVED = """
select p.*, r.rule, r.fix, r.scope from patterns p
  join rules r on r.pattern = p.id and r.version = p.version
 where p.state = 'approved'
"""

# Joins the few rules in context with their newest decisions.
_CONTEXT_RULES = """
select p.id, p.version, p.sessions, p.tokens, p.last_at, r.rule, r.fix from placements l
  join patterns p on p.id = l.pattern and p.version = l.version and p.state = 'approved'
  join rules r on r.pattern = p.id and r.version = p.version
 where l.place = 'context' and l.removed_at is null
   and l.flavor in ('', :flavor) and l.project in ('', :project)
"""


def list_ids_by_prefix(engine: Engine, start: str) -> list[str]:
    """Return up to two patterns whose id has this prefix."""
    return [row["id"] for row in engine.run(_BEGINNING, start=f"{escape_like(start)}%")]


def list_patterns(engine: Engine, state: str | None, project: str | None, flavor: str | None) -> list[Row]:
    """Return patterns with their current rule; projects and flavors are matched in JSON as whole words."""
    in_project, of_flavor = (None if word is None else f"%{escape_like(_to_json(word))}%" for word in (project, flavor))
    return engine.run(_LISTED, state=state, project=in_project, flavor=of_flavor)


def list_versions(engine: Engine, pattern: str) -> list[Row]:
    """Return every version of a rule, oldest first."""
    return engine.run(_VERSIONS, id=pattern)


def get_version(engine: Engine, pattern: str, number: int) -> Row | None:
    """Return one version of a rule."""
    rows = engine.run(_VERSION, id=pattern, version=number)
    return rows[0] if rows else None


def add_decision(engine: Engine, row: Row, merged_into: str | None = None, **facts: Any) -> bool:
    """Add the next version of a rule and update its pattern; return False if another writer was first."""
    number = row["version"] + 1
    if not engine.run(_ADD, pattern=row["id"], version=number, **facts):
        return False
    engine.run(_DECIDE, id=row["id"], state=facts["state"], version=number, merged_into=merged_into)
    return True


def insert_pattern(engine: Engine, pattern: str, kind: str, title: str, now: int) -> None:
    """Insert a pattern from an imported catalog."""
    engine.run(_ENTER, id=pattern, kind=kind, state="candidate", title=title, seed=f"imported {pattern}", now=now)


def save_recommendation(engine: Engine, pattern: str, recommended: str) -> None:
    """Save a recommendation about a pattern."""
    engine.run("update patterns set recommended = :recommended where id = :id", id=pattern, recommended=recommended)


def list_signals(engine: Engine, pattern: str, limit: int) -> list[Row]:
    """Return the signals of a pattern, strongest first."""
    return engine.run(_EVIDENCE, id=pattern, limit=limit)


def list_sessions(engine: Engine, pattern: str) -> dict[str, Row]:
    """Return the sessions in which a pattern occurred, with count and cost."""
    return {row["session_id"]: row for row in engine.run(_SESSIONS, id=pattern)}


def move_fingerprints(engine: Engine, pattern: str, into: str) -> list[Row]:
    """Move all fingerprints of one pattern to another; return the moved rows."""
    return engine.run(_MOVE, pattern=pattern, into=into)


def move_fingerprints_back(engine: Engine, back: str, into: str, moved: list[Row]) -> None:
    """Move fingerprints back to their pattern, except those moved again since."""
    engine.run_many(_MOVE_BACK, [{**fingerprint, "back": back, "into": into} for fingerprint in moved])


def recount_patterns(engine: Engine, ids: list[str]) -> None:
    """Recompute the totals of patterns after fingerprints moved between them."""
    counts = patterns.count_signals(engine, ids)
    for pattern in ids:
        total = {**_NO_SIGNALS, **counts.get(pattern, {})}
        where = {name: plain_json.dumps(sorted(total[name])) for name in ("flavors", "projects")}
        engine.run(_RECOUNT, **{name: total[name] for name in _NO_SIGNALS} | where, pattern=pattern)


def list_decided(engine: Engine) -> list[Row]:
    """Return the id, state and number of signals of every pattern that is no candidate any more."""
    sql = "select id, state, signals from patterns where state not in ('candidate', 'moved') and signals > 0"
    return engine.run(sql)


def list_approved(engine: Engine) -> list[Row]:
    """Return the approved patterns with the rule in force."""
    return engine.run(_APPROVED)


def list_context_rules(engine: Engine, flavor: str, project: str) -> list[Row]:
    """Return the rules placed in the context of an agent in a project."""
    return engine.run(_CONTEXT_RULES, flavor=flavor, project=project)


def _to_json(word: str) -> str:
    return plain_json.dumps(word)
