"""One session as `engram show` prints it: a heading, who and when, then what its transcript shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engram.evidence.records import Episode
from engram.platform import text
from engram.surfaces.cli.render import render
from engram.surfaces.cli.render.coordination import format_presence
from engram.surfaces.cli.render.evidence import format_episode_briefly
from engram.surfaces.cli.render.layout import (
    format_ago,
    format_cost,
    format_facts,
    format_time,
    format_unpriced,
    wrap_text,
)
from engram.surfaces.cli.render.session_list import OUTCOME_MARKS
from engram.surfaces.cli.terminal import style
from engram.types import Capture, Digest, Session

_MINUTE = 60_000_000
_MAX_LISTED = 8  # files or other items of one kind
# The facts of a digest in the order people ask for them, and what they are called.
_FACT_NAMES = {
    "goal": "asked", "then": "then", "decisions": "decided", "causes": "cause", "corrections": "corrected",
    "changed": "changed", "commits": "commits", "tests": "tests", "commands": "commands", "errors": "errors",
    "open": "open", "ended": "last message", "friction": "friction", "evidence": "evidence", "read": "read",
    "notable": "notable",
}  # fmt: skip
_LAST_RUN = {
    True: "; the last run passed", False: "; the last run failed", "unknown": "; the last result is unknown",
}  # fmt: skip
_COUNT_NAMES = {
    "prompts": ("prompt", ""), "interrupts": ("interruption", ""), "denials": ("denial", ""),
    "compactions": ("compaction", ""), "api_errors": ("API error", ""), "reverted": ("revert", ""),
    "pushed": ("push", "pushes"),
}  # fmt: skip


def render_session(
    session: Session,
    capture: Capture | None = None,
    digest: Digest | None = None,
    children: Sequence[Capture] = (),
    episodes: Sequence[Episode] = (),
) -> str:
    """Return one session, with what its transcript shows if there is one."""
    title = (capture.title if capture else None) or session.summary
    lines = [
        style(wrap_text(text.to_one_line(title, 300)), bold=True),
        "",
        format_facts(_list_facts(session, capture, digest)),
    ]
    if digest is not None:
        lines += ["", render(digest)]
    if len(episodes) > 1 or any(item.decisions or item.causes for item in episodes):
        lines += ["", style("Episodes", bold=True), *map(format_episode_briefly, episodes)]
    if children:
        lines += ["", style("Subagents", bold=True), *map(_format_child, children)]
    return "\n".join([*lines, "", style(_format_hint(session, capture), dim=True)])


def _list_facts(session: Session, capture: Capture | None, digest: Digest | None) -> list[tuple[str, object]]:
    return [
        ("session", session.id),
        ("agent", ", ".join(part for part in (session.flavor, session.model) if part)),
        ("project", session.project + (f" on {session.branch}" if session.branch else "") or None),
        ("directory", session.cwd if session.cwd != session.project else None),
        ("state", format_presence(session) if session.status == "active" else None),
        ("when", _format_span(session, capture)),
        ("cost", _format_cost(capture, digest) if capture and capture.tokens else None),
        ("summary", session.summary if capture and capture.title and capture.title != session.summary else None),
        ("result", session.completion_summary),
        ("process", f"{session.process.pid} on {session.process.host}" if session.process else None),
        ("native id", session.native_id),
        ("domain", session.domain or None),
        ("metadata", session.metadata),
    ]


def _format_span(session: Session, capture: Capture | None) -> str:
    began = (capture.began if capture else None) or session.started_at
    ended = (capture.last_at if capture else None) or session.completed_at or session.last_heartbeat
    duration = text.format_duration(int((ended - began).total_seconds()) * 1_000_000)
    return f"{format_time(began)}, for {duration}, {format_ago(ended)}"


def _format_cost(capture: Capture, digest: Digest | None) -> str:
    """Return money and tokens by class, of which cache and reasoning may have two; the classes add up to the total."""
    tokens = digest.facts.get("tokens") if digest else None
    classes = tokens and (
        ("input", tokens["input"]), ("output", tokens["output"] + tokens["reasoning"]),
        ("read from cache", tokens["cache_read"]),
        ("written to cache", tokens["cache_write"] + tokens["cache_write_long"]),
    )  # fmt: skip
    parts = f": {', '.join(f'{count:,} {name}' for name, count in classes if count)}" if classes else ""
    lines = [f"{format_cost(capture.money, capture.unpriced)} for {capture.tokens:,} tokens{parts}"]
    return "\n".join([*lines, format_unpriced(capture.unpriced)] if capture.unpriced else lines)


def _format_child(child: Capture) -> str:
    title = text.to_one_line(child.title or child.session.summary)
    return wrap_text(f"{child.relation} {child.session.id}  {title}", "  ", "    ")


def _format_hint(session: Session, capture: Capture | None) -> str:
    if capture is None:
        return f"No transcript was ingested. `engram logs {session.id}` shows its log."
    short_id = session.id[-8:]
    return f"Prompts: engram show {short_id} --outline. Every event: --events. Summary: engram gist {short_id}."


@render.register
def _(digest: Digest) -> str:
    mark, colour = OUTCOME_MARKS.get(digest.outcome, ("", None))
    verdict = f"{mark} {digest.outcome} ({digest.confidence:.0%} sure)".strip()
    if digest.inferred:
        verdict = f"{mark} {digest.outcome}, set by {digest.corrected_by or 'a person'} (computed: {digest.inferred})"
    named_facts = [(label, _format_fact(name, digest.facts[name])) for name, label in _FACT_NAMES.items()
                   if digest.facts.get(name)]  # fmt: skip
    return format_facts(
        [("outcome", style(verdict, fg=colour)), ("worked", _format_counts(digest.facts)), *named_facts]
    )


def _format_counts(facts: dict[str, Any]) -> str | None:
    counts = [text.format_count(facts[name], *words) for name, words in _COUNT_NAMES.items() if facts.get(name)]
    minutes = [f"{text.format_duration(facts['minutes'] * _MINUTE)} of work"] if facts.get("minutes") else []
    return ", ".join([*minutes, *counts]) or None


def _format_fact(name: str, fact: Any) -> str:
    if name == "tests":
        last = _LAST_RUN.get(fact.get("last"), "")
        return f"{text.format_count(fact['runs'], 'run')}, {fact['failed']} failed{last}"
    if name == "commands":
        return f"{fact['run']:,} run, {fact['failed']:,} failed"
    if isinstance(fact, list):
        items = _format_paths(fact) if name in ("changed", "read") else [text.to_one_line(item, 300) for item in fact]
        more = [f"… {len(items) - _MAX_LISTED} more"] if len(items) > _MAX_LISTED + 1 else []
        return "\n".join([*items[: _MAX_LISTED + (not more)], *more])
    return text.to_one_line(str(fact), 400)


def _format_paths(paths: list[str]) -> list[str]:
    """Return paths without the directory they have in common."""
    absolute = [path for path in paths if path.startswith("/") or path[1:3] == ":\\"]
    separator = "\\" if any("\\" in path for path in absolute) else "/"
    directories = [path.split(separator)[:-1] for path in absolute]
    common = []
    for parts in zip(*directories, strict=False):
        if len(set(parts)) > 1:
            break
        common.append(parts[0])
    prefix = separator.join([*common, ""]) if common and len(absolute) > 1 else ""
    return [path.removeprefix(prefix) for path in paths]
