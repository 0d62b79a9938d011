"""The pages of a project's subsystems: what was done there, what was decided, what broke, what is open."""

from __future__ import annotations

import re
from collections import Counter

from engram.evidence.content_words import extract_content_words
from engram.platform.text import format_count
from engram.wiki.project_pages.line_sources import EntryLinks, LineSources
from engram.wiki.project_pages.page_draft import DECISIONS, PROJECT, SUBSYSTEM, PageDraft
from engram.wiki.vault.page_text import escape_line, quote_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engram.store.engine import Row
    from engram.wiki.project_pages.changed_files import WorkDone
    from engram.wiki.project_pages.decision_entries import DecisionEntry
    from engram.wiki.project_pages.subsystems import Subsystem

_MOST = {"work": 20, "decisions": 12, "causes": 10, "files": 10, "open": 8}  # lines of a section
_LONGEST = 300  # characters of a line
_LEAST_FILES = 2  # files that several sessions changed
_MAIN_SHARE = 0.5  # of an episode's files in a subsystem that make its decisions about it
_TITLE_WORDS = 3  # words of a title that tells what was done
_TALK = re.compile(
    r"^(?:yes|why|still|is|are|do|does|did|should(?:n'?t)?|can|could|but|don'?t|continue|<|commit\b)", re.IGNORECASE
)  # to the agent
_CAUSE = re.compile(
    r"\b(?:causes?d?|because|root|never|only|wrong|bug|before|instead of|fails?|breaks?|missing|deadlock)\b",
    re.IGNORECASE,
)
_NO_CAUSE = re.compile(r"^(?:my take|no\b|nothing|here|the issue's own|reuse angle|found it\b)", re.IGNORECASE)


def build_subsystem_pages(
    name: str, subsystems: Sequence[Subsystem], decisions: Sequence[DecisionEntry], open_rows: Sequence[Row],
    links: EntryLinks,
) -> list[PageDraft]:  # fmt: skip
    """Build the pages of the subsystems of a project that have more to tell than a list of files."""
    pages = [_build_page(name, subsystem, subsystems, decisions, open_rows, links) for subsystem in subsystems]
    built = {page.key for page in pages if page is not None}
    return [
        PageDraft(**{**vars(page), "related": tuple(key for key in page.related if _is_kept(key, built))})
        for page in pages if page is not None
    ]  # fmt: skip


def _is_kept(key: str, built: set[str]) -> bool:
    return not key.startswith(f"{SUBSYSTEM} ") or key in built


def _build_page(
    name: str, subsystem: Subsystem, all_subsystems: Sequence[Subsystem], decisions: Sequence[DecisionEntry],
    open_rows: Sequence[Row], links: EntryLinks,
) -> PageDraft | None:  # fmt: skip
    sources = LineSources(links)
    done = _list_done(subsystem, sources)
    files = _list_files(subsystem)
    if not done or len(files) < _LEAST_FILES:
        return None
    own = _find_own_places(subsystem)
    decided = [entry for entry in decisions if entry.place in own and entry.status == "in force"]
    sections = (
        ("What was done", tuple(done)),
        ("Decisions", tuple(_write_decision(entry, sources) for entry in decided[: _MOST["decisions"]])),
        ("What broke and why", tuple(_list_causes(subsystem, own, sources))),
        ("Open", tuple(_write_open(row, sources) for row in open_rows if (row["capture"], row["episode"]) in own)),
        ("Files", tuple(files)),
    )
    title = " and ".join(subsystem.directories)
    where = ", ".join(f"`{directory}/`" for directory in subsystem.directories)
    sessions = len({item.session_id for item in subsystem.work})
    days = [links.format_day(item.at) for item in (subsystem.work[-1], subsystem.work[0])]
    span = f"on {days[0]}" if days[0] == days[1] else f"from {days[0]} to {days[1]}"
    part = "A part" if len(subsystem.directories) == 1 else "Directories that change together: a part"
    return PageDraft(
        kind=SUBSYSTEM, key=build_key(subsystem), title=f"{name}: {title}", file_title=f"{name} {title}",
        summary=f"{part} of {escape_line(name, 80)}; last: {_find_last(subsystem)}",
        top=f"{part} of {escape_line(name, 80)} ({where}), changed in {format_count(sessions, 'session')} {span}.",
        sections=tuple((heading, lines[: _MOST["work"]]) for heading, lines in sections),
        sources=sources.names, days=sources.days,
        related=(PROJECT, DECISIONS, *_find_related(subsystem, all_subsystems)),
    )  # fmt: skip


