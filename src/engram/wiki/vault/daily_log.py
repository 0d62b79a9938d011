"""Daily logs: one file per day, `daily/YYYY-MM-DD.md`, with an entry for each flushed piece of conversation.

People may edit them. An entry is identified by the comment under its heading; it is appended to its section once, and
nothing else in the file is touched.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from engram.clock import load_timezone, to_datetime
from engram.platform.text import escape_inline, to_one_line
from engram.platform.value import value
from engram.wiki.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

SESSIONS, MAINTENANCE = "Sessions", "Memory Maintenance"
_HEADER = "# Daily Log: {day}\n\n## " + SESSIONS + "\n\n## " + MAINTENANCE + "\n"
_ENTRY = re.compile(r"(?m)^### [^\n]*\n+<!-- engram ([^\n]*?) -->[ \t]*$")
_FACT = re.compile(r'(\w+)="([^"]*)"')
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_SECTION = re.compile(r"(?m)^## +(.+?)[ \t]*$")


@value
class LogEntry:
    """One entry of a log."""

    id: str
    session_id: str
    flavor: str
    project: str
    day: str
    title: str
    content: str  # as written, including edits

    @property
    def target(self) -> str:
        """The link to the entry."""
        return f"daily/{self.day}#{self.title}"


def local_day(at: int, timezone: str) -> str:
    """Return the local day of a time."""
    return to_datetime(at).astimezone(load_timezone(timezone)).date().isoformat()


def append_entries(vault: Vault, entries: list[Row], timezone: str, section: str = SESSIONS) -> list[str]:
    """Append the entries a log does not have yet; return the ids it now contains."""
    if not entries:
        return []
    target = f"daily/{entries[0]['day']}"
    with vault.hold_lock():
        while True:
            current_text = vault.read(target)
            text = current_text if current_text is not None else _HEADER.format(day=entries[0]["day"])
            entry_ids = {entry.id for entry in parse_entries(text, entries[0]["day"])}
            for row in entries:
                if row["id"] not in entry_ids:
                    text = _insert_entry(text, section, _format_entry(row, timezone))
            if text == current_text or vault.write(
                target, text, current_text
            ):  # otherwise a person saved it at this moment
                return [row["id"] for row in entries]


def parse_entries(text: str, day: str) -> Iterator[LogEntry]:
    """Yield the entries of a log in order."""
    heads = list(_ENTRY.finditer(text))
    for number, head in enumerate(heads):
        facts = dict(_FACT.findall(head[1]))
        rest = text[head.end() : heads[number + 1].start() if number + 1 < len(heads) else len(text)]
        end = re.search(r"(?m)^#{1,3} ", rest)
        yield LogEntry(
            id=facts.get("entry", ""), session_id=facts.get("session", ""), flavor=facts.get("flavor", ""),
            project=facts.get("project", ""), day=day, title=head[0].splitlines()[0].removeprefix("### ").strip(),
            content=(rest[: end.start()] if end else rest).strip(),
        )  # fmt: skip


def delete_sessions(vault: Vault, day: str, session_ids: set[str]) -> None:
    """Delete the entries of sessions from a log, including edits in them."""
    _delete_matching(vault, day, "session", session_ids)


def delete_entries(vault: Vault, day: str, entry_ids: set[str]) -> None:
    """Delete entries from a log, including edits in them."""
    _delete_matching(vault, day, "entry", entry_ids)


def _delete_matching(vault: Vault, day: str, fact: str, ids: set[str]) -> None:
    target = f"daily/{day}"
    with vault.hold_lock():
        while (current_text := vault.read(target)) is not None:
            text = _cut_entries(current_text, fact, ids)
            if text == current_text or vault.write(target, text, current_text):
                return


def text_outside_entries(text: str) -> str:
    """Return the text of a log outside its entries: what people wrote, and headings."""
    return _cut_entries(text, "entry", None)


def _cut_entries(text: str, fact: str, ids: set[str] | None) -> str:
    for head in reversed(list(_ENTRY.finditer(text))):
        if ids is None or dict(_FACT.findall(head[1])).get(fact) in ids:
            end = re.search(r"(?m)^#{1,3} ", text[head.end() :])
            text = text[: head.start()] + (text[head.end() + end.start() :] if end else "")
    return text


def list_days(vault: Vault) -> list[str]:
    """Return the days that have a log, oldest first."""
    names = (os.path.basename(target) for target in vault.iter_pages("daily"))
    return sorted(filter(is_day, names))


def is_day(name: str) -> bool:
    """Check whether a file name is a day."""
    return _DAY.fullmatch(name) is not None


def format_title(row: Row, timezone: str) -> str:
    """Return the heading of an entry."""
    hour = to_datetime(row["at"]).astimezone(load_timezone(timezone)).strftime("%H:%M")
    project = os.path.basename(row["project"]) if row["project"] else ""
    project_part = f" in {escape_inline(project, 60)}" if project else ""
    return f"Session ({hour}) {row['flavor']}{project_part}"


def link_to_title(day: str, title: str) -> str:
    """Return the link to an entry; nothing in its heading can end the link."""
    return f"daily/{day}#{to_one_line(re.sub(r'[][|#^]', ' ', title), 120)}"


def _format_entry(row: Row, timezone: str) -> str:
    facts = {"entry": row["id"], "session": row["session_id"], "flavor": row["flavor"], "project": row["project"]}
    comment = " ".join(f'{name}="{_escape_fact(fact)}"' for name, fact in facts.items())
    return f"### {format_title(row, timezone)}\n<!-- engram {comment} -->\n\n{_lower_headings(row['content'])}\n"


def _escape_fact(text: str) -> str:
    """Return a text that cannot end the comment it is written into."""
    return text.replace('"', "'").replace("--", "‑‑").replace("\n", " ")


def _lower_headings(content: str) -> str:
    """Lower the headings of an entry below ours, and escape its comments."""
    text = re.sub(r"(?m)^#{1,3}(?= )", "####", content.strip())
    return text.replace("<!--", "‹!--")


def _insert_entry(text: str, section: str, entry: str) -> str:
    """Append an entry to a section of a log; create the section if it was removed."""
    heads = list(_SECTION.finditer(text))
    position = next((number for number, head in enumerate(heads) if head[1] == section), None)
    if position is None:
        return f"{text.rstrip()}\n\n## {section}\n\n{entry}"
    end = heads[position + 1].start() if position + 1 < len(heads) else len(text)
    before, after = text[:end].rstrip("\n"), text[end:]
    return f"{before}\n\n{entry}{chr(10) if after else ''}{after}"
