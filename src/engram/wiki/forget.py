"""Delete a session on a person's word: also from the daily logs."""

from __future__ import annotations

from typing import Annotated

from engram.hub import Hub
from engram.model import Deleted
from engram.operation import Help, operation
from engram.store import entries


@operation(writes=True, agent=False)
def delete_session(
    hub: Hub, session: Annotated[str, Help("the session, or the beginning of its id")]
) -> Deleted:  # fmt: skip
    """Delete a session for good, with its subagents, and make again without it what was made of it."""
    from engram.memory import forget
    from engram.vault import daily_log, history, images, vault

    family = forget.family_of(hub, session)
    named = {each.id for each in family}
    # The logs first: a crash in between leaves a session that can be deleted again, not words that cannot.
    days = sorted({day for each in named for day in entries.days_of(hub.engine, each)})
    for day in days:
        daily_log.erase(vault.of(hub), day, named)
    history.forget(vault.of(hub), {*named, *(f"daily/{day}" for day in days)})
    images.forget(vault.of(hub))
    vault.clear_drafts(vault.of(hub))
    return forget.delete(hub, family)
