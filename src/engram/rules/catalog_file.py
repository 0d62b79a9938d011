"""A pattern as a markdown file: what a pull request shows and changes. Pure; the same pattern gives the same bytes."""

from __future__ import annotations

import re
from datetime import timezone

from engram import text
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from engram.rules.catalog import Dossier, Evidence, Pattern

_FIELD = re.compile(r"([a-z_]+): ?(.*)")
_SECTIONS = ("Rule", "Fix", "Evidence", "History")
_NEEDED = ("id", "kind", "state", "scope")
ID = re.compile(r"[a-z0-9][a-z0-9-]{1,40}")


class Broken(ValueError):
    """A file that is not a pattern: where, and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


@value
class Entry:
    """What a file says that a person may change."""

    id: str
    kind: str
    state: str
    scope: str
    version: int  # of the catalog it was exported from; 0: none
    title: str
    rule: str
    fix: str
    line: int = 1  # where its rule begins


def file_name(pattern: str, title: str) -> str:
    """Return what the file of a pattern is called."""
    return f"{pattern}-{text.slug(title, 48) or 'pattern'}.md"


def heading(pattern: Pattern, with_evidence: bool) -> str:
    """Return what a file is called inside: a title quotes sessions, a rule was read by a person."""
    return text.one_line(pattern.title if with_evidence else pattern.rule, 200)


def render(found: Dossier, *, with_evidence: bool = False) -> str:
    """Return a pattern as a file; what was said in sessions only if it is asked for."""
    pattern, last = found.pattern, found.versions[-1] if found.versions else None
    head = {
        "id": pattern.id, "kind": pattern.kind, "state": pattern.state, "scope": pattern.scope,
        "version": str(pattern.version), "into": pattern.merged_into or "", "author": last.author if last else "",
        "created": _when(pattern.first_at), "updated": _when(last.at if last else pattern.last_at),
        "flavors": ", ".join(pattern.flavors), "sessions": str(pattern.sessions),
    }  # fmt: skip
    lines = ["---", *(f"{name}: {said}" for name, said in head.items() if said), "---", ""]
    lines += [f"# {heading(pattern, with_evidence)}", "", "## Rule", "", *_escaped(pattern.rule), ""]
    lines += ["## Fix", "", *_escaped(pattern.fix), ""] if pattern.fix else []
    lines += ["## Evidence", "", _summary(found), ""]
    lines += [*(_told(each) for each in found.evidence), ""] if with_evidence and found.evidence else []
    lines += ["## History", "", *_history(found), ""] if found.versions else []
    return "\n".join(lines)


def parse(said: str) -> Entry:
    """Return what a file says, or raise where and why it says nothing."""
    lines = said.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    head, body = _head(lines)
    for name in _NEEDED:
        if not head.get(name):
            raise Broken(1, f"it does not say its {name}.")
    if not ID.fullmatch(head["id"]):
        raise Broken(1, f"{text.one_line(head['id'], 40)!r} is no id.")
    version = head.get("version", "0")
    if not re.fullmatch(r"[0-9]{1,9}", version):
        raise Broken(1, f"{text.one_line(version, 40)!r} is no version.")
    title = next((line[2:].strip() for line in lines[body:] if line.startswith("# ")), "")
    rule, at = _section(lines, body, "Rule")
    return Entry(
        id=head["id"], kind=head["kind"], state=head["state"], scope=head["scope"], version=int(version),
        title=title or head["id"], rule=rule, fix=_section(lines, body, "Fix")[0], line=at,
    )  # fmt: skip


def _head(lines: list[str]) -> tuple[dict[str, str], int]:
    if lines[0].rstrip() != "---":
        raise Broken(1, "it does not begin with --- and fields like `id: …`.")
    head: dict[str, str] = {}
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() == "---":
            return head, number
        found = _FIELD.fullmatch(line.rstrip())
        if not found:
            raise Broken(number, "it is not a field like `id: …`.")
        if found[1] in head:
            raise Broken(number, f"{found[1]} is said twice.")
        head[found[1]] = found[2].strip()
    raise Broken(len(lines), "its fields do not end with ---.")


def _section(lines: list[str], body: int, name: str) -> tuple[str, int]:
    """Return what stands under a heading, and in which line it begins."""
    starts = [number for number, line in enumerate(lines) if number >= body and line.rstrip() == f"## {name}"]
    if len(starts) > 1:
        raise Broken(starts[1] + 1, f"there are two parts called {name}.")
    if not starts:
        return "", body + 1
    held = []
    for line in lines[starts[0] + 1 :]:
        if line.startswith("## "):
            break
        held.append(line[1:] if line.startswith(("\\#", "\\\\")) else line)
    return "\n".join(held).strip(), starts[0] + 2


def _escaped(said: str) -> list[str]:
    """Return lines of which none is taken for a heading of ours."""
    return [f"\\{line}" if line.startswith(("#", "\\")) else line for line in said.split("\n")]


def _summary(found: Dossier) -> str:
    pattern = found.pattern
    if not pattern.sessions:
        return "Not seen here yet."
    seen = f"{pattern.times} times in {pattern.sessions} sessions of {' and '.join(pattern.flavors)}"
    return f"Seen {seen}, from {_when(pattern.first_at)[:10]} to {_when(pattern.last_at)[:10]}."


def _told(each: Evidence) -> str:
    quoted = f" “{text.inline(each.quote, 200)}”" if each.quote else ""
    return f"- {_when(each.at)[:10]}, {each.flavor}, `{each.session_id}`: {text.inline(each.text, 240)}{quoted}"


def _history(found: Dossier) -> list[str]:
    return [
        f"- {each.version}. {_when(each.at)[:10]}, {text.inline(each.author, 60)}: {each.state}"
        + (f" ({text.inline(each.reason, 200)})" if each.reason else "")
        for each in found.versions
    ]


def _when(then: datetime) -> str:
    return then.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
