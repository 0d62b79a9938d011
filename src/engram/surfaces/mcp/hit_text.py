"""Hits of recall as text for a model: what it needs to judge a hit and to read on, and nothing else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from engram.platform.text import cut_to_tokens, escape_inline, quote_as_data

if TYPE_CHECKING:
    from engram.types import Hit

_SNIPPET_TOKENS = 500  # per hit
_TITLE, _SUMMARY, _NAME = 140, 80, 80  # characters
_SETTLED = ("episode", "commit")  # `get` shows their session, so the text does not name it


def format_hit(hit: Hit, *, shows_project: bool) -> str:
    """Return a hit: its id, what and when it was, how it ended, its title, and the text found as quoted data."""
    day = hit.at.date().isoformat() if hit.at else ""
    source = f"{_describe_kind(hit)}{_describe_place(hit, shows_project=shows_project)}"
    facts = ", ".join(filter(None, (source, day, hit.outcome, _describe_state(hit))))
    title = _choose_title(hit)
    head = f"`{hit.id}` {facts}" if hit.id else facts
    return f"{head}{f': {title}' if title else ''}\n{quote_as_data(cut_to_tokens(hit.snippet, _SNIPPET_TOKENS))}"


def _describe_kind(hit: Hit) -> str:
    """Return who said it, or the kind of memory with the name of its subject."""
    if hit.tier in (*_SETTLED, "session", "command"):
        return hit.tier
    kind = hit.role if hit.tier == "exchange" and hit.role else hit.tier
    return f"{kind} {escape_inline(hit.name, _NAME)}" if hit.name else kind


def _describe_place(hit: Hit, *, shows_project: bool) -> str:
    agent = hit.flavor or ("session" if hit.session_id else "")
    session = f"`{hit.session_id}`" if hit.session_id and hit.tier not in _SETTLED else ""
    project = escape_inline(os.path.basename(hit.project), _NAME) if shows_project else ""
    place = " ".join(filter(None, (agent, session, f"on {project}" if project else "")))
    return f" in {place}" if agent else f" {place}" if place else ""


def _describe_state(hit: Hit) -> str:
    if hit.state == "current":
        return ""
    return f"{hit.state} by `{hit.superseded_by}`" if hit.superseded_by else hit.state


def _choose_title(hit: Hit) -> str:
    """Return what was asked in an episode, else what the session was about; a command is in its snippet."""
    if hit.tier == "command":
        return ""
    return escape_inline(hit.name, _TITLE) if hit.tier in _SETTLED else escape_inline(hit.summary, _SUMMARY)
