"""Who links to whom as a picture: articles pushed apart, and held together by their links.

The same graph gives the same picture: nothing is random. Articles without a link have no place in it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from engram.text import one_line
from engram.value import value
from engram.wiki.graph import LinkGraph, Node

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Points = NDArray[np.float64]

_STEPS = 200  # of the layout; more change little
_GOLDEN = 2.399963229728653  # radians: each next one of a spiral is far from those before
_GRAVITY = 7  # how much all falls to the middle
_EDGE = 18  # units of the picture that stay free around it
_SMALLEST = 3.5  # radius of a dot
_LETTER, _LINE = 6.1, 15  # how much room a label takes
_TITLE = 28  # characters of one


@value
class Dot:
    """An article in the picture."""

    node: Node
    x: float
    y: float
    radius: float
    label: str  # empty: it has no room for one
    above: bool = False  # the label stands above it
    anchor: str = "middle"  # where the label begins: near an edge it leans inwards


@value
class Picture:
    """A graph with a place for each of its articles."""

    width: int
    height: int
    dots: tuple[Dot, ...]
    lines: tuple[tuple[float, float, float, float], ...]


def picture(graph: LinkGraph, width: int, height: int, labels: int) -> Picture:
    """Return a graph as a picture, with names on the articles that have most links."""
    held = {end for edge in graph.edges for end in edge}
    nodes = tuple(each for each in graph.nodes if each.target in held)
    places = {each.target: number for number, each in enumerate(nodes)}
    pairs = tuple(sorted({tuple(sorted((places[one], places[other]))) for one, other in graph.edges}))
    radii = _radii(nodes, width, height)
    points = _placed(len(nodes), pairs, radii, width, height)
    return Picture(
        width=width, height=height, dots=_named(nodes, points, radii, width, labels),
        lines=tuple((*points[one], *points[other]) for one, other in pairs),
    )  # fmt: skip


def _radii(nodes: tuple[Node, ...], width: int, height: int) -> tuple[float, ...]:
    """Return how large each dot is: by its links beside the one that has most, and less where there are many."""
    most = max((each.degree for each in nodes), default=1)
    room = 0.2 * (width * height / max(1, len(nodes))) ** 0.5
    largest = max(_SMALLEST + 1, min(14.0, width / 40, room))
    return tuple(round(_SMALLEST + (largest - _SMALLEST) * (each.degree / most) ** 0.5, 1) for each in nodes)


@lru_cache(maxsize=32)
def _placed(
    count: int, pairs: tuple[tuple[int, ...], ...], radii: tuple[float, ...], width: int, height: int
) -> tuple[tuple[float, float], ...]:  # fmt: skip
    """Return a place for each of some dots: all push each other away, lines pull, everything falls to the middle."""
    import numpy as np

    if not count:
        return ()
    number = np.arange(count)
    spread = np.sqrt((number + 0.5) / count)
    points = np.stack([spread * np.cos(number * _GOLDEN), spread * np.sin(number * _GOLDEN)], axis=1)
    ends = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    ideal = 1.6 / np.sqrt(count)
    for step in range(_STEPS):
        reach = 0.16 * (1 - step / _STEPS) ** 1.5 + 0.002
        points = _moved(points, ends, ideal, reach)
    scaled = _fitted(points, width, height)
    sizes = np.array(radii)
    for _ in range(40):
        scaled = _apart(scaled, sizes)
    scaled = np.clip(scaled, _EDGE, [width - _EDGE, height - _EDGE])
    return tuple((round(float(x), 1), round(float(y), 1)) for x, y in scaled)


def _moved(points: Points, ends: NDArray[np.intp], ideal: float, reach: float) -> Points:
    """Return the points after one step of at most so much."""
    import numpy as np

    force = _pushed(points, ideal**2 / np.maximum(_square(points), 1e-6))
    along = points[ends[:, 0]] - points[ends[:, 1]]
    pull = along * (np.sqrt((along**2).sum(axis=1)) / ideal)[:, None]
    np.add.at(force, ends[:, 0], -pull)
    np.add.at(force, ends[:, 1], pull)
    force -= points * _GRAVITY * ideal
    length = np.maximum(np.sqrt((force**2).sum(axis=1)), 1e-9)
    return np.asarray(points + force * (np.minimum(length, reach) / length)[:, None])


def _fitted(points: Points, width: int, height: int) -> Points:
    """Return points that fill the picture."""
    import numpy as np

    low, high = points.min(axis=0), points.max(axis=0)
    room = np.array([width, height]) - 2 * _EDGE
    span = np.maximum(high - low, 1e-9)
    flat = np.where(high - low < 1e-6, 0.5, (points - low) / span)
    return np.asarray(_EDGE + flat * room)


def _apart(points: Points, sizes: Points) -> Points:
    """Return points of which none lies on another."""
    import numpy as np

    far = np.sqrt(_square(points))
    short = np.clip(sizes[:, None] + sizes[None, :] + 4 - far, 0, None)
    return np.asarray(points + _pushed(points, short / np.maximum(far, 0.01)) * 0.45)


def _square(points: Points) -> Points:
    """Return the square of the distance between any two points; of one to itself it is endless."""
    import numpy as np

    lengths = (points**2).sum(axis=1)
    found = np.maximum(lengths[:, None] + lengths[None, :] - 2 * points @ points.T, 0)
    np.fill_diagonal(found, np.inf)
    return np.asarray(found)


def _pushed(points: Points, weights: Points) -> Points:
    """Return where each point is pushed by all others, each by its weight times the way from it."""
    pushed: Points = points * weights.sum(axis=1)[:, None] - weights @ points
    return pushed


def _named(
    nodes: tuple[Node, ...], points: tuple[tuple[float, float], ...], radii: tuple[float, ...], width: int, labels: int
) -> tuple[Dot, ...]:  # fmt: skip
    """Return the dots; names go to those with most links, as long as none covers another."""
    taken: list[tuple[float, float, float]] = []
    dots = [
        Dot(node=node, x=x, y=y, radius=radius, label="")
        for node, (x, y), radius in zip(nodes, points, radii, strict=True)
    ]
    for number in sorted(range(len(nodes)), key=lambda each: (-nodes[each].degree, each)):
        if len(taken) < labels:
            dots[number] = _with_label(dots[number], taken, width)
    return tuple(dots)


def _short(title: str) -> str:
    """Return a title that fits: of pages that begin alike, the end tells them apart."""
    title = one_line(title, 200)
    return (
        title
        if len(title) <= _TITLE
        else f"{title[: _TITLE // 2].rstrip(' .…')}…{title[1 - _TITLE // 2 :].lstrip(' .…')}"
    )


def _with_label(dot: Dot, taken: list[tuple[float, float, float]], width: int) -> Dot:
    """Return a dot with its name below or above it, if there is room; what it takes is noted."""
    label = _short(dot.node.title)
    half = len(label) * _LETTER / 2
    anchor = "start" if dot.x < half else "end" if dot.x > width - half else "middle"
    middle = dot.x + half * {"start": 1, "end": -1, "middle": 0}[anchor]
    for above in (False, True):
        line = dot.y - dot.radius - 6 if above else dot.y + dot.radius + 12
        if line > _LINE and all(abs(middle - x) > half + other or abs(line - y) > _LINE for x, other, y in taken):
            taken.append((middle, half, line))
            return Dot(**{**vars(dot), "label": label, "above": above, "anchor": anchor})
    return dot
