"""The picture of the links: the same for the same graph, and all of it inside."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from engram.surfaces.dashboard.drawing.graph import Picture, picture
from engram.wiki.graph import LinkGraph, Node

WIDTH, HEIGHT = 600, 400
_edges = st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), max_size=60)


def graph(edges: list[tuple[int, int]]) -> LinkGraph:
    real = [(one, other) for one, other in edges if one != other]
    degree = [len({b for a, b in real if a == n} | {a for a, b in real if b == n}) for n in range(25)]
    nodes = [Node(target=f"concepts/{n}", title=f"Page {n}", kind="concepts", degree=degree[n]) for n in range(25)]
    pairs = tuple((f"concepts/{one}", f"concepts/{other}") for one, other in real)
    return LinkGraph(nodes=tuple(nodes), edges=pairs, total=25)


def drawn(edges: list[tuple[int, int]]) -> Picture:
    return picture(graph(edges), WIDTH, HEIGHT, 12)


@settings(max_examples=30, deadline=None)
@given(_edges)
def test_every_linked_article_has_a_place_inside_and_no_other_has_one(edges: list[tuple[int, int]]) -> None:
    found = drawn(edges)
    linked = {end for pair in edges if pair[0] != pair[1] for end in pair}
    assert {each.node.target for each in found.dots} == {f"concepts/{n}" for n in linked}
    assert len(found.lines) == len({frozenset(pair) for pair in edges if pair[0] != pair[1]})
    assert all(0 <= each.x <= WIDTH and 0 <= each.y <= HEIGHT for each in found.dots)
    assert found == drawn(edges)


def test_dots_do_not_cover_each_other_and_the_most_linked_have_names() -> None:
    found = drawn([(0, n) for n in range(1, 20)] + [(1, 2), (2, 3)])
    gaps = [
        math.dist((one.x, one.y), (other.x, other.y)) - one.radius - other.radius
        for place, one in enumerate(found.dots) for other in found.dots[place + 1 :]
    ]  # fmt: skip
    assert min(gaps) > 0
    assert found.dots[0].label == "Page 0"
    assert sum(bool(each.label) for each in found.dots) <= 12
    assert found.dots[0].radius > found.dots[5].radius


def test_an_empty_graph_is_an_empty_picture() -> None:
    assert drawn([]).dots == ()
