"""Delete a session on a person's word: also from the daily logs."""

from __future__ import annotations

from typing import Annotated

from engram.hub import Hub
from engram.model import Deleted
from engram.operation import Help, operation
from engram.store import entries


@operation(writes=True, agent=False)
def delete_session(
    hub: Hub,
    session: Annotated[str, Help("the session, or the beginning of its id")],
    dry_run: Annotated[bool, Help("only say what would be deleted and what would change")] = False,
) -> Deleted:
    """Delete a session for good, with its subagents, and take it out of what was made of it."""
    from engram.memory import forget
    from engram.vault import daily_log, history, images, vault

    family = forget.family_of(hub, session)
    named = {each.id for each in family}
    home, days = vault.of(hub), sorted({day for each in named for day in entries.days_of(hub.engine, each)})
    told = {*named, *(f"daily/{day}" for day in days)}
    pages = [f"page daily/{day}: its entries" for day in days]
    pages += [f"page {target}: made again by the next compile" for target in history.naming(home, told)]
    if not dry_run:  # the logs first: a crash leaves a session that can be deleted again, not words that cannot
        for day in days:
            daily_log.erase(home, day, named)
        history.forget(home, told)
        images.forget(home, told)
        vault.clear_drafts(home)
    found = forget.delete(hub, family, dry_run=dry_run)
    return Deleted(**{**vars(found), "changed": (*found.changed, *pages)})
