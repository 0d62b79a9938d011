"""The wiki pages: lists, articles and logs, the link graph, and lint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from engram.errors import InvalidInput, NotFound
from engram.surfaces.dashboard.drawing import diff, markdown
from engram.surfaces.dashboard.drawing.graph import draw_graph
from engram.surfaces.dashboard.layout import PageAddress, PageRequest
from engram.wiki.checks import LintFinding
from engram.wiki.page import PageLink, PageSource, WikiPage

KINDS = {"concepts": "Concepts", "connections": "Connections", "qa": "Questions"}
_MAX_PAGES = 200  # pages per list, and articles in the graph
_MAX_NEAR, _MAX_NAMES = 24, 40  # articles in the small graph; labels in the large one
_MAX_FINDINGS = 40  # findings shown per check
_ANCHOR = re.compile(r"(?=.*\d)[\w.-]{1,80}")  # ids of log entries hold a number; ids of the page layout do not
_BARE = re.compile(r"(?m)^(?:# Daily Log: .*|## (?:Sessions|Memory Maintenance))$")


def show_articles(request: PageRequest) -> Response:
    """Render the list of articles."""
    return _render_list(request, request.get_query("folder") or "articles", "/wiki")


def show_logs(request: PageRequest) -> Response:
    """Render the list of daily logs."""
    return _render_list(request, "daily", "/wiki/daily")


def _render_list(request: PageRequest, folder: str, path: str) -> Response:
    limit = min(request.get_number("limit", _MAX_PAGES), 5000)
    by_name = request.get_query("order") == "name"
    page_list = request.engram.list_pages(
        folder=folder, words=request.get_query("words"), by_name=by_name, limit=max(limit, 1)
    )
    return request.render_page(
        "wiki/list", listing=page_list, folder=folder, path=path, kinds=KINDS,
        words=request.get_query("words") or "", by_name=by_name, step=_MAX_PAGES,
    )  # fmt: skip


def show_page(request: PageRequest) -> Response:
    """Render one page, or an offer to create it if it is missing."""
    target = request.get_path_part("target")
    try:
        page = request.engram.get_page(target, request.get_query("version"))
    except NotFound as missing:
        return request.render("wiki/missing.html", status=missing.status, target=target, place=_suggest_target(target))
    if page.target != target:
        return request.redirect(markdown.wiki_address(page.target))
    current = request.engram.get_page(target).version if page.older else page.version
    facts: dict[str, Any] = {
        "page": page,
        "addresses": map_links(page),
        "kinds": KINDS,
        "anchors": _map_anchors(page),
        "current": current,
    }
    if page.kind == "daily":
        return request.render("wiki/log.html", notes=_BARE.sub("", page.notes).strip(), **facts)
    around = request.engram.link_graph(around=page.target, limit=_MAX_NEAR)
    return request.render(
        "wiki/article.html",
        body=render_body(page),
        sources=_group_by_log(page.sources),
        graph=draw_graph(around, 330, 250, 9),
        **facts,
    )


def _suggest_target(target: str) -> str:
    """Return where a missing page would be created: by default a concept; nowhere for a daily log."""
    folder, slash, name = target.partition("/")
    return target if folder in KINDS and name else "" if slash else f"concepts/{target}"


def render_body(page: WikiPage) -> Markup:
    """Return the article's text without its title."""
    head, _, rest = page.content.lstrip().partition("\n")
    text = rest if head.startswith("# ") and head[2:].strip() == page.title else page.content
    return markdown.render_markdown(text, map_links(page), top=1)


def map_links(page: WikiPage) -> Mapping[tuple[str, str], str]:
    """Return the address of each link of a page; empty for missing pages."""
    return {(link.name, link.heading): _find_link_address(link) for link in page.links}


def _find_link_address(link: PageLink) -> str:
    return markdown.wiki_address(link.target, link.entry) if link.exists else ""


def _map_anchors(page: WikiPage) -> Mapping[str, str]:
    """Return the ids of log entries that are valid, unique HTML anchors."""
    return {entry.id: entry.id for entry in page.entries if _ANCHOR.fullmatch(entry.id)}


def _group_by_log(sources: tuple[PageSource, ...]) -> list[tuple[PageSource, list[PageSource]]]:
    """Return each log or session with its cited entries."""
    groups: list[tuple[PageSource, list[PageSource]]] = []
    for source in sources:
        if source.entry and groups:
            groups[-1][1].append(source)
        else:
            groups.append((source, []))
    return groups


def show_changes(request: PageRequest) -> Response:
    """Render the changes to a page since an older version."""
    target, since, until = request.get_path_part("target"), request.get_query("since"), request.get_query("until")
    if since is None:
        raise InvalidInput(field="since", reason="no version given. Choose one in the page's history.")
    lines = diff.parse_diff(request.engram.page_diff(target, since, until))
    return request.render("_diff.html" if request.is_part else "wiki/diff.html", diff=lines, target=target, since=since)


def show_graph(request: PageRequest) -> Response:
    """Render the link graph."""
    link_graph = request.engram.link_graph(limit=_MAX_PAGES)
    picture_drawn = draw_graph(link_graph, 1200, 700, _MAX_NAMES)
    return request.render(
        "wiki/graph.html", links=link_graph, graph=picture_drawn, kinds=KINDS, counts=_count_pages(request)
    )


def _count_pages(request: PageRequest) -> Mapping[str, int]:
    return request.engram.list_pages(limit=1).counts


def show_lint(request: PageRequest) -> Response:
    """Render the lint page; the findings are loaded afterwards."""
    return request.render("wiki/lint.html", counts=_count_pages(request), report=None)


def run_lint(request: PageRequest) -> Response:
    """Check the wiki without a model and render the findings."""
    return _render_findings(request, fix=False)


def fix_findings(request: PageRequest) -> Response:
    """Apply the safe fixes and render the remaining findings."""
    return _render_findings(request, fix=True)


def _render_findings(request: PageRequest, *, fix: bool) -> Response:
    lint_report = request.engram.lint(fix=fix, structural_only=True)
    return request.render_page(
        "wiki/lint", report=lint_report, severities=_group_by_check(lint_report.findings),
        fix=fix, counts=_count_pages(request),
    )  # fmt: skip


def _group_by_check(
    lint_findings: tuple[LintFinding, ...],
) -> Mapping[str, Mapping[str, tuple[int, list[LintFinding]]]]:
    """Return the findings by severity and check, with their numbers."""
    kinds: dict[str, dict[str, list[LintFinding]]] = {}
    for finding in lint_findings:
        kinds.setdefault(finding.severity, {}).setdefault(finding.check, []).append(finding)
    return {
        severity: {
            check: (len(check_findings), check_findings[:_MAX_FINDINGS]) for check, check_findings in checks.items()
        }
        for severity, checks in kinds.items()
    }


ADDRESSES = (
    PageAddress("/wiki", show_articles),
    PageAddress("/wiki/daily", show_logs),
    PageAddress("/wiki/graph", show_graph),
    PageAddress("/wiki/lint", show_lint),
    PageAddress("/wiki/lint", fix_findings, writes=True),
    PageAddress("/wiki/lint/found", run_lint),
    PageAddress("/wiki/diff/{target:path}", show_changes),
    PageAddress("/wiki/{target:path}", show_page),
)
