"""Whether two resources share anything, exactly. Pure.

A pattern is a path in segments. `*` and `?` stay inside one segment, `**` stands for any number of
segments. A file is a pattern without wildcards; a directory is its path followed by `**`.
"""

from __future__ import annotations

from engram.model import Resource

ANY_DEPTH = "**"


def is_glob(path: str) -> bool:
    """Tell whether a path holds wildcards. Square brackets do not count: real files carry them."""
    return "*" in path or "?" in path


def overlaps(one: Resource, other: Resource) -> bool:
    """Tell whether some file, or the name itself, belongs to both."""
    if "name" in (one.kind, other.kind):
        return one.kind == other.kind and one.pattern == other.pattern
    return paths_meet(_segments(one), _segments(other))


def paths_meet(one: list[str], other: list[str]) -> bool:
    """Tell whether some path matches both lists of segments."""
    # Row by row over `one`; reachable[j] says that what is left of `one` can still meet other[j:].
    reachable = _after_any_depth({0}, other)
    for segment in one:
        if segment == ANY_DEPTH:
            reachable = set(range(min(reachable), len(other) + 1)) if reachable else reachable
            continue
        step = set()
        for j in reachable:
            if j < len(other) and other[j] == ANY_DEPTH:
                step.add(j)
            elif j < len(other) and segments_meet(segment, other[j]):
                step.add(j + 1)
        reachable = _after_any_depth(step, other)
    return len(other) in reachable


def segments_meet(one: str, other: str) -> bool:
    """Tell whether some name matches both segment patterns."""
    if not is_glob(one) and not is_glob(other):
        return one == other
    reachable = _after_stars({0}, other)
    for character in one:
        step: set[int] = set()
        if character == "*":
            step.update(range(min(reachable), len(other) + 1) if reachable else ())
        else:
            for j in reachable:
                if j < len(other) and other[j] == "*":
                    step.add(j)
                elif j < len(other) and (character == "?" or other[j] in ("?", character)):
                    step.add(j + 1)
        reachable = _after_stars(step, other)
    return len(other) in reachable


def _segments(resource: Resource) -> list[str]:
    parts = [part for part in resource.pattern.split("/") if part]
    return [*parts, ANY_DEPTH] if resource.kind == "directory" else parts


def _after_any_depth(positions: set[int], pattern: list[str]) -> set[int]:
    return _skip(positions, pattern, ANY_DEPTH)


def _after_stars(positions: set[int], pattern: str) -> set[int]:
    return _skip(positions, pattern, "*")


def _skip(positions: set[int], pattern: list[str] | str, wildcard: str) -> set[int]:
    """Add the positions behind a wildcard that may stand for nothing."""
    found = set(positions)
    for position in positions:
        while position < len(pattern) and pattern[position] == wildcard:
            position += 1
            found.add(position)
    return found
