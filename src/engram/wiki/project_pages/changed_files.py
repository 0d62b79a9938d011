"""The episodes of a project with the files they changed, relative to the root of the project."""

from __future__ import annotations

import re
from collections import Counter

from engram.evidence import task_commands
from engram.evidence.episodes import ABANDONED, TEMPORARY
from engram.platform import plain_json
from engram.platform.text import format_count
from engram.platform.value import value
from engram.store import episodes
from engram.summaries.playbook.hot_files import find_whole_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engram.hub import Hub
    from engram.store.engine import Row

_READ = 1_000  # episodes of a project
_FILES_SHOWN = 3  # of a directory
_NOT_SOURCE = re.compile(
    r"\.(?:exe|dll|so|o|a|class|pyc|zip|gz|png|jpe?g|gif|ico|lock|sum|min\.js|map|snap|log)$|"
    r"(?:^|/)(?:scratch|zzz?_|tmp|\.(?!github/)[\w-]+/|node_modules/|dist/|out/|build/)",
    re.IGNORECASE,
)
_COMMIT = re.compile(r"^[0-9a-f]{6,40} +")
_FIXUP = re.compile(r"^(?:fixup|squash|amend)! +")


@value
class WorkDone:
    """What an episode changed, and what came of it."""

    place: tuple[int, int]  # capture and number of the episode
    session_id: str
    at: int
    title: str
    result: str
    files: tuple[str, ...]
    commits: tuple[str, ...]  # subjects, newest first
    causes: tuple[str, ...]


def list_work(hub: Hub, project: str) -> list[WorkDone]:
    """Return the episodes of a project that changed files, newest first; what a fork repeats is listed once."""
    rows = episodes.list_recent(hub.engine, project, "", _READ)
    unique = {(row["started_at"] or row["ended_at"], row["title"]): row for row in reversed(rows)}
    work = [_build_work(row, project) for row in reversed(unique.values()) if row["result"] != ABANDONED]
    whole = find_whole_paths({path for item in work for path in item.files})
    resolved = (_replace_files(item, whole) for item in work)
    return sorted((item for item in resolved if item.files), key=lambda item: -item.at)


def list_places(work: Iterable[WorkDone], count: int) -> list[str]:
    """Return the directories that were changed most, each with its files that were."""
    directories: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for item in work:
        directories.update({path.rpartition("/")[0] for path in item.files} - {""})
        files.update(set(item.files))
    places = sorted(directories, key=lambda name: (-directories[name], name))[:count]
    return [_write_place(name, directories[name], files) for name in places if directories[name] > 1]


def _write_place(directory: str, changes: int, files: Counter[str]) -> str:
    inside = [path for path in files if path.rpartition("/")[0] == directory]
    most = sorted(inside, key=lambda path: (-files[path], path))[:_FILES_SHOWN]
    names = ", ".join(path.rpartition("/")[2] for path in most)
    return f"`{directory}/`: {names} ({format_count(changes, 'change')})"


def _build_work(row: Row, project: str) -> WorkDone:
    facts = plain_json.loads(row["facts"])
    subjects = (_FIXUP.sub("", _COMMIT.sub("", commit)).strip() for commit in reversed(facts["commits"]))
    return WorkDone(
        place=(row["capture"], row["number"]), session_id=row["session_id"],
        at=row["ended_at"] or row["started_at"] or 0, title=row["title"], result=row["result"],
        files=tuple(_list_paths(facts["changed"], project)), commits=tuple(dict.fromkeys(filter(None, subjects))),
        causes=tuple(item["text"] for item in facts["causes"]),
    )  # fmt: skip


def _list_paths(changed: Iterable[str], project: str) -> list[str]:
    located = (task_commands.locate(path, project) for path in changed if not TEMPORARY.search(path))
    return list(dict.fromkeys(path for path in located if path and not _NOT_SOURCE.search(path)))


def _replace_files(item: WorkDone, whole: Mapping[str, str]) -> WorkDone:
    return WorkDone(**{**vars(item), "files": tuple(dict.fromkeys(whole[path] for path in item.files))})
