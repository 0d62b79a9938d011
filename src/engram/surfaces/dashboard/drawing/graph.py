"""Force-directed layout of the links between articles.

The layout is deterministic: the same graph gives the same picture. Articles without links are left out.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from engram.platform.text import to_one_line
from engram.platform.value import value
from engram.wiki.graph import ArticleNode, LinkGraph

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Points = NDArray[np.float64]

_STEPS = 200  # iterations; more change little
_GOLDEN = 2.399963229728653  # golden angle in radians: spreads the starting points over a spiral
_GRAVITY = 7  # pull towards the center
_EDGE = 18  # margin around the picture
_SMALLEST = 3.5  # smallest radius of a dot
_LETTER, _LINE = 6.1, 15  # width of a character and height of a label
_TITLE_CHARS = 28  # longest label


@value
class GraphDot:
    """An article as a dot of the graph."""

    node: ArticleNode
    x: float
    y: float
    radius: float
    label: str  # empty if there is no room
    above: bool = False  # whether the label is above the dot
    anchor: str = "middle"  # text-anchor of the label; near an edge it points inwards


@value
class GraphPicture:
    """A graph with a position for each article."""

    width: int
    height: int
    dots: tuple[GraphDot, ...]
    lines: tuple[tuple[float, float, float, float], ...]


def draw_graph(graph: LinkGraph, width: int, height: int, labels: int) -> GraphPicture:
    """Lay out a graph and label the articles with the most links."""
    linked = {end for edge in graph.edges for end in edge}
    nodes = tuple(node for node in graph.nodes if node.target in linked)
    places = {node.target: number for number, node in enumerate(nodes)}
    pairs = tuple(sorted({tuple(sorted((places[first], places[second]))) for first, second in graph.edges}))
    radii = _compute_radii(nodes, width, height)
    points = _place_dots(len(nodes), pairs, radii, width, height)
    return GraphPicture(
        width=width, height=height, dots=_label_dots(nodes, points, radii, width, labels),
        lines=tuple((*points[first], *points[second]) for first, second in pairs),
    )  # fmt: skip


def _compute_radii(nodes: tuple[ArticleNode, ...], width: int, height: int) -> tuple[float, ...]:
    """Return the radius of each dot: larger with more links, smaller in crowded graphs."""
    most = max((node.degree for node in nodes), default=1)
    free_size = 0.2 * (width * height / max(1, len(nodes))) ** 0.5
    largest = max(_SMALLEST + 1, min(14.0, width / 40, free_size))
    return tuple(round(_SMALLEST + (largest - _SMALLEST) * (node.degree / most) ** 0.5, 1) for node in nodes)


@lru_cache(maxsize=32)
def _place_dots(
    count: int, pairs: tuple[tuple[int, ...], ...], radii: tuple[float, ...], width: int, height: int
) -> tuple[tuple[float, float], ...]:  # fmt: skip
    """Return a position for each dot: dots repel each other, links attract, gravity pulls to the center."""
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
        points = _move_points(points, ends, ideal, reach)
    scaled = _fit_points(points, width, height)
    sizes = np.array(radii)
    for _ in range(40):
        scaled = _separate_points(scaled, sizes)
    scaled = np.clip(scaled, _EDGE, [width - _EDGE, height - _EDGE])
    return tuple((round(float(x), 1), round(float(y), 1)) for x, y in scaled)


def _move_points(points: Points, ends: NDArray[np.intp], ideal: float, reach: float) -> Points:
    """Return the points after one iteration; `reach` limits the distance."""
    import numpy as np

    force = _push_points(points, ideal**2 / np.maximum(_distance_squares(points), 1e-6))
    along = points[ends[:, 0]] - points[ends[:, 1]]
    pull = along * (np.sqrt((along**2).sum(axis=1)) / ideal)[:, None]
    np.add.at(force, ends[:, 0], -pull)
    np.add.at(force, ends[:, 1], pull)
    force -= points * _GRAVITY * ideal
    length = np.maximum(np.sqrt((force**2).sum(axis=1)), 1e-9)
    return np.asarray(points + force * (np.minimum(length, reach) / length)[:, None])


def _fit_points(points: Points, width: int, height: int) -> Points:
    """Scale the points to fill the picture."""
    import numpy as np

    low, high = points.min(axis=0), points.max(axis=0)
    free_size = np.array([width, height]) - 2 * _EDGE
    span = np.maximum(high - low, 1e-9)
    flat = np.where(high - low < 1e-6, 0.5, (points - low) / span)
    return np.asarray(_EDGE + flat * free_size)


def _separate_points(points: Points, sizes: Points) -> Points:
    """Move overlapping dots apart."""
    import numpy as np

    far = np.sqrt(_distance_squares(points))
    short = np.clip(sizes[:, None] + sizes[None, :] + 4 - far, 0, None)
    return np.asarray(points + _push_points(points, short / np.maximum(far, 0.01)) * 0.45)


def _distance_squares(points: Points) -> Points:
    """Return the squared distances between all points; infinity on the diagonal."""
    import numpy as np

    lengths = (points**2).sum(axis=1)
    squares = np.maximum(lengths[:, None] + lengths[None, :] - 2 * points @ points.T, 0)
    np.fill_diagonal(squares, np.inf)
    return np.asarray(squares)


def _push_points(points: Points, weights: Points) -> Points:
    """Return the sum of the weighted pushes on each point by all others."""
    pushed: Points = points * weights.sum(axis=1)[:, None] - weights @ points
    return pushed


def _label_dots(
    nodes: tuple[ArticleNode, ...],
    points: tuple[tuple[float, float], ...],
    radii: tuple[float, ...],
    width: int,
    labels: int,
) -> tuple[GraphDot, ...]:
    """Return the dots, with labels on the most linked ones where labels do not overlap."""
    label_places: list[tuple[float, float, float]] = []
    dots = [
        GraphDot(node=node, x=x, y=y, radius=radius, label="")
        for node, (x, y), radius in zip(nodes, points, radii, strict=True)
    ]
    for number in sorted(range(len(nodes)), key=lambda index: (-nodes[index].degree, index)):
        if len(label_places) < labels:
            dots[number] = _add_label(dots[number], label_places, width)
    return tuple(dots)


def _shorten_title(title: str) -> str:
    """Shorten a title in the middle, because similar titles often differ at the end."""
    title = to_one_line(title, 200)
    return (
        title
        if len(title) <= _TITLE_CHARS
        else f"{title[: _TITLE_CHARS // 2].rstrip(' .…')}…{title[1 - _TITLE_CHARS // 2 :].lstrip(' .…')}"
    )


def _add_label(dot: GraphDot, label_places: list[tuple[float, float, float]], width: int) -> GraphDot:
    """Return a dot with a label below or above it if there is room, and reserve that room."""
    label = _shorten_title(dot.node.title)
    half_width = len(label) * _LETTER / 2
    anchor = "start" if dot.x < half_width else "end" if dot.x > width - half_width else "middle"
    middle = dot.x + half_width * {"start": 1, "end": -1, "middle": 0}[anchor]
    for above in (False, True):
        line = dot.y - dot.radius - 6 if above else dot.y + dot.radius + 12
        if line > _LINE and all(
            abs(middle - x) > half_width + other or abs(line - y) > _LINE for x, other, y in label_places
        ):
            label_places.append((middle, half_width, line))
            return GraphDot(**{**vars(dot), "label": label, "above": above, "anchor": anchor})
    return dot
