"""Init: make every agent on this machine call us; uninit: leave every file as it was."""

from __future__ import annotations

from engram.operation import Help, operation
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Annotated

    from engram.files.change import Change
    from engram.hub import Hub
    from engram.wiring.plan import Plan
    from engram.wiring.record import Record


@value
class Rewritten:
    """One file that was changed, or would be."""

    path: str
    flavor: str
    why: str  # what of ours it is about
    diff: str


@value
class Wired:
    """What wiring or unwiring came to."""

    project: str | None  # None: for the user, everywhere
    agents: tuple[str, ...]  # those that were looked at
    absent: tuple[str, ...]  # those we could wire but that are not here
    program: str  # what the agents call
    files: tuple[Rewritten, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    untrusted: tuple[str, ...]  # Codex' hooks that wait for its user's word
    dry_run: bool


@operation(writes=True, agent=False)
def init(
    hub: Hub,
    project: Annotated[
        str | None, Help("wire this project only, for all who work there; else the user's agents")
    ] = None,
    agents: Annotated[list[str] | None, Help("only these agents; without any, all that are here")] = None,
    trust_codex: Annotated[bool, Help("also tell Codex to trust our hooks")] = False,
    dry_run: Annotated[bool, Help("show what would be written, but write nothing")] = False,
) -> Wired:
    """Make the agents call Engram: hooks and MCP server, beside what is there."""
    home = hub.settings.home
    plan, program = planned(home, project, agents, trust_codex)
    return told(home, plan, program, dry_run, () if dry_run else carry_out(home, plan))


@operation(writes=True, agent=False)
def uninit(
    hub: Hub,
    project: Annotated[str | None, Help("unwire this project only; else the user's agents")] = None,
    agents: Annotated[list[str] | None, Help("only these agents; without any, all")] = None,
    dry_run: Annotated[bool, Help("show what would be written, but write nothing")] = False,
) -> Wired:
    """Take Engram out of the agents' files again; what others wrote there stays."""
    home = hub.settings.home
    plan = unplanned(home, project, agents)
    return told(home, plan, "", dry_run, () if dry_run else take_back(home, plan))


def planned(home: str, project: str | None, agents: list[str] | None, trust_codex: bool) -> tuple[Plan, str]:
    """Return what wiring would change, and the program the agents will call."""
    from engram.errors import InvalidInput
    from engram.wiring.command import located
    from engram.wiring.launcher import called
    from engram.wiring.plan import wiring

    if project is not None and trust_codex:
        reason = "whoever works in a project trusts its hooks for themselves: codex asks them when it starts there."
        raise InvalidInput(field="trust_codex", reason=reason)
    program = called(home) if project is None else located()
    return wiring(agents, _root(project), program, trust_codex), program


def unplanned(home: str, project: str | None, agents: list[str] | None) -> Plan:
    """Return what unwiring would change."""
    from engram.wiring.plan import unwiring
    from engram.wiring.record import Record

    return unwiring(agents, _root(project), Record(home))


def carry_out(home: str, plan: Plan) -> tuple[str, ...]:
    """Write what was planned, each file recorded before it is touched; return what could not be written."""
    from engram.errors import ConfigRefused
    from engram.files.change import write
    from engram.wiring import launcher
    from engram.wiring.record import held

    problems = []
    with held(home) as record:
        if plan.project is None and plan.agents:
            launcher.write(home)
        for change in plan.changes:
            known = record.of(change.path)
            try:
                _note(record, change, plan.project or "")
                write(change)
            except ConfigRefused as refusal:
                problems.append(str(refusal))
                record.put_back(change.path, known)
    return tuple(problems)


def take_back(home: str, plan: Plan) -> tuple[str, ...]:
    """Write what was there before us; return what could not be written."""
    from engram.errors import ConfigRefused
    from engram.files.change import drop_directories, write
    from engram.wiring import launcher
    from engram.wiring.plan import unwiring
    from engram.wiring.record import held

    problems: list[str] = []
    made: set[str] = set()
    with held(home) as record:
        for change in plan.changes:
            written = record.of(change.path)
            try:
                write(change)
                if change.after is None and written:
                    made |= set(written.made)
                record.drop(change.path)
            except ConfigRefused as refusal:
                problems.append(str(refusal))
        for path in plan.gone:
            record.drop(path)
        left = unwiring(None, None, record)
        if not (left.changes or left.problems):  # nobody calls us any more, recorded or not
            problems += _stopped(home)
            launcher.remove(home)
    drop_directories(made)
    return tuple(problems)


def _stopped(home: str) -> list[str]:
    """Let the home no longer dream by itself, since the timer calls the launcher; return why not."""
    from engram.dream import schedule
    from engram.errors import ScheduleRefused

    try:
        schedule.take_out(home)
    except ScheduleRefused as refusal:
        return [str(refusal)]
    return []


def told(home: str, plan: Plan, program: str, dry_run: bool, problems: tuple[str, ...]) -> Wired:
    """Return a plan and what came of it as a value to show."""
    from engram.wiring.agents import AGENTS, present

    looked_at = tuple(agent.flavor for agent in plan.agents)
    return Wired(
        project=plan.project, agents=looked_at, program=program, dry_run=dry_run,
        absent=tuple(agent.flavor for agent in AGENTS if agent.flavor not in looked_at and not present(agent)),
        files=rewritten(home, plan), problems=(*plan.problems, *problems),
        notes=tuple(_notes(plan)) if program else (), untrusted=plan.untrusted,
    )  # fmt: skip


def rewritten(home: str, plan: Plan) -> tuple[Rewritten, ...]:
    """Return the planned changes as people see them, other people's secrets hidden."""
    from engram.files.change import diff

    mask = _mask(home) if plan.changes else None
    return tuple(Rewritten(each.path, each.flavor, each.why, diff(each, mask)) for each in plan.changes)


def _note(record: Record, change: Change, project: str) -> None:
    """Record a change: what the file goes back to is what it held without us."""
    from engram.clock import Clock
    from engram.files.change import missing_directories
    from engram.wiring.plan import place_of, without_us
    from engram.wiring.record import Written, digest

    assert change.after is not None
    known = record.of(change.path)
    made = known.made if known else tuple(missing_directories(change.path))
    wrote, now = digest(change.after), Clock().now()
    if known and change.before is not None and digest(change.before) == known.wrote:
        record.note(Written(change.path, change.flavor, project, known.before, wrote, made, now), None)
        return
    before = change.before
    fresh = Written(change.path, change.flavor, project, None, wrote, made)
    place = place_of(fresh, "engram")
    if before is not None and place is not None:
        before = without_us(place, before, record.before(known) if known else None)
    kept = None if before is None else digest(before)
    record.note(Written(change.path, change.flavor, project, kept, wrote, made, now), before)


def _notes(plan: Plan) -> list[str]:
    import os

    from engram.wiring.command import fleeting, located
    from engram.wiring.health import packaged

    notes = []
    if os.environ.get("ENGRAM_STORE"):
        notes.append(
            "ENGRAM_STORE is set here; an agent started without it remembers elsewhere: put it in config.toml."
        )
    if plan.project is None and fleeting(ours := located()):
        notes.append(
            f"{ours} will not stay there: run `python3 dev.py install` in a checkout that stays, then init again."
        )
    for agent in plan.agents:
        if packaged(agent):
            notes.append(
                f"{agent.title} has Engram as a plugin too; one is enough: `engram uninit --agent {agent.flavor}`."
            )
        if agent.note and plan.project is None:
            notes.append(agent.note)
    return notes


def _mask(home: str) -> Callable[[list[str]], list[str]]:
    from engram.redaction import known_secrets

    return known_secrets.redactor(home, make=False).clean_many


def _root(project: str | None) -> str | None:
    """Return the checkout a directory lies in; a home directory is no project."""
    import os

    from engram.coordination.projects import place
    from engram.errors import InvalidInput

    if project is None:
        return None
    if not os.path.isdir(project):
        raise InvalidInput(field="project", reason=f"{project!r} is not a directory.")
    root = place(project).checkout or os.path.realpath(project)
    if root == os.path.realpath(os.path.expanduser("~")):
        raise InvalidInput(field="project", reason="that is your home; leave --project out to wire it.")
    return root
