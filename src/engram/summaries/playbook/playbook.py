"""The playbook operation: the lines of each section with their evidence, and the page they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from engram.clock import load_timezone, to_datetime
from engram.errors import InvalidInput
from engram.evidence.decision_text import describe_decision, find_convention, is_put_as_question, keep_newest
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform import host, plain_json
from engram.platform.text import to_one_line
from engram.platform.value import value
from engram.sessions import checkouts, lifecycle, project_names
from engram.store import captures, episodes
from engram.summaries.playbook import hot_files
from engram.summaries.playbook.pitfalls import Pitfall, list_pitfalls
from engram.summaries.playbook.project_commands import ProjectCommand, list_project_commands

if TYPE_CHECKING:
    from engram.store.engine import Row

COMMANDS, CONVENTIONS, DECISIONS, PITFALLS = "commands", "conventions", "decisions", "pitfalls"
PLACES, TOGETHER, OPEN, PEOPLE = "places", "together", "open", "people"
HEADINGS = {
    COMMANDS: "Commands", CONVENTIONS: "Conventions", DECISIONS: "Decisions in force", PITFALLS: "Pitfalls",
    PLACES: "Where the work is", TOGETHER: "Files that change together", OPEN: "Open", PEOPLE: "Who works here",
}  # fmt: skip
_VERBS = {
    "setup": "Set up", "build": "Build", "test": "Test", "lint": "Lint", "run": "Run", "release": "Release",
}  # fmt: skip
_ITEMS = 200  # decisions and open items looked at
_MOST = {CONVENTIONS: 12, DECISIONS: 12, PITFALLS: 8, PLACES: 6, TOGETHER: 6, OPEN: 8}
_LONGEST = 300  # characters of a decision
_EVIDENCE = 3  # sessions named for a line
_BY_PERSON = ("rule", "correction", "answer")  # decisions in a person's own words
_RECENT = 45 * 86_400_000_000  # microseconds in which an open item is shown


@value
class PlaybookLine:
    """One line of a playbook with its evidence."""

    text: str
    note: str  # how often and when; "" if the text says it
    sessions: tuple[str, ...]  # ids of the sessions it comes from, newest first


@value
class Playbook:
    """What one must know to work on a project."""

    project: str
    name: str
    sections: dict[str, tuple[PlaybookLine, ...]]  # by section, in the order in which they are shown

    @property
    def text(self) -> str:
        """The page as markdown; empty if nothing is known."""
        blocks = [render_section(section, lines) for section, lines in self.sections.items() if lines]
        return "\n\n".join([f"# {self.name}", *blocks]) + "\n" if blocks else ""


def render_section(section: str, lines: tuple[PlaybookLine, ...]) -> str:
    """Return a section as markdown."""
    return "\n".join([f"## {HEADINGS[section]}", "", *(_render_line(line) for line in lines)])


def _render_line(line: PlaybookLine) -> str:
    evidence = ", ".join(f"`{session[:12]}`" for session in line.sessions[:_EVIDENCE])
    more = f" and {len(line.sessions) - _EVIDENCE} more" if len(line.sessions) > _EVIDENCE else ""
    notes = "; ".join(part for part in (line.note, f"{evidence}{more}" if evidence else "") if part)
    return f"- {line.text} ({notes})" if notes else f"- {line.text}"


@operation()
def get_playbook(
    hub: Hub,
    project: Annotated[str | None, Help("project by name or path; defaults to the current directory's")] = None,
) -> Playbook:
    """Show what one must know to work on a project: commands, conventions, decisions, pitfalls, what is open."""
    directory = None if project or hub.serving else host.get_working_directory()
    path = lifecycle.parse_project_filter(project) or (checkouts.find_project(hub, directory) if directory else "")
    if not path:
        raise InvalidInput(field="project", reason="No project given. Name one, by name or path.")
    return build_playbook(hub, path)


def build_playbook(hub: Hub, project: str) -> Playbook:
    """Compute the playbook of a project from its evidence."""
    changes = hot_files.list_changes(hub, project)
    day = _DayFormat(hub)
    decided = _list_decided(hub, project)
    conventions = {row["id"]: find_convention(row["text"]) for row in decided if _is_by_person(row)}
    standing = [{**row, "text": conventions[row["id"]]} for row in decided if conventions.get(row["id"])]
    others = [row for row in decided if not conventions.get(row["id"])]
    sections = {
        COMMANDS: [_write_command(command, day) for command in list_project_commands(hub, project)],
        CONVENTIONS: [_write_decision(row, day) for row in standing[: _MOST[CONVENTIONS]]],
        DECISIONS: [_write_decision(row, day) for row in others[: _MOST[DECISIONS]]],
        PITFALLS: [_write_pitfall(pitfall, day) for pitfall in list_pitfalls(hub, project, _MOST[PITFALLS])],
        PLACES: _write_places(changes),
        TOGETHER: _write_together(changes),
        OPEN: _write_open(hub, project, day),
        PEOPLE: _write_people(hub, project, day),
    }
    name = project_names.name_projects(hub).get(project) or project
    return Playbook(project=project, name=name, sections={key: tuple(lines) for key, lines in sections.items()})


class _DayFormat:
    """Formats times as days in the user's time zone."""

    def __init__(self, hub: Hub) -> None:
        self._zone = load_timezone(hub.settings.timezone)

    def __call__(self, at: int) -> str:
        return f"{to_datetime(at).astimezone(self._zone):%Y-%m-%d}"


