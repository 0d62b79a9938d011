"""Commands by which projects are set up, built, tested, linted, run and released."""

from __future__ import annotations

from engram.store import captures
from engram.store.engine import run_for_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine, Row
_SESSIONS = 400  # of a project, whose commands count

_ADD = """
insert into task_runs
  (capture, purpose, directory, command, is_whole, passed, failed, unknown, passed_at, failed_at)
values (:capture, :purpose, :directory, :command, :is_whole, :passed, :failed, :unknown, :passed_at, :failed_at)
on conflict (capture, purpose, directory, command) do update set
  is_whole = excluded.is_whole, passed = excluded.passed, failed = excluded.failed, unknown = excluded.unknown,
  passed_at = excluded.passed_at, failed_at = excluded.failed_at
"""

_OF_SESSIONS = """
select t.*, c.session_id, s.flavor
  from task_runs t join captures c on c.num = t.capture join sessions s on s.id = c.session_id
 where t.capture in ({slots})
"""


def save(engine: Engine, capture: int, rows: Sequence[Row]) -> None:
    """Save the commands of a session, replacing their counts."""
    engine.run_many(_ADD, [{"capture": capture, **row} for row in rows])


def list_projects(engine: Engine, purpose: str) -> list[str]:
    """Return the projects in which a command for a purpose ran."""
    sql = (
        "select distinct s.project from task_runs t join captures c on c.num = t.capture"
        " join sessions s on s.id = c.session_id where t.purpose = :purpose and s.project <> '' order by s.project"
    )
    return [row["project"] for row in engine.run(sql, purpose=purpose)]


def delete_by_capture(engine: Engine, capture: int) -> None:
    """Remove the commands of a session."""
    engine.run("delete from task_runs where capture = :capture", capture=capture)


def list_by_project(engine: Engine, project: str) -> list[Row]:
    """Return the commands of the last sessions in a project."""
    return run_for_ids(engine, _OF_SESSIONS, captures.list_last_numbers(engine, project, _SESSIONS, subagents=True))
