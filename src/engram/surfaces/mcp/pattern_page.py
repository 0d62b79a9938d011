"""Patterns formatted for agents; text from transcripts is quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram.platform.text import escape_inline, format_count, quote_as_data

if TYPE_CHECKING:
    from engram.patterns.rules.catalog import Dossier, Pattern


def format_pattern(pattern: Pattern) -> str:
    """Return a pattern as one line of a list, with the rule that people approved."""
    line = f"- `{pattern.id}` {pattern.state}, {format_count(pattern.sessions, 'session')}"
    line += f": {escape_inline(pattern.title, 200)}"
    # Text that was not approved comes from transcripts and must not look like a rule.
    return f"{line} Rule: {escape_inline(pattern.rule, 300)}" if pattern.state == "approved" else line


def _format_standing(pattern: Pattern) -> str:
    if pattern.state != "approved":
        return f"Proposed rule; {'no longer approved' if pattern.version else 'not approved'}"
    return f"Rule (version {pattern.version}, {escape_inline(pattern.scope, 200)})"


def render_pattern_page(dossier: Dossier) -> str:
    """Return a markdown page with a pattern, its rule, effect and evidence."""
    pattern = dossier.pattern
    lines = [
        f"# {pattern.id} ({pattern.kind}, {pattern.state})", quote_as_data(pattern.title), "",
        f"Seen {pattern.times} times in {pattern.sessions} sessions of {', '.join(pattern.flavors) or 'no agent'}.",
        f"{_format_standing(pattern)}:", quote_as_data(pattern.rule),
    ]  # fmt: skip
    lines += ["Fix:", quote_as_data(pattern.fix)] if pattern.fix else []
    if dossier.effect:
        lines += ["", f"Effect: {dossier.effect.verdict}. {dossier.effect.why}"]
    lines += ["", "Evidence:"] if dossier.evidence else []
    for evidence in dossier.evidence:
        lines += [
            f"- {evidence.flavor} `{evidence.session_id}`, {evidence.at.date().isoformat()}, {evidence.times} times:"
        ]
        lines += [quote_as_data(evidence.text if not evidence.quote else f"{evidence.text}\n{evidence.quote}")]
    return "\n".join(lines)
