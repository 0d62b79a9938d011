"""The operations of the dream; the implementation is imported on use."""

from __future__ import annotations

from typing import Annotated

from engram.dream.priorities import Drive
from engram.dream.results import ASKED, FORCED, DreamPreview, Pass, UndoReport
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform import text
from engram.sessions import lifecycle


@operation(writes=True, agent=False)
def dream(
    hub: Hub,
    force: Annotated[bool, Help("do all waiting work, ignoring thresholds")] = False,
    budget: Annotated[str | None, Help('limits of this pass, such as "5m, 50k tokens, $0.20"')] = None,
) -> Pass:
    """Run the upkeep of the memory once: ingest, flush, summarize, integrate, compile, detect, reflect, clean up."""
    from engram.dream.budget import parse_limits
    from engram.dream.cycle import run_pass

    limits = parse_limits(hub, text.validate_optional_name("budget", budget))
    return run_pass(hub, force=force, limits=limits, why=FORCED if force else ASKED)


@operation()
def get_drives(hub: Hub) -> list[Drive]:
    """Show how urgent each kind of upkeep is, and why."""
    from engram.dream import probes

    return list(probes.sense_drives(hub).values())


@operation(agent=False)
def foresee_dream(hub: Hub, force: Annotated[bool, Help("ignore thresholds")] = False) -> DreamPreview:
    """Show what a dream would do and change, without doing it."""
    from engram.dream.preview import preview_pass

    return preview_pass(hub, force=force)


@operation()
def dream_log(hub: Hub, limit: Annotated[int, Help("maximum number of passes")] = 10) -> list[Pass]:
    """Show what past dreams did and why, newest first."""
    from engram.dream import journal

    return journal.list_passes(hub, lifecycle.require_positive("limit", limit))


@operation(writes=True, agent=False)
def undo_dream(hub: Hub, pass_id: Annotated[int, Help("number of the pass in `engram dream log`")]) -> UndoReport:
    """Undo the changes of a dream: restore documents, wiki pages and log entries."""
    from engram.dream.undo import undo_pass

    return undo_pass(hub, pass_id)
