"""Pages of the wiki, their lists, versions and links, as text for people."""

from __future__ import annotations

from collections.abc import Sequence

from engram.platform.text import format_count
from engram.surfaces.cli.render import LIST_RENDERERS, render
from engram.surfaces.cli.render.layout import Column, format_ago, format_table, format_when, number_column
from engram.surfaces.cli.terminal import style
from engram.wiki.edit import EditResult
from engram.wiki.graph import LinkGraph
from engram.wiki.mentions import Mention
from engram.wiki.page import WikiPage
from engram.wiki.page_list import PageList
from engram.wiki.vault.history import PageVersion

_MAX_BACKLINKS = 8  # in one line
_PAGE_COLUMNS = (
    Column("page", min_width=16),
    Column("changed", drop=2),
    number_column("words", drop=3),
    Column("summary"),
)


@render.register
def _(page_list: PageList) -> str:
    counts = ", ".join(f"{number} in {folder}" for folder, number in page_list.counts.items() if number)
    if not page_list.pages:
        return f"No page matches. The wiki has {counts}." if counts else "No pages yet. Run `engram dream`."
    rows = [(page.target, format_when(page.changed_at), f"{page.words:,}", page.summary) for page in page_list.pages]
    more = page_list.found - len(page_list.pages)
    rest = [style(f"… and {more} more: --limit, --words", dim=True)] if more else []
    return "\n".join([format_table(_PAGE_COLUMNS, rows), *rest])


@render.register
def _(page: WikiPage) -> str:
    names = [link.target for link in page.backlinks]
    more = f" and {len(names) - _MAX_BACKLINKS} more" if len(names) > _MAX_BACKLINKS else ""
    missing = [link.target for link in page.links if not link.exists]
    notes = [
        f"linked from: {', '.join(names[:_MAX_BACKLINKS])}{more}" if names else "",
        f"broken links: {', '.join(missing)}" if missing else "",
        f"{format_count(len(page.versions), 'older version')}: engram wiki history {page.target}"
        if page.versions
        else "",
    ]
    return "\n".join([page.content.strip(), "", *(style(line, dim=True) for line in notes if line)]).rstrip()


@render.register
def _(graph: LinkGraph) -> str:
    if not graph.nodes:
        return "No articles yet. Run `engram compile`."
    links: dict[str, list[str]] = {}
    for source, target in graph.edges:
        links.setdefault(source, []).append(target)
    lines = [f"{node.target} → {', '.join(links[node.target])}" for node in graph.nodes if node.target in links]
    alone = sum(not node.degree for node in graph.nodes)
    lines += [style(f"{format_count(alone, 'article')} without links", dim=True)] if alone else []
    cut = graph.total - len(graph.nodes)
    return "\n".join([*lines, *([style(f"… and {format_count(cut, 'more article')}", dim=True)] if cut else [])])


def _render_versions(versions: Sequence[PageVersion]) -> str:
    rows = [
        (version.version, format_ago(version.at), version.made_by or "person or model", f"{version.size:,} bytes")
        for version in versions
    ]
    return format_table(("version", "replaced", "by", number_column("size")), rows)


@render.register
def _(result: EditResult) -> str:
    verb = "Created" if result.created else "Changed" if result.changed else "No change to"
    return f"{verb} {result.target}."


def _render_mentions(mentions: Sequence[Mention]) -> str:
    rows = [(mention.target, mention.title) for mention in mentions]
    return format_table((Column("page", min_width=16), Column("title")), rows)


LIST_RENDERERS[PageVersion] = _render_versions
LIST_RENDERERS[Mention] = _render_mentions
