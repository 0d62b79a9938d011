"""The pages of errors that came again or cost much, and whose fix or cause is known."""

from __future__ import annotations

import re

from engram.evidence import error_lines, task_commands
from engram.platform import plain_json
from engram.platform.text import format_count, to_one_line
from engram.store import session_errors
from engram.wiki.project_pages.line_sources import EntryLinks, LineSources
from engram.wiki.project_pages.page_draft import ERROR, PROJECT, PageDraft
from engram.wiki.vault.page_text import escape_line, quote_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engram.hub import Hub
    from engram.store.engine import Row

_LEAST_SESSIONS, _COSTLY = 2, 4  # sessions, or occurrences in one
_MOST = 40  # pages of a project
_MOST_SEEN, _MOST_FIXES = 8, 3  # lines of a page
_READ = 100  # of the times an error was seen, for its causes, fixes and commands; all of them count
_VAGUE = re.compile(  # differs each time it is seen
    r"^(?:bash: )?(?:no such file or directory|indentationerror\b.*|syntaxerror\b.*|command not found|"
    r"permission denied|exit(?:ed)?(?: with)?(?: code)? <?n?>?|killed|terminated|timed? ?out|.{0,8})$"
)
_SHELL = re.compile(r"^(?:[\w./\\-]*(?:bash|zsh|sh|pwsh|python3?|node)(?:\.exe)?: (?:line \d+: )?|(?:E|>|-) +)")
_CD = re.compile(r"^cd (?P<directory>[^\s;&|]+)\s*(?:&&|;)\s*")
_INLINE = re.compile(r"<<|(?:python3?|node|perl|ruby)\s+-[ce]\b|\bcat >")
_COMMAND = 160  # characters
_KEPT = ("files changed", "setup")


def build_error_pages(hub: Hub, project: str, name: str, links: EntryLinks) -> list[PageDraft]:
    """Build the pages of a project's errors, the most frequent first."""
    groups: dict[str, list[Row]] = {}
    for row in _drop_repeated(session_errors.list_by_project(hub.engine, project)):
        if row["signature"] and not _VAGUE.match(row["signature"]) and not error_lines.is_test_failure(row["line"]):
            groups.setdefault(row["signature"], []).append({**row, "facts": plain_json.loads(row["facts"])})
    pages = [(_weigh(rows), _build_page(project, name, rows, links)) for rows in groups.values() if _is_costly(rows)]
    ranked = sorted(((weight, page) for weight, page in pages if page), key=lambda item: (-item[0], item[1].title))
    return [page for _, page in ranked[:_MOST]]


def _drop_repeated(rows: Iterable[Row]) -> list[Row]:
    """Return each error once: a fork of a session repeats what happened before it."""
    return list({(row["at"], row["signature"]): row for row in rows}.values())


def _count_sessions(rows: Sequence[Row]) -> int:
    return len({row["session_id"] for row in rows})


def _weigh(rows: Sequence[Row]) -> int:
    return sum(int(row["facts"]["times"]) for row in rows)


def _is_costly(rows: Sequence[Row]) -> bool:
    return _count_sessions(rows) >= _LEAST_SESSIONS or _weigh(rows) >= _COSTLY


def _build_page(project: str, name: str, rows: Sequence[Row], links: EntryLinks) -> PageDraft | None:
    by_time = sorted(rows, key=lambda row: -row["at"])
    newest_first = by_time[:_READ]
    sources = LineSources(links)
    fixes = _list_fixes(newest_first, project, sources)
    causes = _list_causes(newest_first, sources)
    if not fixes and not causes:
        return None
    title = _name_error([row["line"] for row in newest_first])
    first = by_time[_READ:][-1:]  # to say since when
    seen = [f"- {sources.cite(row['session_id'], row['at'])}{_write_times(row)}" for row in newest_first + first]
    sections = (
        ("Fix", tuple(fixes)), ("Cause", tuple(causes)), ("When it happens", tuple(_list_commands(newest_first))),
        ("Seen", tuple(dict.fromkeys(seen))[:_MOST_SEEN]),
    )  # fmt: skip
    sessions, times = format_count(_count_sessions(rows), "session"), format_count(_weigh(rows), "time")
    known = "fix known" if fixes else "cause known"
    return PageDraft(
        kind=ERROR, key=f"{ERROR} {rows[0]['signature']}", title=title, file_title=f"{name} {title}",
        summary=f"Error in {escape_line(name, 80)}, {sessions}, {known}",
        top=f"An error in {escape_line(name, 80)}, seen {times} in {sessions}: {quote_line(rows[-1]['line'], 240)}",
        sections=sections, sources=sources.names, days=sources.days, related=(PROJECT,),
    )  # fmt: skip


