"""Errors of sessions, what ended them, and the checks that passed."""

from __future__ import annotations

from engram.store.engine import escape_like, run_for_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine, Row

_MOST = 1_000  # errors of a project

_PUT = """
insert into session_errors
  (id, capture, episode, at, signature, shape, project, program, culprit, line, fix, fix_kind, verified, facts)
values (:id, :capture, :episode, :at, :signature, :shape, :project, :program, :culprit, :line, :fix, :fix_kind,
        :verified, :facts)
on conflict (id) do update set
  episode = excluded.episode, at = excluded.at, line = excluded.line, shape = excluded.shape,
  project = excluded.project, program = excluded.program, culprit = excluded.culprit, fix = excluded.fix,
  fix_kind = excluded.fix_kind, verified = excluded.verified, facts = excluded.facts
"""

_PUT_CHECK = """
insert into passed_checks (capture, command, at) values (:capture, :command, :at)
on conflict (capture, command) do update set at = excluded.at
"""

_NOT_FIXED = """
select e.id, e.signature, e.at, e.facts
  from session_errors e
 where e.fix = '' and e.fixed_in is null and e.at < :before and e.project = :project and e.capture <> :capture
 order by e.at desc limit :limit
"""

_OF_PROJECT = """
select e.*, c.session_id
  from session_errors e join captures c on c.num = e.capture
 where e.project = :project order by e.at desc, e.id desc limit :limit
"""

_FIXED_LATER = """
select e.signature, c.session_id
  from session_errors e join captures c on c.num = e.capture join sessions s on s.id = c.session_id
 where e.signature in ({slots}) and e.fix <> '' and e.at > :after and s.project = :project and e.capture <> :capture
 order by e.at
"""

# SQLite reads the tables of a cross join in this order: new checks, not all sessions of the project.
_PASSED_LATER = """
select p.command, p.at, c.session_id
  from passed_checks p cross join captures c cross join sessions s
 where c.num = p.capture and s.id = c.session_id and p.at > :after and s.project = :project and p.capture <> :capture
 order by p.at limit :limit
"""

# What ended an error in other sessions of a project, newest first; the same thing passed afterwards.
_FIXED = """
select * from session_errors where signature = :signature and verified = 1 and project = :project
 order by at desc limit :limit
"""

# Commands that another one replaced, newest first.
_REPLACED = """
select * from session_errors
 where project = :project and program = :program and verified = 1 and fix_kind = 'command replaced'
 order by at desc limit :limit
"""

# Programs whose commands failed and were replaced, or were refused by a person.
_KNOWN = """
select distinct program from session_errors
 where project = :project and program in ({slots}) and verified = 1 and fix_kind = 'command replaced'
 union select program from refused_commands where project = :project and program in ({slots})
"""

# The same error in any session, the ones that something ended first.
_ENDING = """
select e.*, k.id as case_id, c.session_id, s.project
  from session_errors e join captures c on c.num = e.capture join sessions s on s.id = c.session_id
  join cases k on k.capture = e.capture and k.number = e.episode
 where {endings}
 order by case when e.fix = '' then 0 else 1 end desc, e.verified desc, e.at desc
 limit :limit
"""


def save(engine: Engine, rows: Sequence[Row]) -> None:
    """Save errors; which later session fixed one is kept."""
    engine.run_many(_PUT, rows)


def save_checks(engine: Engine, rows: Sequence[Row]) -> None:
    """Save the checks of a session that passed."""
    engine.run_many(_PUT_CHECK, rows)


def delete_by_capture(engine: Engine, capture: int) -> None:
    """Remove the errors of a session and what is known of its commands."""
    engine.run("delete from session_errors where capture = :capture", capture=capture)
    for table in ("passed_checks", "command_runs", "refused_commands"):
        engine.run(f"delete from {table} where capture = :capture", capture=capture)


def list_by_capture(engine: Engine, capture: int) -> list[Row]:
    """Return the errors of a session in order."""
    return engine.run("select * from session_errors where capture = :capture order by at, id", capture=capture)


def list_by_project(engine: Engine, project: str) -> list[Row]:
    """Return the last errors of a project, oldest first."""
    return engine.run(_OF_PROJECT, project=project, limit=_MOST)[::-1]


def list_not_fixed(engine: Engine, project: str, before: int, capture: int, limit: int) -> list[Row]:
    """Return the errors of other sessions of a project that nothing fixed yet, newest first."""
    return engine.run(_NOT_FIXED, project=project, before=before, capture=capture, limit=limit)


def list_fixed_later(engine: Engine, signatures: Sequence[str], project: str, after: int, capture: int) -> list[Row]:
    """Return which later sessions of a project fixed errors with these signatures."""
    return run_for_ids(engine, _FIXED_LATER, signatures, project=project, after=after, capture=capture)


def list_passed_later(engine: Engine, project: str, after: int, capture: int, limit: int) -> list[Row]:
    """Return the checks that passed in a project after a time, in other sessions."""
    return engine.run(_PASSED_LATER, project=project, after=after, capture=capture, limit=limit)


def list_fixed(engine: Engine, project: str, signature: str, limit: int) -> list[Row]:
    """Return the errors of a project with a signature whose fix is verified, newest first."""
    return engine.run(_FIXED, project=project, signature=signature, limit=limit)


def list_replaced(engine: Engine, project: str, program: str, limit: int) -> list[Row]:
    """Return the failed calls of a program in a project that another command replaced, newest first."""
    return engine.run(_REPLACED, project=project, program=program, limit=limit)


def list_known_programs(engine: Engine, project: str, programs: Sequence[str]) -> list[str]:
    """Return the programs among some whose commands are known to fail in a project, or to be refused."""
    return [row["program"] for row in run_for_ids(engine, _KNOWN, programs, project=project)]


def list_by_endings(engine: Engine, endings: Sequence[str], limit: int) -> list[Row]:
    """Return the errors whose signature ends so and the cases they belong to, fixed ones first, then the newest."""
    patterns = {f"p{place}": f"%{escape_like(ending)}" for place, ending in enumerate(endings)}
    conditions = " or ".join(f"e.signature like :{name} escape '!'" for name in patterns)
    return engine.run(_ENDING.format(endings=conditions), limit=limit, **patterns) if patterns else []


def mark_fixed(engine: Engine, ids: Sequence[str], session_id: str) -> None:
    """Mark errors as fixed in a later session."""
    run_for_ids(
        engine, "update session_errors set fixed_in = :session_id where id in ({slots})", ids, session_id=session_id
    )
