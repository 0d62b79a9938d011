"""Init: connect every agent on this machine to Engram. Uninit: restore every file."""

from __future__ import annotations

from engram.operation import Help, operation
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Annotated

    from engram.hub import Hub
    from engram.install.install_record import InstallRecord
    from engram.install.plan import WiringPlan
    from engram.platform.file_edit import FileChange


@value
class RewrittenFile:
    """One file that was changed, or would be."""

    path: str
    flavor: str
    why: str  # our entry in it
    diff: str


@value
class WiringReport:
    """The result of connecting or disconnecting agents."""

    project: str | None  # None for the user's own configuration
    agents: tuple[str, ...]  # agents processed
    absent: tuple[str, ...]  # supported agents that are not installed
    program: str  # the command agents call
    files: tuple[RewrittenFile, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    untrusted: tuple[str, ...]  # hooks that wait for the user's trust
    dry_run: bool


@operation(writes=True, agent=False)
def init(
    hub: Hub,
    project: Annotated[
        str | None,
        Help("connect this project only, for everyone who works there; defaults to your own configuration"),
    ] = None,
    agents: Annotated[list[str] | None, Help("only these agents; defaults to all installed ones")] = None,
    trust_codex: Annotated[bool, Help("also mark the hooks as trusted in agents that ask their user")] = False,
    dry_run: Annotated[bool, Help("show what would be written without writing it")] = False,
) -> WiringReport:
    """Connect agents to Engram: add hooks and the MCP server to their configuration."""
    home = hub.settings.home
    plan, program = plan_init(home, project, agents, trust_codex)
    return build_report(home, plan, program, dry_run, () if dry_run else apply_init(home, plan))


@operation(writes=True, agent=False)
def uninit(
    hub: Hub,
    project: Annotated[str | None, Help("disconnect this project only; defaults to your own configuration")] = None,
    agents: Annotated[list[str] | None, Help("only these agents; defaults to all")] = None,
    dry_run: Annotated[bool, Help("show what would be written without writing it")] = False,
) -> WiringReport:
    """Remove Engram from the agents' configuration; entries of others are kept."""
    home = hub.settings.home
    plan = plan_uninit(home, project, agents)
    return build_report(home, plan, "", dry_run, () if dry_run else apply_uninit(home, plan))


def plan_init(home: str, project: str | None, agents: list[str] | None, trust_codex: bool) -> tuple[WiringPlan, str]:
    """Return what connecting would change, and the program the agents will call."""
    from engram.errors import InvalidInput
    from engram.install.launcher import get_agent_program
    from engram.install.own_command import locate_program
    from engram.install.plan import plan_wiring

    if project is not None and trust_codex:
        reason = "Each user trusts a project's hooks themselves: the agent asks when it starts."
        raise InvalidInput(field="trust_codex", reason=reason)
    program = get_agent_program(home) if project is None else locate_program()
    return plan_wiring(agents, _find_project_root(project), program, trust_codex), program


def plan_uninit(home: str, project: str | None, agents: list[str] | None) -> WiringPlan:
    """Return what disconnecting would change."""
    from engram.install.install_record import InstallRecord
    from engram.install.plan import plan_unwiring

    return plan_unwiring(agents, _find_project_root(project), InstallRecord(home))


def apply_init(home: str, plan: WiringPlan) -> tuple[str, ...]:
    """Write the planned changes, recording each file before it is touched; return what could not be written."""
    from engram.errors import ConfigRefused
    from engram.install import launcher
    from engram.install.install_record import hold_record
    from engram.platform.file_edit import write_change

    problems = []
    with hold_record(home) as record:
        if plan.project is None and plan.agents:
            launcher.write_launcher(home)
        for change in plan.changes:
            previous = record.get(change.path)
            try:
                _record_change(record, change, plan.project or "")
                write_change(change)
            except ConfigRefused as refusal:
                problems.append(str(refusal))
                record.restore_entry(change.path, previous)
    return tuple(problems)


def apply_uninit(home: str, plan: WiringPlan) -> tuple[str, ...]:
    """Restore the files; return what could not be written."""
    from engram.errors import ConfigRefused
    from engram.install import launcher
    from engram.install.install_record import hold_record
    from engram.install.plan import plan_unwiring
    from engram.platform.file_edit import remove_empty_directories, write_change

    problems: list[str] = []
    made_directories: set[str] = set()
    with hold_record(home) as record:
        for change in plan.changes:
            installed_file = record.get(change.path)
            try:
                write_change(change)
                if change.after is None and installed_file:
                    made_directories |= set(installed_file.made)
                record.remove(change.path)
            except ConfigRefused as refusal:
                problems.append(str(refusal))
        for path in plan.gone:
            record.remove(path)
        remaining = plan_unwiring(None, None, record)
        if not (remaining.changes or remaining.problems):  # no agent calls us any more, recorded or not
            problems += _stop_dreaming(home)
            launcher.remove_launcher(home)
    remove_empty_directories(made_directories)
    return tuple(problems)


def _stop_dreaming(home: str) -> list[str]:
    """Remove the dream schedule, because the timer calls the launcher; return why it failed."""
    from engram.dream import schedule
    from engram.errors import ScheduleRefused

    try:
        schedule.remove_schedules(home)
    except ScheduleRefused as refusal:
        return [str(refusal)]
    return []


def build_report(home: str, plan: WiringPlan, program: str, dry_run: bool, problems: tuple[str, ...]) -> WiringReport:
    """Build the report of a plan and its outcome."""
    from engram.install.agents import is_present, list_connectable

    looked_at = tuple(agent.name for agent in plan.agents)
    return WiringReport(
        project=plan.project, agents=looked_at, program=program, dry_run=dry_run,
        absent=tuple(
            agent.name for agent in list_connectable() if agent.name not in looked_at and not is_present(agent)
        ),
        files=list_rewritten_files(home, plan), problems=(*plan.problems, *problems),
        notes=tuple(_list_notes(plan)) if program else (), untrusted=plan.untrusted,
    )  # fmt: skip


def list_rewritten_files(home: str, plan: WiringPlan) -> tuple[RewrittenFile, ...]:
    """Return the planned changes for display, with secrets hidden."""
    from engram.platform.file_edit import format_diff

    mask = _load_redactor(home) if plan.changes else None
    return tuple(
        RewrittenFile(change.path, change.flavor, change.why, format_diff(change, mask)) for change in plan.changes
    )


def _record_change(record: InstallRecord, change: FileChange, project: str) -> None:
    """Record a change: the file is restored to its content without our entries."""
    from engram.clock import Clock
    from engram.install.install_record import InstalledFile, hash_content
    from engram.install.plan import find_recorded_file, strip_our_entries
    from engram.platform.file_edit import list_missing_directories

    assert change.after is not None
    previous = record.get(change.path)
    made_directories = previous.made if previous else tuple(list_missing_directories(change.path))
    written_hash, now = hash_content(change.after), Clock().now()
    if previous and change.before is not None and hash_content(change.before) == previous.wrote:
        record.add(
            InstalledFile(change.path, change.flavor, project, previous.before, written_hash, made_directories, now),
            None,
        )
        return
    before = change.before
    new_file = InstalledFile(change.path, change.flavor, project, None, written_hash, made_directories)
    wired_file = find_recorded_file(new_file, "engram")
    if before is not None and wired_file is not None:
        before = strip_our_entries(wired_file, before, record.read_original(previous) if previous else None)
    original_hash = None if before is None else hash_content(before)
    record.add(
        InstalledFile(change.path, change.flavor, project, original_hash, written_hash, made_directories, now), before
    )


def _list_notes(plan: WiringPlan) -> list[str]:
    import os

    from engram.install.own_command import fleeting, locate_program

    notes = []
    if os.environ.get("ENGRAM_STORE"):
        notes.append("ENGRAM_STORE is set only in this shell. Put it in config.toml so that agents use the same store.")
    if plan.project is None and fleeting(program := locate_program()):
        notes.append(
            f"{program} is temporary. Run `python3 dev.py install` in a permanent checkout, then run init again."
        )
    for agent in plan.agents:
        if agent.has_engram_plugin():
            notes.append(
                f"{agent.title} also has the Engram plugin. Keep one of them: `engram uninit --agent {agent.name}`."
            )
        if agent.note and plan.project is None:
            notes.append(agent.note)
    return notes


def _load_redactor(home: str) -> Callable[[list[str]], list[str]]:
    from engram.redaction import known_secrets

    return known_secrets.load_home_redactor(home, make=False).redact_many


def _find_project_root(project: str | None) -> str | None:
    """Return the checkout that contains a directory; the user's home directory is not a project."""
    import os

    from engram.errors import InvalidInput
    from engram.sessions.projects import find_git_location

    if project is None:
        return None
    if not os.path.isdir(project):
        raise InvalidInput(field="project", reason=f"{project!r} is not a directory.")
    root = find_git_location(project).checkout or os.path.realpath(project)
    if root == os.path.realpath(os.path.expanduser("~")):
        raise InvalidInput(
            field="project", reason="This is your home directory. Omit --project to connect your own agents."
        )
    return root
