"""The graph of links: deterministic and within its frame."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from engram.surfaces.dashboard.drawing.graph import GraphPicture, draw_graph
from engram.wiki.graph import ArticleNode, LinkGraph

WIDTH, HEIGHT = 600, 400
_edges = st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), max_size=60)


def graph(edges: list[tuple[int, int]]) -> LinkGraph:
    real = [(edge, other) for edge, other in edges if edge != other]
    degree = [len({b for a, b in real if a == n} | {a for a, b in real if b == n}) for n in range(25)]
    nodes = [
        ArticleNode(target=f"concepts/{n}", title=f"Page {n}", kind="concepts", degree=degree[n]) for n in range(25)
    ]
    pairs = tuple((f"concepts/{one}", f"concepts/{other}") for one, other in real)
    return LinkGraph(nodes=tuple(nodes), edges=pairs, total=25)


def drawn(edges: list[tuple[int, int]]) -> GraphPicture:
    return draw_graph(graph(edges), WIDTH, HEIGHT, 12)


@settings(max_examples=30, deadline=None)
@given(_edges)
def test_every_linked_article_has_a_place_inside_and_no_other_has_one(edges: list[tuple[int, int]]) -> None:
    result = drawn(edges)
    linked = {end for pair in edges if pair[0] != pair[1] for end in pair}
    assert {dot.node.target for dot in result.dots} == {f"concepts/{n}" for n in linked}
    assert len(result.lines) == len({frozenset(pair) for pair in edges if pair[0] != pair[1]})
    assert all(0 <= dot.x <= WIDTH and 0 <= dot.y <= HEIGHT for dot in result.dots)
    assert result == drawn(edges)


def test_dots_do_not_cover_each_other_and_the_most_linked_have_names() -> None:
    result = drawn([(0, n) for n in range(1, 20)] + [(1, 2), (2, 3)])
    gaps = [
        math.dist((dot.x, dot.y), (other.x, other.y)) - dot.radius - other.radius
        for place, dot in enumerate(result.dots) for other in result.dots[place + 1 :]
    ]  # fmt: skip
    assert min(gaps) > 0
    assert result.dots[0].label == "Page 0"
    assert sum(bool(dot.label) for dot in result.dots) <= 12
    assert result.dots[0].radius > result.dots[5].radius


def test_an_empty_graph_is_an_empty_picture() -> None:
    assert drawn([]).dots == ()
