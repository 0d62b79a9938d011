"""Distribute approved rules to the places agents read, and remove them without a trace.

Only rules a person approved are written, with their id. Text around our block is never touched. A file that is read-
only, damaged, changed meanwhile or edited inside our block is reported and left alone.
"""

from __future__ import annotations

from engram.operation import Help, operation
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from engram.hub import Hub
    from engram.patterns.rules.distribution_plan import DistributionPlan, PlannedFile
    from engram.store.engine import Row


@value
class WrittenFile:
    """One file that was changed, or would be."""

    path: str
    flavors: tuple[str, ...]
    project: str
    patterns: tuple[str, ...]  # rules in it afterwards
    diff: str


@value
class DistributeResult:
    """The result of distributing rules."""

    context: tuple[str, ...]  # patterns in the briefing
    files: tuple[WrittenFile, ...]
    standing: tuple[str, ...]  # files with rules that needed no change
    left_out: tuple[str, ...]  # patterns that fit in no file
    problems: tuple[str, ...]
    undo: bool
    dry_run: bool


@operation(writes=True, agent=False)
def distribute(
    hub: Hub,
    files: Annotated[
        bool, Help("also write rules into the agents' own files; files written before are always updated")
    ] = False,
    undo: Annotated[bool, Help("remove all rules from context and files")] = False,
    project: Annotated[str | None, Help("only files of this project")] = None,
    flavor: Annotated[str | None, Help("only files of this agent")] = None,
    dry_run: Annotated[bool, Help("show what would be written without writing it")] = False,
) -> DistributeResult:
    """Bring approved rules to the agents: into the context of sessions, or into the files they read."""
    plan = plan_distribution(hub, files, undo, project, flavor)
    return build_result(hub, plan, dry_run, () if dry_run else apply_plan(hub, plan))


def plan_distribution(hub: Hub, files: bool, undo: bool, project: str | None, flavor: str | None) -> DistributionPlan:
    """Return the changes to make, and what prevents others."""
    from engram.patterns.rules import distribution_plan as plan
    from engram.sessions import lifecycle

    return plan.build_plan(
        hub, files=files, undo=undo, project=lifecycle.parse_project_filter(project), flavor=plan.require_flavor(flavor)
    )


def apply_plan(hub: Hub, plan: DistributionPlan) -> tuple[str, ...]:
    """Write the planned changes, recording each file before it is touched; return what could not be written."""
    from engram.capture.sweep_lock import SweepLock
    from engram.errors import ConfigRefused, DistributeRunning

    problems = []
    with SweepLock(hub.settings.home, "distribute.lock", DistributeRunning):
        _refuse_outdated(hub, plan)
        _write_context(hub, plan)
        for planned_file in plan.files:
            try:
                _write_file(hub, planned_file)
            except ConfigRefused as refusal:
                problems.append(str(refusal))
                _discard_file_note(hub, planned_file)
    return tuple(problems)


def _refuse_outdated(hub: Hub, plan: DistributionPlan) -> None:
    """Refuse a plan made before a later decision: it may contain a rule that is no longer approved."""
    from engram.errors import DistributeOutdated
    from engram.patterns.rules.distribution_plan import list_approved_versions
    from engram.store import rules

    if not plan.undo and list_approved_versions(rules.list_approved(hub.engine)) != plan.approved_versions:
        raise DistributeOutdated()


def build_result(hub: Hub, plan: DistributionPlan, dry_run: bool, problems: tuple[str, ...]) -> DistributeResult:
    """Build the result to show from a plan and its outcome."""
    from engram.platform.file_edit import format_diff
    from engram.redaction.store_redactor import load_hub_redactor

    mask = load_hub_redactor(hub, make=False).redact_many
    files = [
        WrittenFile(
            planned_file.place.path,
            planned_file.place.flavors,
            planned_file.place.project,
            planned_file.ids,
            format_diff(planned_file.change, mask),
        )
        for planned_file in plan.files
        if planned_file.change.before != planned_file.change.after
    ]
    return DistributeResult(
        context=tuple(row["id"] for row in plan.context),
        files=tuple(files),
        standing=tuple(
            planned_file.place.path
            for planned_file in plan.files
            if planned_file.change.before == planned_file.change.after
        ),
        left_out=plan.left_out,
        problems=(*plan.problems, *problems),
        undo=plan.undo,
        dry_run=dry_run,
    )


