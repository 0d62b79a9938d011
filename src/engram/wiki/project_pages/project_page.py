"""The page of a project: its playbook in short, with links to what is known in detail."""

from __future__ import annotations

import re

from engram.platform.text import format_count
from engram.summaries.playbook import playbook
from engram.wiki.project_pages.changed_files import WorkDone, list_places
from engram.wiki.project_pages.decision_entries import IN_FORCE, DecisionEntry, is_settled
from engram.wiki.project_pages.line_sources import EntryLinks, LineSources
from engram.wiki.project_pages.page_draft import PROJECT, PageDraft
from engram.wiki.vault.page_text import escape_line, quote_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.hub import Hub
    from engram.summaries.playbook.playbook import Playbook, PlaybookLine

_LEAST_LINES = 3  # lines that make a page worth opening
_MOST_DECISIONS, _MOST_PLACES = 8, 6
_LONGEST = 300  # characters of a line
_WORKFLOW = re.compile(r"^(?:Commit [0-9a-f]+ on |Not finished: |Uncommitted changes)", re.IGNORECASE)
_QUESTION = re.compile(r"\?\s*(?:\([^)]*\))?$")


def build_project_page(
    hub: Hub, project: str, decisions: Sequence[DecisionEntry], work: Sequence[WorkDone], links: EntryLinks,
    others: Sequence[PageDraft],
) -> PageDraft | None:  # fmt: skip
    """Build the page of a project, unless there is nearly nothing to tell and no other page to link to."""
    book, sources = playbook.build_playbook(hub, project), LineSources(links)
    sections = _list_sections(book, decisions, work, sources)
    if not others and not _is_telling(sections):
        return None
    people = ", ".join(f"{line.text} ({line.note})" if line.note else line.text for line in _get(book, playbook.PEOPLE))
    where = escape_line(project, 200)
    worked = f" Agents at work: {escape_line(people, 300)}." if people else ""
    counted = ", ".join(
        format_count(len(lines), word) for heading, lines in sections for word in _COUNTED.get(heading, ())
    )
    return PageDraft(
        kind=PROJECT, key=PROJECT, title=book.name, file_title=book.name,
        summary=f"Project: {counted or 'decisions'}", top=f"The project at `{where}`.{worked}",
        sections=tuple(sections), sources=sources.names, days=sources.days,
        related=tuple(page.key for page in others),
    )  # fmt: skip


_COUNTED = {
    playbook.HEADINGS[playbook.COMMANDS]: ("command",), playbook.HEADINGS[playbook.CONVENTIONS]: ("convention",),
    playbook.HEADINGS[playbook.PITFALLS]: ("pitfall",), playbook.HEADINGS[playbook.OPEN]: ("open item",),
}  # fmt: skip


def _is_telling(sections: Sequence[tuple[str, tuple[str, ...]]]) -> bool:
    """Return whether there is more to tell than which files were changed and what is open."""
    lines = {heading: len(written) for heading, written in sections}
    lines.pop(playbook.HEADINGS[playbook.PLACES], None)
    left = lines.pop(playbook.HEADINGS[playbook.OPEN], 0)
    return bool(lines) and sum(lines.values()) + left >= _LEAST_LINES


def _get(book: Playbook, section: str) -> tuple[PlaybookLine, ...]:
    return book.sections.get(section, ())


def _list_sections(
    book: Playbook, decisions: Sequence[DecisionEntry], work: Sequence[WorkDone], sources: LineSources
) -> list[tuple[str, tuple[str, ...]]]:
    conventions = [line for line in _get(book, playbook.CONVENTIONS) if is_settled(line.text)]
    lines = {
        playbook.COMMANDS: [_write_line(line, sources) for line in _get(book, playbook.COMMANDS)],
        playbook.CONVENTIONS: [_write_quote(line, sources) for line in conventions],
        playbook.DECISIONS: _list_decisions(decisions, sources),
        playbook.PITFALLS: [_write_line(line, sources) for line in _get(book, playbook.PITFALLS)],
        playbook.PLACES: [f"- {escape_line(place, _LONGEST)}" for place in list_places(work, _MOST_PLACES)],
        playbook.OPEN: [_write_quote(line, sources) for line in _get(book, playbook.OPEN) if is_left_open(line.text)],
    }
    return [(playbook.HEADINGS[section], tuple(written)) for section, written in lines.items() if written]


def is_left_open(text: str) -> bool:
    """Return whether an open item is about the work, not about the state of a branch or a question back."""
    return not _WORKFLOW.match(text) and not _QUESTION.search(text)


def _list_decisions(decisions: Sequence[DecisionEntry], sources: LineSources) -> list[str]:
    chosen = [entry for entry in decisions if entry.status == IN_FORCE and not entry.is_rule]
    return [
        f"- {sources.cite(entry.session_id, entry.at)}: {quote_line(entry.text, _LONGEST)}"
        for entry in chosen[:_MOST_DECISIONS]
    ]


def _write_line(line: PlaybookLine, sources: LineSources) -> str:
    notes = "; ".join(part for part in (line.note, sources.cite_sessions(line.sessions)) if part)
    return f"- {escape_line(line.text, _LONGEST)}{f' ({notes})' if notes else ''}"


def _write_quote(line: PlaybookLine, sources: LineSources) -> str:
    return f"- {quote_line(line.text, _LONGEST)} ({sources.cite_sessions(line.sessions) or line.note})"