def _name_error(lines: Sequence[str]) -> str:
    """Return the message of an error, newest first, without what a shell adds and what differs each time."""
    newest, *others = [_SHELL.sub("", line.strip()).split() for line in lines]
    common = [word if all(word in other for other in others) else "…" for word in newest]
    told = [word for place, word in enumerate(common) if word != "…" or common[place - 1 : place] != ["…"]]
    return to_one_line(" ".join(told), 80).strip(" .:")


def _write_times(row: Row) -> str:
    times = int(row["facts"]["times"])
    return f", {times} times" if times > 1 else ""


def _list_causes(rows: Iterable[Row], sources: LineSources) -> list[str]:
    causes = {row["facts"]["cause"]: row for row in rows if row["facts"]["cause"]}
    return [
        f"- {quote_line(cause, 300)} ({sources.cite(row['session_id'], row['at'])})" for cause, row in causes.items()
    ][:_MOST_FIXES]


def _list_commands(rows: Iterable[Row]) -> list[str]:
    """Return the commands that failed, of each shape the newest."""
    commands = {row["shape"]: row["facts"]["command"] for row in reversed([*rows]) if row["shape"]}
    return [f"- {_quote_command(command)}" for command in commands.values() if command][:_MOST_FIXES]


def _list_fixes(rows: Sequence[Row], project: str, sources: LineSources) -> list[str]:
    """Return what ended an error, each way once, the one that helped in most sessions first."""
    helped: dict[str, list[Row]] = {}
    for row in rows:
        if row["fix"] and row["verified"] and (fix := _write_fix(row, project)):
            helped.setdefault(fix, []).append(row)
    lasting = [(fix, items) for fix, items in helped.items() if _holds(items)]
    ranked = sorted(lasting, key=lambda item: -_count_sessions(item[1]))[:_MOST_FIXES]
    return [f"- {fix} ({_cite_newest(items, sources)})" for fix, items in ranked]


def _cite_newest(rows: Sequence[Row], sources: LineSources) -> str:
    newest = sources.cite(rows[0]["session_id"], rows[0]["at"])
    count = _count_sessions(rows)
    return newest if count == 1 else f"{newest} and {format_count(count - 1, 'other session')}"


def _holds(helped: Sequence[Row]) -> bool:
    """Return whether a fix is more than what ended one mistake in one change."""
    changed = helped[0]["fix_kind"] == "files changed"
    return not changed or _count_sessions(helped) >= _LEAST_SESSIONS or bool(helped[0]["facts"]["cause"])


def _write_fix(row: Row, project: str) -> str:
    facts = row["facts"]
    if row["fix_kind"] in _KEPT:
        return escape_line(row["fix"], 240)
    failing, passing = facts["command"], facts["passing"]
    if row["fix_kind"] != "command replaced" or not passing or _INLINE.search(passing) or _INLINE.search(failing):
        return ""
    if directory := _find_directory(failing, passing, project):
        return directory
    if not all(map(task_commands.is_repeatable, (failing, passing))):
        return ""
    return f"Run {_quote_command(passing)} instead of {_quote_command(failing)}"


def _quote_command(command: str) -> str:
    """Return a command on one line as code."""
    return escape_line("`" + to_one_line(command.replace("`", "'"), _COMMAND) + "`", _COMMAND + 2)


def _find_directory(failing: str, passing: str, project: str) -> str:
    """Return where to run a command, if being elsewhere is all that differs from the one that failed."""
    moved = _CD.match(passing)
    bare = passing[moved.end() :] if moved else ""
    if not moved or _CD.match(failing) or bare.split()[:2] != failing.split()[:2]:
        return ""
    directory = task_commands.locate(moved["directory"].strip("'\""), project)
    if directory is None:
        return ""
    return f"Run it in `{directory}/`" if directory else "Run it in the root of the repository"