def build_key(subsystem: Subsystem) -> str:
    """Return the key of a subsystem's page: its directory that comes first, which it keeps when others join."""
    return f"{SUBSYSTEM} {subsystem.directories[0]}"


def _find_last(subsystem: Subsystem) -> str:
    """Return what was done last in a subsystem."""
    return quote_line(next(filter(None, map(_name_work, subsystem.work)), ""), 120)


def _name_work(item: WorkDone) -> str:
    """Return what an episode did: its last commit, or its title if that tells something."""
    subject = next((subject for subject in item.commits if len(subject.split()) > 1), "")
    telling = len(extract_content_words(item.title)) >= _TITLE_WORDS
    return subject or (item.title if telling and not _TALK.match(item.title) else "")


def _list_done(subsystem: Subsystem, sources: LineSources) -> list[str]:
    """Return a line for each piece of work, newest first; a commit that was amended is one piece."""
    rounds: dict[str, list[WorkDone]] = {}
    for item in subsystem.work:
        if title := _name_work(item):
            rounds.setdefault(title.replace("!:", ":"), []).append(item)
    return [_write_done(title, items, sources) for title, items in [*rounds.items()][: _MOST["work"]]]


def _write_done(title: str, items: Sequence[WorkDone], sources: LineSources) -> str:
    newest = items[0]
    more = f"; {format_count(len(items) - 1, 'earlier round')}" if len(items) > 1 else ""
    result = f", {newest.result}" if newest.result else ""
    return f"- {sources.cite(newest.session_id, newest.at)}{result}: {escape_line(title, 160)}{more}"


def _find_own_places(subsystem: Subsystem) -> set[tuple[int, int]]:
    """Return the episodes that were mostly about a subsystem."""
    return {
        item.place
        for item in subsystem.work
        if sum(map(subsystem.contains, item.files)) >= _MAIN_SHARE * len(item.files)
    }


def _write_decision(entry: DecisionEntry, sources: LineSources) -> str:
    return f"- {sources.cite(entry.session_id, entry.at)}: {quote_line(entry.text, _LONGEST)}"


def _list_causes(subsystem: Subsystem, own: set[tuple[int, int]], sources: LineSources) -> list[str]:
    seen: dict[str, str] = {}
    for item in subsystem.work:
        for cause in item.causes if item.place in own else ():
            if _CAUSE.search(cause) and not _NO_CAUSE.match(cause):
                words = " ".join(sorted(extract_content_words(cause))[:8])
                seen.setdefault(words, f"- {sources.cite(item.session_id, item.at)}: {quote_line(cause, _LONGEST)}")
    return [*seen.values()][: _MOST["causes"]]


def _write_open(row: Row, sources: LineSources) -> str:
    return f"- {sources.cite(row['session_id'], row['at'])}: {quote_line(row['text'], _LONGEST)}"


def _list_files(subsystem: Subsystem) -> list[str]:
    """Return the files changed most, if they were changed more than once."""
    sessions: dict[str, set[str]] = {}
    for item in subsystem.work:
        for path in filter(subsystem.contains, item.files):
            sessions.setdefault(path, set()).add(item.session_id)
    counted = Counter({path: len(ids) for path, ids in sessions.items() if len(ids) > 1})
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[: _MOST["files"]]
    return [f"- `{path}`: changed in {format_count(number, 'session')}" for path, number in ranked]


def _find_related(subsystem: Subsystem, others: Iterable[Subsystem]) -> list[str]:
    """Return the keys of the subsystems that share work with one."""
    places = {item.place for item in subsystem.work}
    shared = {
        build_key(other): len(places & {item.place for item in other.work}) for other in others if other != subsystem
    }
    return sorted((key for key, number in shared.items() if number > 1), key=lambda key: -shared[key])[:6]
