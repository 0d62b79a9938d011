"""The pages of the wiki: lists, one page with all around it, who links to whom, and what lint found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from engram.errors import InvalidInput, NotFound
from engram.surfaces.dashboard.drawing import diff, markdown
from engram.surfaces.dashboard.drawing.graph import picture
from engram.surfaces.dashboard.frame import Address, Ask
from engram.wiki.checks import Finding
from engram.wiki.page import PageLink, PageSource, WikiPage

KINDS = {"concepts": "Concepts", "connections": "Connections", "qa": "Questions"}
_SHOWN = 200  # pages of a list, and dots of the picture
_NEAR, _NAMES = 24, 40  # articles in the small picture; names in the large one
_FINDINGS = 40  # of one check
_ANCHOR = re.compile(r"(?=.*\d)[\w.-]{1,80}")  # ours hold a number; what a page itself is made of does not
_BARE = re.compile(r"(?m)^(?:# Daily Log: .*|## (?:Sessions|Memory Maintenance))$")


def articles(ask: Ask) -> Response:
    """Draw the list of articles."""
    return _listed(ask, ask.given("folder") or "articles", "/wiki")


def logs(ask: Ask) -> Response:
    """Draw the list of daily logs."""
    return _listed(ask, "daily", "/wiki/daily")


def _listed(ask: Ask, folder: str, path: str) -> Response:
    limit = min(ask.number("limit", _SHOWN), 5000)
    by_name = ask.given("order") == "name"
    found = ask.engram.list_pages(folder=folder, words=ask.given("words"), by_name=by_name, limit=max(limit, 1))
    return ask.show(
        "wiki/list", found=found, folder=folder, path=path, kinds=KINDS,
        words=ask.given("words") or "", by_name=by_name, step=_SHOWN,
    )  # fmt: skip


def shown(ask: Ask) -> Response:
    """Draw one page, or the way to write it if there is none."""
    target = ask.path("target")
    try:
        page = ask.engram.get_page(target, ask.given("version"))
    except NotFound as missing:
        return ask.draw("wiki/missing.html", status=missing.status, target=target, place=_place(target))
    if page.target != target:
        return ask.go(markdown.wiki_address(page.target))
    current = ask.engram.get_page(target).version if page.older else page.version
    facts: dict[str, Any] = {
        "page": page,
        "addresses": addresses(page),
        "kinds": KINDS,
        "anchors": _anchors(page),
        "current": current,
    }
    if page.kind == "daily":
        return ask.draw("wiki/log.html", notes=_BARE.sub("", page.notes).strip(), **facts)
    around = ask.engram.link_graph(around=page.target, limit=_NEAR)
    return ask.draw(
        "wiki/article.html", body=body(page), sources=_by_log(page.sources), graph=picture(around, 330, 250, 9), **facts
    )  # fmt: skip


def _place(target: str) -> str:
    """Return where a page that is not there would be written: a concept if nothing else is said, nowhere in a log."""
    folder, slash, name = target.partition("/")
    return target if folder in KINDS and name else "" if slash else f"concepts/{target}"


def body(page: WikiPage) -> Markup:
    """Return what an article says, without the title that stands above it."""
    head, _, rest = page.content.lstrip().partition("\n")
    text = rest if head.startswith("# ") and head[2:].strip() == page.title else page.content
    return markdown.html(text, addresses(page), top=1)


def addresses(page: WikiPage) -> Mapping[tuple[str, str], str]:
    """Return where each link of a page leads; nothing for what is not there."""
    return {(each.name, each.heading): _address(each) for each in page.links}


def _address(link: PageLink) -> str:
    return markdown.wiki_address(link.target, link.entry) if link.exists else ""


def _anchors(page: WikiPage) -> Mapping[str, str]:
    """Return the anchors of a log's entries by their ids: what is no plain word is none, and each comes once."""
    return {each.id: each.id for each in page.entries if _ANCHOR.fullmatch(each.id)}


def _by_log(sources: tuple[PageSource, ...]) -> list[tuple[PageSource, list[PageSource]]]:
    """Return each log or session with the entries of it that are named."""
    found: list[tuple[PageSource, list[PageSource]]] = []
    for each in sources:
        if each.entry and found:
            found[-1][1].append(each)
        else:
            found.append((each, []))
    return found


def changes(ask: Ask) -> Response:
    """Draw what changed in a page since an older version."""
    target, since, until = ask.path("target"), ask.given("since"), ask.given("until")
    if since is None:
        raise InvalidInput(field="since", reason="say since which version: the history of the page has them.")
    lines = diff.lines(ask.engram.page_diff(target, since, until))
    return ask.draw("_diff.html" if ask.is_part else "wiki/diff.html", diff=lines, target=target, since=since)


def graph(ask: Ask) -> Response:
    """Draw which articles link to which."""
    found = ask.engram.link_graph(limit=_SHOWN)
    drawn = picture(found, 1200, 700, _NAMES)
    return ask.draw("wiki/graph.html", found=found, graph=drawn, kinds=KINDS, counts=_counts(ask))


def _counts(ask: Ask) -> Mapping[str, int]:
    return ask.engram.list_pages(limit=1).counts


def lint(ask: Ask) -> Response:
    """Draw the frame of what lint finds; looking takes a moment and comes after."""
    return ask.draw("wiki/lint.html", counts=_counts(ask), found=None)


def findings(ask: Ask) -> Response:
    """Look through the wiki, without a model, and draw what is wrong with it."""
    return _found(ask, fix=False)


def mend(ask: Ask) -> Response:
    """Put right what is safe, and draw what is left."""
    return _found(ask, fix=True)


def _found(ask: Ask, *, fix: bool) -> Response:
    found = ask.engram.lint(fix=fix, structural_only=True)
    return ask.show(
        "wiki/lint", found=found, severities=_by_check(found.findings),
        fix=fix, counts=_counts(ask),
    )  # fmt: skip


def _by_check(found: tuple[Finding, ...]) -> Mapping[str, Mapping[str, tuple[int, list[Finding]]]]:
    """Return the findings by severity and check, with how many there are of each."""
    kinds: dict[str, dict[str, list[Finding]]] = {}
    for each in found:
        kinds.setdefault(each.severity, {}).setdefault(each.check, []).append(each)
    return {
        severity: {check: (len(some), some[:_FINDINGS]) for check, some in checks.items()}
        for severity, checks in kinds.items()
    }


ADDRESSES = (
    Address("/wiki", articles),
    Address("/wiki/daily", logs),
    Address("/wiki/graph", graph),
    Address("/wiki/lint", lint),
    Address("/wiki/lint", mend, writes=True),
    Address("/wiki/lint/found", findings),
    Address("/wiki/diff/{target:path}", changes),
    Address("/wiki/{target:path}", shown),
)
