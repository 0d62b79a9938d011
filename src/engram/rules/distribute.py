"""Distribute: approved rules go where agents read them, and leave no trace when they are taken back.

Nothing but what a person approved is written, under its id. What stands around our block is never touched; a block
somebody wrote into, a file that is read-only, damaged or changed meanwhile is named and left alone.
"""

from __future__ import annotations

from engram.operation import Help, operation
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from engram.hub import Hub
    from engram.rules.plan import Plan, Planned
    from engram.store.engine import Row


@value
class Written:
    """One file that was changed, or would be."""

    path: str
    flavors: tuple[str, ...]
    project: str
    patterns: tuple[str, ...]  # those it holds after that
    diff: str


@value
class Distributed:
    """What distributing came to."""

    context: tuple[str, ...]  # patterns that sessions are told when they start
    files: tuple[Written, ...]
    standing: tuple[str, ...]  # files that hold rules and needed no change
    left_out: tuple[str, ...]  # patterns no file has room for, or no file is there for
    problems: tuple[str, ...]
    undo: bool
    dry_run: bool


@operation(writes=True, agent=False)
def distribute(
    hub: Hub,
    files: Annotated[bool, Help("write the agents' own files too; those written once are always kept up")] = False,
    undo: Annotated[bool, Help("take every rule out again, of context and files")] = False,
    project: Annotated[str | None, Help("only the files of this project")] = None,
    flavor: Annotated[str | None, Help("only the files of this agent")] = None,
    dry_run: Annotated[bool, Help("show what would be written, but write nothing")] = False,
) -> Distributed:
    """Bring approved rules to the agents: into the context of sessions, or into the files they read."""
    plan = planned(hub, files, undo, project, flavor)
    return told(hub, plan, dry_run, () if dry_run else carry_out(hub, plan))


def planned(hub: Hub, files: bool, undo: bool, project: str | None, flavor: str | None) -> Plan:
    """Return what would change, and what stands in the way."""
    from engram.coordination import sessions
    from engram.rules import plan

    return plan.plan(hub, files=files, undo=undo, project=sessions.room(project), flavor=plan.known(flavor))


def carry_out(hub: Hub, plan: Plan) -> tuple[str, ...]:
    """Write what was planned, each file noted before it is touched; return what could not be written."""
    from engram.capture.turn import Turn
    from engram.errors import ConfigRefused, DistributeRunning

    problems = []
    with Turn(hub.settings.home, "distribute.lock", DistributeRunning):
        _refuse_outdated(hub, plan)
        _context(hub, plan)
        for each in plan.files:
            try:
                _file(hub, each)
            except ConfigRefused as refusal:
                problems.append(str(refusal))
                _unnote(hub, each)
    return tuple(problems)


def _refuse_outdated(hub: Hub, plan: Plan) -> None:
    """Refuse a plan that waited for an answer while somebody decided: it may hold what nobody approves any more."""
    from engram.errors import DistributeOutdated
    from engram.rules.plan import in_force
    from engram.store import rules

    if not plan.undo and in_force(rules.approved(hub.engine)) != plan.made_of:
        raise DistributeOutdated()


def told(hub: Hub, plan: Plan, dry_run: bool, problems: tuple[str, ...]) -> Distributed:
    """Return a plan and what came of it as a value to show."""
    from engram.files.change import diff
    from engram.redaction.removal import redactor

    mask = redactor(hub, make=False).clean_many
    files = [
        Written(each.place.path, each.place.flavors, each.place.project, each.ids, diff(each.change, mask))
        for each in plan.files
        if each.change.before != each.change.after
    ]
    return Distributed(
        context=tuple(row["id"] for row in plan.context), files=tuple(files),
        standing=tuple(each.place.path for each in plan.files if each.change.before == each.change.after),
        left_out=plan.left_out, problems=(*plan.problems, *problems), undo=plan.undo, dry_run=dry_run,
    )  # fmt: skip


def _context(hub: Hub, plan: Plan) -> None:
    from engram.rules.told import replace
    from engram.store import placements

    if not plan.whole:
        return
    with hub.engine.transaction(durable=True):
        standing = [each for each in placements.standing(hub.engine) if each["place"] == placements.CONTEXT]
        due = [{"pattern": row["id"], "version": row["version"], "scope": row["scope"]} for row in plan.context]
        replace(hub, standing, due)


def _file(hub: Hub, planned: Planned) -> None:
    """Write one file and note what stands in it now."""
    import os

    from engram import host, plain_json
    from engram.files.change import clear, drop_directories, missing_directories, write
    from engram.store import placements

    change, here = planned.change, host.name()
    made = [] if change.before is not None else [change.path, *missing_directories(change.path)]
    if change.after is not None:
        with hub.engine.transaction(durable=True):
            placements.note_file(hub.engine, here, change.path, plain_json.dumps(made), hub.now())
    if change.before != change.after:
        write(change)
    else:
        clear(os.path.dirname(change.path))
    if change.after is None:  # before it is noted: whoever dies here does it again
        drop_directories(each for each in planned.made or () if each != change.path and os.path.isdir(each))
    with hub.engine.transaction(durable=True):
        _note(hub, planned, here)


def _unnote(hub: Hub, planned: Planned) -> None:
    """Forget a file that was new to us and could not be written."""
    from engram import host
    from engram.store import placements

    if planned.made is None:
        with hub.engine.transaction():
            placements.drop_file(hub.engine, host.name(), planned.change.path)


def _note(hub: Hub, planned: Planned, here: str) -> None:
    """Note which rules stand in a file since now, and which no longer do."""
    from engram.store import placements

    place = planned.place
    rows = placements.standing(hub.engine)
    held = {_key(row): row["id"] for row in rows if (row["host"], row["place"]) == (here, place.path)}
    wished = {_key(row): row for flavor in place.flavors for row in _facts(planned, flavor, here)}
    placements.remove(hub.engine, [number for key, number in held.items() if key not in wished], hub.now())
    placements.put(hub.engine, [row for key, row in wished.items() if key not in held], hub.now())
    if not planned.rules:
        placements.drop_file(hub.engine, here, place.path)


def _facts(planned: Planned, flavor: str, here: str) -> list[Row]:
    place = planned.place
    return [
        {"pattern": row["id"], "version": row["version"], "flavor": flavor, "project": place.project,
         "place": place.path, "host": here}
        for row in planned.rules
    ]  # fmt: skip


def _key(row: Row) -> tuple[str, int, str, str]:
    return (row["pattern"], row["version"], row["flavor"], row["project"])