def _write_context(hub: Hub, plan: DistributionPlan) -> None:
    from engram.patterns.rules.context_rules import replace_rules
    from engram.store import rule_placements

    if not plan.is_complete:
        return
    with hub.engine.transaction(durable=True):
        standing = [
            placement
            for placement in rule_placements.list_standing(hub.engine)
            if placement["place"] == rule_placements.CONTEXT
        ]
        due_rules = [{"pattern": row["id"], "version": row["version"], "scope": row["scope"]} for row in plan.context]
        replace_rules(hub, standing, due_rules)


def _write_file(hub: Hub, planned: PlannedFile) -> None:
    """Write one file and record its rules."""
    import os

    from engram.platform import host, plain_json
    from engram.platform.file_edit import (
        list_missing_directories,
        remove_empty_directories,
        remove_stale_temporaries,
        write_change,
    )
    from engram.store import rule_placements

    change, host_name = planned.change, host.get_host_name()
    created = [] if change.before is not None else [change.path, *list_missing_directories(change.path)]
    if change.after is not None:
        with hub.engine.transaction(durable=True):
            rule_placements.insert_file_row(hub.engine, host_name, change.path, plain_json.dumps(created), hub.now())
    if change.before != change.after:
        write_change(change)
    else:
        remove_stale_temporaries(os.path.dirname(change.path))
    if change.after is None:  # before it is recorded: after a crash here, the next run repeats it
        remove_empty_directories(
            directory
            for directory in planned.created_paths or ()
            if directory != change.path and os.path.isdir(directory)
        )
    with hub.engine.transaction(durable=True):
        _record_placements(hub, planned, host_name)


def _discard_file_note(hub: Hub, planned_file: PlannedFile) -> None:
    """Delete the record of a new file that could not be written."""
    from engram.platform import host
    from engram.store import rule_placements

    if planned_file.created_paths is None:
        with hub.engine.transaction():
            rule_placements.delete_file_row(hub.engine, host.get_host_name(), planned_file.change.path)


def _record_placements(hub: Hub, planned_file: PlannedFile, host_name: str) -> None:
    """Record which rules a file contains from now on, and which it no longer contains."""
    from engram.store import rule_placements

    place = planned_file.place
    rows = rule_placements.list_standing(hub.engine)
    standing_ids = {
        _placement_key(row): row["id"] for row in rows if (row["host"], row["place"]) == (host_name, place.path)
    }
    wanted_rows = {
        _placement_key(row): row for flavor in place.flavors for row in _placement_rows(planned_file, flavor, host_name)
    }
    rule_placements.mark_removed(
        hub.engine, [number for key, number in standing_ids.items() if key not in wanted_rows], hub.now()
    )
    rule_placements.add_placements(
        hub.engine, [row for key, row in wanted_rows.items() if key not in standing_ids], hub.now()
    )
    if not planned_file.rules:
        rule_placements.delete_file_row(hub.engine, host_name, place.path)


def _placement_rows(planned_file: PlannedFile, flavor: str, host_name: str) -> list[Row]:
    place = planned_file.place
    return [
        {"pattern": row["id"], "version": row["version"], "flavor": flavor, "project": place.project,
         "place": place.path, "host": host_name}
        for row in planned_file.rules
    ]  # fmt: skip


def _placement_key(row: Row) -> tuple[str, int, str, str]:
    return (row["pattern"], row["version"], row["flavor"], row["project"])
