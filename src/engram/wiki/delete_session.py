"""Delete a session, including its entries in the daily logs."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from engram.errors import CompileRunning
from engram.hub import Hub
from engram.operation import Help, operation
from engram.store import log_entries
from engram.summaries.deletion_report import DeletionReport


@operation(writes=True, agent=False)
def delete_session(
    hub: Hub,
    session: Annotated[str, Help("session id or a prefix of it")],
    dry_run: Annotated[bool, Help("show what would be deleted and changed without doing it")] = False,
) -> DeletionReport:
    """Permanently delete a session, its subagents and everything derived from them."""
    from engram.summaries import delete_session as forget
    from engram.wiki.compiler.project_compilation import is_made_by_rules
    from engram.wiki.project_pages.line_sources import shorten_session
    from engram.wiki.vault import daily_log, history, page_snapshots, state, vault

    family = forget.find_session_family(hub, session)
    session_ids = {item.id for item in family}
    wiki, days = (
        vault.open_vault(hub),
        sorted({day for item in session_ids for day in log_entries.list_days(hub.engine, item)}),
    )
    deleted_names = {*session_ids, *map(shorten_session, session_ids), *(f"daily/{day}" for day in days)}
    pages = [f"page daily/{day}: entries deleted" for day in days]
    naming = history.find_pages_naming(wiki, deleted_names)
    if not dry_run:  # the logs first: after a crash the session is still there and can be deleted again
        for day in days:
            daily_log.delete_sessions(wiki, day, session_ids)
        history.delete_versions_naming(wiki, deleted_names)
        page_snapshots.delete_snapshots_naming(wiki, deleted_names)
        vault.clear_drafts(wiki)
    deleted = forget.delete_sessions(hub, family, dry_run=dry_run)
    rebuilt = [target for target in naming if is_made_by_rules(state.read_page_record(wiki, target))]
    if not dry_run:
        _rebuild_pages(hub, {item.project for item in family if item.project})
    return DeletionReport(
        **{
            **vars(deleted),
            "changed": (*deleted.changed, *pages),
            "remade": (*deleted.remade, *(f"page {target}" for target in rebuilt)),
            "mentions": (*deleted.mentions, *(f"page {target}" for target in naming if target not in rebuilt)),
        }
    )


def _rebuild_pages(hub: Hub, projects: set[str]) -> None:
    """Build the pages of projects without what was deleted; if a compiler runs, the next one does it."""
    from engram.wiki.compiler.compile import compile_projects

    with suppress(CompileRunning):
        compile_projects(hub, sorted(projects))
