"""Who links to whom: the articles of the wiki as a graph."""

from __future__ import annotations

from typing import Annotated

from engram.hub import Hub
from engram.operation import Help, operation
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from engram.wiki.atlas import Atlas

_DEEPEST = 5  # steps; further away is everything


@value
class Node:
    """An article among those it is linked with."""

    target: str
    title: str
    kind: str  # the folder it lies in
    degree: int  # articles it is linked with, in the whole wiki


@value
class LinkGraph:
    """Articles and the links between them."""

    nodes: tuple[Node, ...]  # what is looked around first, then what has most links
    edges: tuple[tuple[str, str], ...]  # from, to
    total: int  # articles there are to show; more than nodes where the limit cut


@operation()
def link_graph(
    hub: Hub,
    around: Annotated[str | None, Help("only what is near this page")] = None,
    depth: Annotated[int, Help("how many links away, up to 5")] = 1,
    limit: Annotated[int, Help("at most so many articles, those with most links first")] = 200,
) -> LinkGraph:
    """Show which articles of the wiki link to which."""
    from engram.coordination.sessions import positive
    from engram.vault import vault
    from engram.wiki.atlas import atlas
    from engram.wiki.page import found

    home = vault.of(hub)
    most, steps = positive("limit", limit), min(positive("depth", depth), _DEEPEST)
    centre = found(home, around)[0] if around else None
    known = atlas(home)
    near = _near(known, centre, steps) if centre else dict.fromkeys(_articles(known.cards), 0)
    degrees = {target: len(set(_articles(known.around(target)))) for target in near}
    order = sorted(near, key=lambda each: (near[each], -degrees[each], each))
    shown = order[:most]
    held = set(shown)
    return LinkGraph(
        nodes=tuple(
            Node(target=each, title=known.title(each), kind=each.partition("/")[0], degree=degrees[each])
            for each in shown
        ),
        edges=tuple((one, other) for one in shown for other in sorted(held.intersection(known.out.get(one, ())))),
        total=len(near),
    )  # fmt: skip


def _near(known: Atlas, centre: str, steps: int) -> dict[str, int]:
    """Return the articles around a page, and how many links away each is."""
    found, edge = {centre: 0}, [centre]
    for step in range(1, steps + 1):
        edge = [other for each in edge for other in sorted(_articles(known.around(each))) if other not in found]
        found |= dict.fromkeys(edge, step)
    return found


def _articles(targets: Iterable[str]) -> Iterable[str]:
    return (each for each in targets if not each.startswith("daily/"))
