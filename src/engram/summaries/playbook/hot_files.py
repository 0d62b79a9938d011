"""Find the files that are changed most, and those that are changed together."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

from engram.evidence.episodes import TEMPORARY
from engram.platform import plain_json
from engram.platform.value import value
from engram.store import commits, episodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from engram.hub import Hub

_COMMITS, _EPISODES = 2_000, 1_000
_MADE = re.compile(r"\.(?:exe|dll|so|o|a|class|pyc|zip|gz|png|jpe?g|gif|ico|lock|sum|min\.js|map|snap)$|(?:^|/)scratch")
_TEST_MARK = re.compile(r"^test_|(?:[._-](?:test|spec)s?|_tests?)(?=\.|$)", re.IGNORECASE)
_FEW_FILES = 12  # a change of more files says nothing about which belong together
_LEAST_TOGETHER = 3  # changes
_SHARE = 0.6  # of the changes of the rarer file


@value
class FileChanges:
    """How often a file, or two files together, were changed."""

    paths: tuple[str, ...]
    times: int
    of: int  # changes of the rarer file


def list_changes(hub: Hub, project: str) -> list[tuple[str, ...]]:
    """Return the files of each commit and of each episode that made no commit, relative to the project."""
    changes = [*_list_committed(hub, project), *_list_edited(hub, project)]
    whole = find_whole_paths({path for files in changes for path in files})
    kept = (tuple(dict.fromkeys(whole[path] for path in files if not _MADE.search(path))) for files in changes)
    return [files for files in kept if files]


def find_whole_paths(paths: set[str]) -> dict[str, str]:
    """Return the path from the root of the project for each path: agents also name files from where they are."""
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    whole: dict[str, str] = {}
    for path in paths:
        longer = [other for other in by_name[path.rpartition("/")[2]] if other.endswith(f"/{path}")]
        whole[path] = longer[0] if len(longer) == 1 and "/" in path else path
    return whole


def _list_committed(hub: Hub, project: str) -> Iterator[tuple[str, ...]]:
    for row in commits.list_recent(hub.engine, project, _COMMITS):
        files = plain_json.loads(row["files"])
        if files:
            yield tuple(files)


def _list_edited(hub: Hub, project: str) -> Iterator[tuple[str, ...]]:
    root = project.replace("\\", "/").rstrip("/").lower() + "/"
    for row in episodes.list_recent(hub.engine, project, "", _EPISODES):
        paths = (path.replace("\\", "/") for path in plain_json.loads(row["facts"])["changed"])
        inside = [
            path[len(root) :] if path.lower().startswith(root) else path for path in paths if not TEMPORARY.search(path)
        ]
        files = tuple(path for path in inside if not path.startswith(("/", "~", "..")) and ":" not in path)
        if files:
            yield files


def list_hot_files(changes: Iterable[tuple[str, ...]], count: int) -> list[FileChanges]:
    """Return the files changed most."""
    times = Counter(path for files in changes for path in set(files))
    return [FileChanges(paths=(path,), times=number, of=number) for path, number in times.most_common(count)]


def list_changed_together(changes: Iterable[tuple[str, ...]], count: int) -> list[FileChanges]:
    """Return pairs of files that are mostly changed together."""
    small = [sorted(set(files)) for files in changes if len(files) <= _FEW_FILES]
    times = Counter(path for files in small for path in files)
    pairs = Counter(pair for files in small for pair in combinations(files, 2))
    found = [
        FileChanges(paths=pair, times=number, of=min(times[path] for path in pair))
        for pair, number in pairs.items()
        if number >= _LEAST_TOGETHER and number >= _SHARE * min(times[path] for path in pair) and not _is_test_of(*pair)
    ]
    return sorted(found, key=lambda item: (-item.times, item.paths))[:count]


def _is_test_of(first: str, second: str) -> bool:
    """Return whether one of two files tests the other, which everybody expects."""
    stems = {_TEST_MARK.sub("", path.rpartition("/")[2]).partition(".")[0] for path in (first, second)}
    return len(stems) == 1


def list_directories(changes: Iterable[tuple[str, ...]], count: int) -> list[FileChanges]:
    """Return the directories in which most changes were made, with the file changed most in each."""
    directories: Counter[str] = Counter()
    files: dict[str, Counter[str]] = {}
    for changed in changes:
        for directory in dict.fromkeys(path.rpartition("/")[0] for path in changed):
            directories[directory] += 1
        for path in dict.fromkeys(changed):
            folder, _, name = path.rpartition("/")
            files.setdefault(folder, Counter())[name] += 1
    return [
        FileChanges(paths=(directory, *(name for name, _ in files[directory].most_common(3))), times=number, of=number)
        for directory, number in directories.most_common(count)
        if directory
    ]
