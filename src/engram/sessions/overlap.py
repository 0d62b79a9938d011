"""Decide exactly whether two resources overlap. No I/O.

A pattern is a path in segments. `*` and `?` match inside one segment, `**` matches any number of
segments. A file is a pattern without wildcards; a directory is its path followed by `**`.
"""

from __future__ import annotations

from engram.types import Resource

ANY_DEPTH = "**"


def is_glob(path: str) -> bool:
    """Return whether a path has wildcards. Square brackets do not count: real file names contain them."""
    return "*" in path or "?" in path


def resources_overlap(first: Resource, second: Resource) -> bool:
    """Return whether some file matches both, or both are the same name."""
    if "name" in (first.kind, second.kind):
        return first.kind == second.kind and first.pattern == second.pattern
    return paths_overlap(_split_segments(first), _split_segments(second))


def paths_overlap(first: list[str], second: list[str]) -> bool:
    """Return whether some path matches both lists of segments."""
    # `reachable` holds the positions in `second` that the segments of `first` read so far can lead to.
    reachable = _skip_any_depth({0}, second)
    for segment in first:
        if segment == ANY_DEPTH:
            reachable = set(range(min(reachable), len(second) + 1)) if reachable else reachable
            continue
        reached = set()
        for position in reachable:
            if position < len(second) and second[position] == ANY_DEPTH:
                reached.add(position)
            elif position < len(second) and segments_overlap(segment, second[position]):
                reached.add(position + 1)
        reachable = _skip_any_depth(reached, second)
    return len(second) in reachable


def segments_overlap(first: str, second: str) -> bool:
    """Return whether some name matches both segment patterns."""
    if not is_glob(first) and not is_glob(second):
        return first == second
    reachable = _skip_stars({0}, second)
    for character in first:
        reached: set[int] = set()
        if character == "*":
            reached.update(range(min(reachable), len(second) + 1) if reachable else ())
        else:
            for position in reachable:
                if position < len(second) and second[position] == "*":
                    reached.add(position)
                elif position < len(second) and (character == "?" or second[position] in ("?", character)):
                    reached.add(position + 1)
        reachable = _skip_stars(reached, second)
    return len(second) in reachable


def _split_segments(resource: Resource) -> list[str]:
    parts = [part for part in resource.pattern.split("/") if part]
    return [*parts, ANY_DEPTH] if resource.kind == "directory" else parts


def _skip_any_depth(positions: set[int], pattern: list[str]) -> set[int]:
    return _skip_wildcard(positions, pattern, ANY_DEPTH)


def _skip_stars(positions: set[int], pattern: str) -> set[int]:
    return _skip_wildcard(positions, pattern, "*")


def _skip_wildcard(positions: set[int], pattern: list[str] | str, wildcard: str) -> set[int]:
    """Add the positions after wildcards that match nothing."""
    skipped = set(positions)
    for position in positions:
        while position < len(pattern) and pattern[position] == wildcard:
            position += 1
            skipped.add(position)
    return skipped
