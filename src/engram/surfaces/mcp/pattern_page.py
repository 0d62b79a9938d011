"""Patterns as an agent is shown them: what comes from transcripts is quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engram.text import inline, one_line, quote

if TYPE_CHECKING:
    from engram.rules.catalog import Dossier, Pattern


def listed(found: Pattern) -> dict[str, Any]:
    """Return a pattern as facts for a list."""
    # What nobody approved comes out of transcripts: it must not pass for a rule.
    told = {"rule": found.rule, "fix": found.fix} if found.state == "approved" else {}
    return {
        "id": found.id, "state": found.state, "kind": found.kind, "title": one_line(found.title, 200), **told,
        "scope": found.scope, "sessions": found.sessions, "version": found.version,
    }  # fmt: skip


def _standing(pattern: Pattern) -> str:
    if pattern.state != "approved":
        return f"Words proposed for a rule; nobody {'approves it any more' if pattern.version else 'approved it'}"
    return f"Rule (version {pattern.version}, {inline(pattern.scope, 200)})"


def whole(found: Dossier) -> str:
    """Return a pattern with its evidence, its versions and its effect as a page."""
    pattern = found.pattern
    lines = [
        f"# {pattern.id} ({pattern.kind}, {pattern.state})", quote(pattern.title), "",
        f"Seen {pattern.times} times in {pattern.sessions} sessions of {', '.join(pattern.flavors) or 'none'}.",
        f"{_standing(pattern)}:", quote(pattern.rule),
    ]  # fmt: skip
    lines += ["Fix:", quote(pattern.fix)] if pattern.fix else []
    if found.effect:
        lines += ["", f"Effect: {found.effect.verdict}. {found.effect.why}"]
    lines += ["", "Evidence:"] if found.evidence else []
    for each in found.evidence:
        lines += [f"- {each.flavor} `{each.session_id}`, {each.at.date().isoformat()}, {each.times} times:"]
        lines += [quote(each.text if not each.quote else f"{each.text}\n{each.quote}")]
    return "\n".join(lines)
