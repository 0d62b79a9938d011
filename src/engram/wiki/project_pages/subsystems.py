"""Find the subsystems of a project: directories that several sessions changed, joined if they change together. Pure."""

from __future__ import annotations

from itertools import combinations

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.wiki.project_pages.changed_files import WorkDone

_LEAST_SESSIONS = 3
_TOGETHER = 0.4  # share of the changes of two directories that are to both
_MOST_DIRECTORIES = 3  # of a subsystem
_MOST = 12  # subsystems of a project
_DEEPEST = 4  # parts of a directory's path


@value
class Subsystem:
    """Directories that change together, and the work on them, newest first."""

    directories: tuple[str, ...]
    work: tuple[WorkDone, ...]

    def contains(self, path: str) -> bool:
        """Return whether a file is in one of its directories."""
        return any(path.startswith(f"{directory}/") for directory in self.directories)


def find_subsystems(work: Sequence[WorkDone]) -> list[Subsystem]:
    """Return the subsystems that several sessions changed, the most changed first."""
    by_directory = _join_small_directories(_group_by_directory(work))
    large = {name: places for name, places in by_directory.items() if _count_sessions(places, work) >= _LEAST_SESSIONS}
    found = [_build_subsystem(group, large, work) for group in _join_related(large)]
    return sorted(found, key=lambda item: (-len(item.work), item.directories))[:_MOST]


def _group_by_directory(work: Sequence[WorkDone]) -> dict[str, set[int]]:
    places: dict[str, set[int]] = {}
    for number, item in enumerate(work):
        for path in item.files:
            directory = "/".join(path.split("/")[:-1][:_DEEPEST])
            if directory:
                places.setdefault(directory, set()).add(number)
    return places


def _join_small_directories(places: dict[str, set[int]]) -> dict[str, set[int]]:
    """Count what was changed in a directory that few sessions changed for the directory it is in."""
    joined = {name: set(numbers) for name, numbers in places.items()}
    for name in sorted(places, key=lambda name: -name.count("/")):
        parent = name.rpartition("/")[0]
        if parent and len(joined[name]) < _LEAST_SESSIONS:
            joined.setdefault(parent, set()).update(joined.pop(name))
    return joined


def _count_sessions(places: set[int], work: Sequence[WorkDone]) -> int:
    return len({work[number].session_id for number in places})


def _join_related(places: dict[str, set[int]]) -> list[tuple[str, ...]]:
    """Return groups of directories that are mostly changed together."""
    groups: list[tuple[str, ...]] = [(name,) for name in sorted(places)]
    while True:
        pairs = [(_share(first, second, places), first, second) for first, second in combinations(groups, 2)]
        joinable = [pair for pair in pairs if pair[0] >= _TOGETHER and len(pair[1] + pair[2]) <= _MOST_DIRECTORIES]
        if not joinable:
            return groups
        _, first, second = max(joinable)
        groups = [group for group in groups if group not in (first, second)] + [tuple(sorted(first + second))]


def _share(first: tuple[str, ...], second: tuple[str, ...], places: dict[str, set[int]]) -> float:
    """Return the smallest share of changes to both among the pairs of two groups."""
    return min(len(places[one] & places[other]) / len(places[one] | places[other]) for one in first for other in second)


def _build_subsystem(group: tuple[str, ...], places: dict[str, set[int]], work: Sequence[WorkDone]) -> Subsystem:
    numbers = sorted(set().union(*(places[name] for name in group)))
    return Subsystem(directories=group, work=tuple(work[number] for number in numbers))
