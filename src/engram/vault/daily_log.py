"""Daily logs: one file a day, `daily/YYYY-MM-DD.md`, with an entry for each piece of conversation that was flushed.

People may edit them. An entry is known by the comment under its heading; it is put at the end of its section, once,
and nothing else of the file is touched.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from engram.clock import moment, zone
from engram.text import inline
from engram.value import value
from engram.vault.vault import Vault

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
class Entry:
    """One entry as it stands in a log."""

    id: str
    session_id: str
    flavor: str
    project: str
    day: str
    title: str
    content: str  # as it stands, somebody's edits included

    @property
    def target(self) -> str:
        """Return the link to it."""
        return f"daily/{self.day}#{self.title}"


def day_of(at: int, timezone: str) -> str:
    """Return the day a moment belongs to where the user lives."""
    return moment(at).astimezone(zone(timezone)).date().isoformat()


def append(vault: Vault, entries: list[Row], timezone: str, section: str = SESSIONS) -> list[str]:
    """Put entries of one day into its log, those that it does not hold yet; return the ids it now holds."""
    if not entries:
        return []
    target = f"daily/{entries[0]['day']}"
    with vault.alone():
        while True:
            seen = vault.read(target)
            text = seen if seen is not None else _HEADER.format(day=entries[0]["day"])
            held = {entry.id for entry in read(text, entries[0]["day"])}
            for row in entries:
                if row["id"] not in held:
                    text = _with(text, section, _shown(row, timezone))
            if text == seen or vault.write(target, text, seen):  # else a person saved it this very moment
                return [row["id"] for row in entries]


def read(text: str, day: str) -> Iterator[Entry]:
    """Yield the entries of a log in the order they stand."""
    heads = list(_ENTRY.finditer(text))
    for number, head in enumerate(heads):
        facts = dict(_FACT.findall(head[1]))
        rest = text[head.end() : heads[number + 1].start() if number + 1 < len(heads) else len(text)]
        end = re.search(r"(?m)^#{1,3} ", rest)
        yield Entry(
            id=facts.get("entry", ""), session_id=facts.get("session", ""), flavor=facts.get("flavor", ""),
            project=facts.get("project", ""), day=day, title=head[0].splitlines()[0].removeprefix("### ").strip(),
            content=(rest[: end.start()] if end else rest).strip(),
        )  # fmt: skip


def erase(vault: Vault, day: str, session_ids: set[str]) -> None:
    """Take the entries of sessions out of a log, with whatever somebody wrote into them."""
    _take_out(vault, day, "session", session_ids)


def remove(vault: Vault, day: str, entry_ids: set[str]) -> None:
    """Take entries out of a log, with whatever somebody wrote into them."""
    _take_out(vault, day, "entry", entry_ids)


def _take_out(vault: Vault, day: str, fact: str, named: set[str]) -> None:
    target = f"daily/{day}"
    with vault.alone():
        while (seen := vault.read(target)) is not None:
            text = _without(seen, fact, named)
            if text == seen or vault.write(target, text, seen):
                return


def outside(text: str) -> str:
    """Return what a log says outside of its entries: what people wrote, and its headings."""
    return _without(text, "entry", None)


def _without(text: str, fact: str, named: set[str] | None) -> str:
    for head in reversed(list(_ENTRY.finditer(text))):
        if named is None or dict(_FACT.findall(head[1])).get(fact) in named:
            end = re.search(r"(?m)^#{1,3} ", text[head.end() :])
            text = text[: head.start()] + (text[head.end() + end.start() :] if end else "")
    return text


def days(vault: Vault) -> list[str]:
    """Return the days that have a log, the oldest first."""
    names = (os.path.basename(target) for target in vault.pages("daily"))
    return sorted(filter(is_day, names))


def is_day(name: str) -> bool:
    """Tell whether a file is named like a day."""
    return _DAY.fullmatch(name) is not None


def _shown(row: Row, timezone: str) -> str:
    hour = moment(row["at"]).astimezone(zone(timezone)).strftime("%H:%M")
    project = os.path.basename(row["project"]) if row["project"] else ""
    where = f" in {inline(project, 60)}" if project else ""
    facts = {"entry": row["id"], "session": row["session_id"], "flavor": row["flavor"], "project": row["project"]}
    told = " ".join(f'{name}="{_fact(said)}"' for name, said in facts.items())
    return f"### Session ({hour}) {row['flavor']}{where}\n<!-- engram {told} -->\n\n{_below(row['content'])}\n"


def _fact(text: str) -> str:
    """Return a text that cannot end the comment it stands in."""
    return text.replace('"', "'").replace("--", "‑‑").replace("\n", " ")


def _below(content: str) -> str:
    """Return what an entry says, its own headings lower than ours, its comments none of ours."""
    text = re.sub(r"(?m)^#{1,3}(?= )", "####", content.strip())
    return text.replace("<!--", "‹!--")


def _with(text: str, section: str, entry: str) -> str:
    """Return a log with an entry at the end of a section, made if somebody took it out."""
    heads = list(_SECTION.finditer(text))
    place = next((number for number, head in enumerate(heads) if head[1] == section), None)
    if place is None:
        return f"{text.rstrip()}\n\n## {section}\n\n{entry}"
    end = heads[place + 1].start() if place + 1 < len(heads) else len(text)
    before, after = text[:end].rstrip("\n"), text[end:]
    return f"{before}\n\n{entry}{chr(10) if after else ''}{after}"