def _write_command(command: ProjectCommand, day: _DayFormat) -> PlaybookLine:
    where = f" in `{command.directory}/`" if command.directory else ""
    what = _VERBS[command.purpose] + ("" if command.is_whole else " a part")
    passed = f"passed {_times(command.passed)}, last {day(command.passed_at)}" if command.passed else ""
    failed = f"failed {_times(command.failed)}" if command.failed else ""
    counts = ", ".join(part for part in (passed, failed) if part) or f"ran {_times(command.runs)}, result unknown"
    return PlaybookLine(text=f"{what}: `{command.command}`{where}", note=counts, sessions=command.sessions)


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _list_decided(hub: Hub, project: str) -> list[Row]:
    """Return the decisions in force, newest first, each once."""
    rows = episodes.list_items(hub.engine, "decision", _ITEMS, project=project, in_force=True)
    stated = [row for row in rows if not is_put_as_question(row["text"])]
    return keep_newest(stated, lambda row: str(row["text"]))


def _is_by_person(row: Row) -> bool:
    return plain_json.loads(row["facts"])["kind"] in _BY_PERSON


def _write_decision(row: Row, day: _DayFormat) -> PlaybookLine:
    shown = describe_decision(row["text"], plain_json.loads(row["facts"]).get("about", ""))
    return PlaybookLine(text=to_one_line(shown, _LONGEST), note=day(row["at"]), sessions=(row["session_id"],))


def _write_pitfall(pitfall: Pitfall, day: _DayFormat) -> PlaybookLine:
    failing = f" from `{pitfall.failing}`" if pitfall.failing else ""
    cause = f" Cause: {pitfall.cause}." if pitfall.cause else ""
    note = f"{len(pitfall.sessions)} sessions, last {day(pitfall.at)}"
    return PlaybookLine(text=f"`{pitfall.line}`{failing} → {pitfall.fix}.{cause}", note=note, sessions=pitfall.sessions)


def _write_places(changes: list[tuple[str, ...]]) -> list[PlaybookLine]:
    return [
        PlaybookLine(
            text=f"`{found.paths[0]}/`: {', '.join(found.paths[1:])}", note=f"{found.times} changes", sessions=()
        )
        for found in hot_files.list_directories(changes, _MOST[PLACES])
        if found.times > 1
    ]


def _write_together(changes: list[tuple[str, ...]]) -> list[PlaybookLine]:
    return [
        PlaybookLine(
            text=" and ".join(f"`{path}`" for path in found.paths), note=f"{found.times} of {found.of} changes",
            sessions=(),
        )
        for found in hot_files.list_changed_together(changes, _MOST[TOGETHER])
    ]  # fmt: skip


def _write_open(hub: Hub, project: str, day: _DayFormat) -> list[PlaybookLine]:
    rows = episodes.list_items(hub.engine, "open", _ITEMS, project=project, in_force=True, at_end=True)
    recent = [row for row in rows if row["at"] >= hub.now() - _RECENT] or rows[:3]
    return [
        PlaybookLine(text=to_one_line(row["text"], _LONGEST), note=day(row["at"]), sessions=(row["session_id"],))
        for row in {row["text"]: row for row in recent}.values()
    ][: _MOST[OPEN]]


def _write_people(hub: Hub, project: str, day: _DayFormat) -> list[PlaybookLine]:
    return [
        PlaybookLine(
            text=f"{row['flavor']}: {row['sessions']} session{'s' * (row['sessions'] != 1)}",
            note=f"last {day(row['last_at'])}" if row["last_at"] else "", sessions=(),
        )
        for row in captures.count_by_flavor(hub.engine, project)
    ]  # fmt: skip
