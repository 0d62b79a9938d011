"""Pages of the wiki, their lists, versions and links, as text for people."""

from __future__ import annotations

import click

from engram.surfaces.cli.render import LISTS, ago, render
from engram.surfaces.cli.table import table
from engram.text import counted
from engram.vault.history import PageVersion
from engram.wiki.edit import Edited
from engram.wiki.graph import LinkGraph
from engram.wiki.listing import PageList
from engram.wiki.page import WikiPage

_LINKED = 8  # backlinks in one line


@render.register
def _(found: PageList) -> str:
    counts = ", ".join(f"{number} in {folder}" for folder, number in found.counts.items() if number)
    if not found.pages:
        return (
            f"No page of that. The wiki has {counts}." if counts else "No page yet: `engram flush`, `engram compile`."
        )
    rows = [(each.target, ago(each.changed_at), str(each.words), each.summary) for each in found.pages]
    more = found.found - len(found.pages)
    rest = [click.style(f"… and {more} more: --limit, --words", dim=True)] if more else []
    return "\n".join([table(("page", "changed", "words", "says"), rows), *rest])


@render.register
def _(page: WikiPage) -> str:
    names = [each.target for each in page.backlinks]
    more = f" and {len(names) - _LINKED} more" if len(names) > _LINKED else ""
    missing = [each.target for each in page.links if not each.exists]
    told = [
        f"linked from: {', '.join(names[:_LINKED])}{more}" if names else "",
        f"links to what is not there: {', '.join(missing)}" if missing else "",
        f"{counted(len(page.versions), 'older version')}: engram wiki history {page.target}" if page.versions else "",
    ]  # fmt: skip
    return "\n".join([page.content.strip(), "", *(click.style(line, dim=True) for line in told if line)]).rstrip()


@render.register
def _(graph: LinkGraph) -> str:
    if not graph.nodes:
        return "No article yet: `engram compile` makes them of the daily logs."
    out: dict[str, list[str]] = {}
    for one, other in graph.edges:
        out.setdefault(one, []).append(other)
    lines = [f"{each.target} → {', '.join(out[each.target])}" for each in graph.nodes if each.target in out]
    alone = sum(not each.degree for each in graph.nodes)
    lines += [click.style(f"{counted(alone, 'article')} without links", dim=True)] if alone else []
    cut = graph.total - len(graph.nodes)
    return "\n".join([*lines, *([click.style(f"… and {counted(cut, 'more article')}", dim=True)] if cut else [])])


def _versions(found: list[PageVersion]) -> str:
    rows = [(each.version, ago(each.at), each.made_by or "person or model", f"{each.size:,} bytes") for each in found]
    return table(("version", "replaced", "by", "size"), rows)


@render.register
def _(done: Edited) -> str:
    verb = "Created" if done.created else "Changed" if done.changed else "No change to"
    return f"{verb} {done.target}."


LISTS[PageVersion] = _versions
