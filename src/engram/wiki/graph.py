"""The link graph of the wiki's articles."""

from __future__ import annotations

from typing import Annotated

from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from engram.wiki.page_map import PageMap

_MAX_DEPTH = 5  # maximum distance; further away is nearly everything


@value
class ArticleNode:
    """An article in the link graph."""

    target: str
    title: str
    kind: str  # its folder
    degree: int  # links to and from it in the whole wiki


@value
class LinkGraph:
    """Articles and the links between them."""

    nodes: tuple[ArticleNode, ...]  # the center page first, then those with the most links
    edges: tuple[tuple[str, str], ...]  # (from, to)
    total: int  # articles in total, including those cut by the limit


@operation()
def link_graph(
    hub: Hub,
    around: Annotated[str | None, Help("only articles near this page")] = None,
    depth: Annotated[int, Help("maximum number of links away from the page, up to 5")] = 1,
    limit: Annotated[int, Help("maximum number of articles, those with the most links first")] = 200,
) -> LinkGraph:
    """Show which articles of the wiki link to each other."""
    from engram.sessions.lifecycle import require_positive
    from engram.wiki.page import resolve_page
    from engram.wiki.page_map import load_page_map
    from engram.wiki.vault import vault

    wiki = vault.open_vault(hub)
    max_nodes, steps = require_positive("limit", limit), min(require_positive("depth", depth), _MAX_DEPTH)
    centre = resolve_page(wiki, around)[0] if around else None
    page_map = load_page_map(wiki)
    distances = _find_neighbors(page_map, centre, steps) if centre else dict.fromkeys(_exclude_daily(page_map.cards), 0)
    degrees = {target: len(set(_exclude_daily(page_map.find_neighbors(target)))) for target in distances}
    order = sorted(distances, key=lambda target: (distances[target], -degrees[target], target))
    shown_targets = order[:max_nodes]
    shown_set = set(shown_targets)
    return LinkGraph(
        nodes=tuple(
            ArticleNode(target=page, title=page_map.find_title(page), kind=page.partition("/")[0], degree=degrees[page])
            for page in shown_targets
        ),
        edges=tuple(
            (source, linked)
            for source in shown_targets
            for linked in sorted(shown_set.intersection(page_map.outgoing.get(source, ())))
        ),
        total=len(distances),
    )


def _find_neighbors(page_map: PageMap, centre: str, steps: int) -> dict[str, int]:
    """Return the articles around a page, with their distance."""
    distances, frontier = {centre: 0}, [centre]
    for step in range(1, steps + 1):
        frontier = [
            other
            for target in frontier
            for other in sorted(_exclude_daily(page_map.find_neighbors(target)))
            if other not in distances
        ]
        distances |= dict.fromkeys(frontier, step)
    return distances


def _exclude_daily(targets: Iterable[str]) -> Iterable[str]:
    return (target for target in targets if not target.startswith("daily/"))
