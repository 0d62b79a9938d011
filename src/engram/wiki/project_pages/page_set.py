"""All pages of one project, built from its evidence."""

from __future__ import annotations

from engram.hub import Hub
from engram.sessions import project_names
from engram.store import episodes
from engram.wiki.project_pages.changed_files import list_work
from engram.wiki.project_pages.decision_entries import list_decisions
from engram.wiki.project_pages.decision_log import build_decision_log
from engram.wiki.project_pages.error_pages import build_error_pages
from engram.wiki.project_pages.line_sources import EntryLinks
from engram.wiki.project_pages.page_draft import PageDraft
from engram.wiki.project_pages.project_page import build_project_page, is_left_open
from engram.wiki.project_pages.subsystem_pages import build_subsystem_pages
from engram.wiki.project_pages.subsystems import find_subsystems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

_OPEN_READ = 400  # open items of a project


def build_pages(hub: Hub, project: str) -> list[PageDraft]:
    """Build the pages of a project that its evidence is enough for, its own page first."""
    name = project_names.name_projects(hub).get(project) or project
    links = EntryLinks(hub)
    decisions = list_decisions(hub, project)
    log = build_decision_log(name, decisions, links)
    open_rows = _list_open(hub, project)
    work = list_work(hub, project)
    subsystems = build_subsystem_pages(name, find_subsystems(work), decisions, open_rows, links)
    errors = build_error_pages(hub, project, name, links)
    others = [page for page in (log, *subsystems, *errors) if page is not None]
    page = build_project_page(hub, project, decisions, work, links, others)
    return [page, *others] if page is not None else []


def _list_open(hub: Hub, project: str) -> list[Row]:
    """Return what is open in a project, newest first, each once."""
    rows = episodes.list_items(hub.engine, "open", _OPEN_READ, project=project, in_force=True, at_end=True)
    return list({row["text"]: row for row in reversed(rows) if is_left_open(row["text"])}.values())[::-1]
