"""The report of a deletion, as surfaces show it."""

from __future__ import annotations

from engram.platform.value import value


@value
class DeletionReport:
    """What deleting a session removed and changed."""

    sessions: tuple[str, ...]  # the session and its subagents
    exchanges: int = 0
    events: int = 0
    logs: int = 0
    completions: int = 0
    gists: int = 0
    locks: int = 0
    sent: int = 0  # messages to others
    received: int = 0
    remade: tuple[str, ...] = ()  # documents derived from it: rebuilt without it, or deleted if nothing is left
    changed: tuple[str, ...] = ()  # documents it was removed from, and how much was removed
    mentions: tuple[str, ...] = ()  # unchanged documents that may still mention it
    copies: tuple[str, ...] = ()  # backups of the store from before an upgrade, which still contain it
    dry_run: bool = False
