"""A pattern as a markdown file, for review in pull requests. Pure; the same pattern gives the same bytes."""

from __future__ import annotations

import re
from datetime import timezone

from engram.platform import text
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from engram.patterns.rules.catalog import Dossier, Pattern, PatternEvidence

_FIELD = re.compile(r"([a-z_]+): ?(.*)")
_SECTIONS = ("Rule", "Fix", "Evidence", "History")
_REQUIRED_FIELDS = ("id", "kind", "state", "scope")
ID = re.compile(r"[a-z0-9][a-z0-9-]{1,40}")


class InvalidCatalogFile(ValueError):
    """Raised for a file that is not a valid pattern, with line and reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


@value
class CatalogEntry:
    """The parts of a file that a person may change."""

    id: str
    kind: str
    state: str
    scope: str
    version: int  # rule version it was exported from; 0 if none
    title: str
    rule: str
    fix: str
    line: int = 1  # line where its rule begins


def pattern_file_name(pattern: str, title: str) -> str:
    """Return the file name of a pattern."""
    return f"{pattern}-{text.build_slug(title, 48) or 'pattern'}.md"


def file_heading(pattern: Pattern, with_evidence: bool) -> str:
    """Return the heading of a file: the title if evidence is included, else the rule, since titles quote sessions."""
    return text.to_one_line(pattern.title if with_evidence else pattern.rule, 200)


def render_pattern(dossier: Dossier, *, with_evidence: bool = False) -> str:
    """Render a pattern as a file; include quotes from sessions only if `with_evidence` is set."""
    pattern, last = dossier.pattern, dossier.versions[-1] if dossier.versions else None
    head = {
        "id": pattern.id, "kind": pattern.kind, "state": pattern.state, "scope": pattern.scope,
        "version": str(pattern.version), "into": pattern.merged_into or "", "author": last.author if last else "",
        "created": _format_time(pattern.first_at), "updated": _format_time(last.at if last else pattern.last_at),
        "flavors": ", ".join(pattern.flavors), "sessions": str(pattern.sessions),
    }  # fmt: skip
    lines = ["---", *(f"{name}: {field_text}" for name, field_text in head.items() if field_text), "---", ""]
    lines += [f"# {file_heading(pattern, with_evidence)}", "", "## Rule", "", *_escape_headings(pattern.rule), ""]
    lines += ["## Fix", "", *_escape_headings(pattern.fix), ""] if pattern.fix else []
    lines += ["## Evidence", "", _format_summary(dossier), ""]
    lines += (
        [*(_format_evidence(evidence) for evidence in dossier.evidence), ""]
        if with_evidence and dossier.evidence
        else []
    )
    lines += ["## History", "", *_format_history(dossier), ""] if dossier.versions else []
    return "\n".join(lines)


def parse_pattern(file_text: str) -> CatalogEntry:
    """Parse a pattern file; raise InvalidCatalogFile with line and reason if it is not valid."""
    lines = file_text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    head, body = _parse_head(lines)
    for name in _REQUIRED_FIELDS:
        if not head.get(name):
            raise InvalidCatalogFile(1, f"the field `{name}` is missing.")
    if not ID.fullmatch(head["id"]):
        raise InvalidCatalogFile(1, f"{text.to_one_line(head['id'], 40)!r} is not a pattern id.")
    version = head.get("version", "0")
    if not re.fullmatch(r"[0-9]{1,9}", version):
        raise InvalidCatalogFile(1, f"{text.to_one_line(version, 40)!r} is not a version number.")
    title = next((line[2:].strip() for line in lines[body:] if line.startswith("# ")), "")
    rule, at = _read_section(lines, body, "Rule")
    return CatalogEntry(
        id=head["id"], kind=head["kind"], state=head["state"], scope=head["scope"], version=int(version),
        title=title or head["id"], rule=rule, fix=_read_section(lines, body, "Fix")[0], line=at,
    )  # fmt: skip


def _parse_head(lines: list[str]) -> tuple[dict[str, str], int]:
    if lines[0].rstrip() != "---":
        raise InvalidCatalogFile(1, "the file does not start with --- and fields such as `id: …`.")
    head: dict[str, str] = {}
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() == "---":
            return head, number
        match = _FIELD.fullmatch(line.rstrip())
        if not match:
            raise InvalidCatalogFile(number, "the line is not a field such as `id: …`.")
        if match[1] in head:
            raise InvalidCatalogFile(number, f"the field `{match[1]}` occurs twice.")
        head[match[1]] = match[2].strip()
    raise InvalidCatalogFile(len(lines), "the fields do not end with ---.")


def _read_section(lines: list[str], body: int, name: str) -> tuple[str, int]:
    """Return the text under a heading and the line where it begins."""
    starts = [number for number, line in enumerate(lines) if number >= body and line.rstrip() == f"## {name}"]
    if len(starts) > 1:
        raise InvalidCatalogFile(starts[1] + 1, f"the section `{name}` occurs twice.")
    if not starts:
        return "", body + 1
    section_lines = []
    for line in lines[starts[0] + 1 :]:
        if line.startswith("## "):
            break
        section_lines.append(line[1:] if line.startswith(("\\#", "\\\\")) else line)
    return "\n".join(section_lines).strip(), starts[0] + 2


def _escape_headings(text: str) -> list[str]:
    """Escape lines that would be read as headings."""
    return [f"\\{line}" if line.startswith(("#", "\\")) else line for line in text.split("\n")]


def _format_summary(dossier: Dossier) -> str:
    pattern = dossier.pattern
    if not pattern.sessions:
        return "Not seen here yet."
    seen_words = f"{pattern.times} times in {pattern.sessions} sessions of {' and '.join(pattern.flavors)}"
    return f"Seen {seen_words}, from {_format_time(pattern.first_at)[:10]} to {_format_time(pattern.last_at)[:10]}."


def _format_evidence(evidence: PatternEvidence) -> str:
    quote = f" “{text.escape_inline(evidence.quote, 200)}”" if evidence.quote else ""
    return (
        f"- {_format_time(evidence.at)[:10]}, {evidence.flavor}, `{evidence.session_id}`: "
        f"{text.escape_inline(evidence.text, 240)}{quote}"
    )


def _format_history(dossier: Dossier) -> list[str]:
    return [
        f"- {rule_version.version}. {_format_time(rule_version.at)[:10]}, "
        f"{text.escape_inline(rule_version.author, 60)}: {rule_version.state}"
        + (f" ({text.escape_inline(rule_version.reason, 200)})" if rule_version.reason else "")
        for rule_version in dossier.versions
    ]


def _format_time(at: datetime) -> str:
    return at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
