"""The operations of the dream; what does the work is loaded when it is wanted."""

from __future__ import annotations

from typing import Annotated

from engram import text
from engram.coordination import sessions
from engram.dream.done import ASKED, FORCED, Foreseen, Pass, Undone
from engram.dream.drives import Drive
from engram.hub import Hub
from engram.operation import Help, operation


@operation(writes=True, agent=False)
def dream(
    hub: Hub,
    force: Annotated[bool, Help("act on all that waits, whatever the thresholds")] = False,
    budget: Annotated[
        str | None, Help('limits of this pass: time, tokens, money, like "5m, 50k tokens, $0.20"')
    ] = None,
) -> Pass:
    """Tend the memory once: take in, flush, summarize, integrate, compile, detect, reflect, clean up."""
    from engram.dream.budget import limits_of
    from engram.dream.cycle import dreamt

    limits = limits_of(hub, text.name_or_none("budget", budget))
    return dreamt(hub, force=force, limits=limits, why=FORCED if force else ASKED)


@operation()
def get_drives(hub: Hub) -> list[Drive]:
    """Show how much each drive presses now, and why."""
    from engram.dream import senses

    return list(senses.sense(hub).values())


@operation(agent=False)
def foresee_dream(hub: Hub, force: Annotated[bool, Help("whatever the thresholds")] = False) -> Foreseen:
    """Show what a pass of the dream would do and change, without doing it."""
    from engram.dream.foresee import foreseen

    return foreseen(hub, force=force)


@operation()
def dream_log(hub: Hub, limit: Annotated[int, Help("at most so many passes")] = 10) -> list[Pass]:
    """Show what the dream did and why, newest first."""
    from engram.dream import journal

    return journal.newest(hub, sessions.positive("limit", limit))


@operation(writes=True, agent=False)
def undo_dream(hub: Hub, pass_id: Annotated[int, Help("the pass, by its number in `engram dream log`")]) -> Undone:
    """Undo what a pass of the dream changed: documents, wiki pages and log entries are as before it."""
    from engram.dream.undo import undone

    return undone(hub, pass_id)
