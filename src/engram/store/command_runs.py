"""How often commands ran and failed in each session, and the commands that a person refused."""

from __future__ import annotations

from engram.store.engine import run_for_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engram.store.engine import Engine, Row

_PUT = """
insert into command_runs (capture, shape, runs, failed, passed_at, failed_at)
values (:capture, :shape, :runs, :failed, :passed_at, :failed_at)
on conflict (capture, shape) do update set
  runs = excluded.runs, failed = excluded.failed, passed_at = excluded.passed_at, failed_at = excluded.failed_at
"""

_PUT_REFUSED = """
insert into refused_commands (capture, project, program, shape, command, reason, at)
values (:capture, :project, :program, :shape, :command, :reason, :at)
on conflict (capture, command) do update set project = excluded.project, reason = excluded.reason, at = excluded.at
"""

_COUNT = """
select r.shape, sum(r.runs) as runs, sum(r.failed) as failed, max(r.passed_at) as passed_at,
       max(r.failed_at) as failed_at
  from command_runs r join captures c on c.num = r.capture join sessions s on s.id = c.session_id
 where r.shape in ({slots}) and s.project = :project
 group by r.shape
"""

_REFUSED = """
select * from refused_commands where project = :project and program = :program order by at desc limit :limit
"""


def save(engine: Engine, capture: int, runs: Mapping[str, Row]) -> None:
    """Save the counts of a session by the shape of the command."""
    engine.run_many(_PUT, [{"capture": capture, "shape": shape, **counts} for shape, counts in runs.items()])


def save_refused(engine: Engine, capture: int, project: str, refused: Mapping[str, Row]) -> None:
    """Save the commands that a person refused in a session of a project."""
    rows = [{"capture": capture, "project": project, "command": command, **facts} for command, facts in refused.items()]
    engine.run_many(_PUT_REFUSED, rows)


def count_by_shape(engine: Engine, project: str, shapes: Sequence[str]) -> list[Row]:
    """Return how often commands of some shapes ran and failed in a project, by shape."""
    return run_for_ids(engine, _COUNT, shapes, project=project)


def list_refused(engine: Engine, project: str, program: str, limit: int) -> list[Row]:
    """Return the commands of a program that a person refused in a project, newest first."""
    return engine.run(_REFUSED, project=project, program=program, limit=limit)
