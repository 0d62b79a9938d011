"""Projects by the names people use: a directory, a path that no longer exists, or the name of the repository."""

from __future__ import annotations

import os
from collections import Counter

from engram.errors import InvalidInput, NotFound
from engram.platform import text
from engram.sessions.checkouts import find_project, get_machine
from engram.sessions.projects import get_project_name
from engram.store import checkouts
from engram.store import sessions as store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub

_MAX_SUGGESTIONS = 5


def resolve_project(hub: Hub, name_or_path: str, directory: str = "") -> str:
    """Return the project that a person means, known to the store or found at a path.

    A known name comes first, so that `-p api` means the project even next to a folder of that name.
    """
    given = text.validate_name("project", name_or_path)
    known_projects = store.list_projects(hub.engine)
    path = os.path.join(directory or os.getcwd(), os.path.expanduser(given))
    if given in known_projects:
        return given
    if not _is_bare_name(given) and os.path.isdir(path):
        return find_project(hub, path)
    return _find_by_name(hub, given, known_projects) or _find_by_path(hub, given, path, known_projects)


def list_names(hub: Hub) -> list[str]:
    """Return the names of all known projects."""
    return sorted(set(name_projects(hub).values()))


def name_projects(hub: Hub) -> dict[str, str]:
    """Return the name of every project: its repository's, with the owner or folder only where two share a name."""
    remotes: dict[str, str] = {}
    for row in checkouts.list_all(hub.engine):
        if row["remote"] and not os.path.isabs(row["remote"].rpartition(":")[2]):
            remotes.setdefault(row["project"], row["remote"])
    projects = store.list_projects(hub.engine)
    names: dict[str, str] = {}
    for depth in (1, 2, 3):
        named = {project: _take_last_parts(project, remotes.get(project, ""), depth) for project in projects}
        counts = Counter(name.casefold() for name in named.values())
        names |= {project: name for project, name in named.items() if counts[name.casefold()] == 1}
        projects = [project for project in projects if project not in names]
    return names | {project: project for project in projects}


def _take_last_parts(project: str, remote: str, depth: int) -> str:
    """Return the last parts of a remote, or of a path; the path knows how the name is written."""
    path_parts = [part for part in project.replace("\\", "/").split("/") if part]
    parts = remote.split("/") if remote else path_parts
    name = "/".join(parts[-depth:]) or project
    is_same = depth == 1 and path_parts and path_parts[-1].casefold() == name.casefold()
    return path_parts[-1] if is_same else name


def _is_bare_name(given: str) -> bool:
    return given not in (".", "..", "~") and not any(separator in given for separator in ("/", "\\"))


def _find_by_name(hub: Hub, given: str, known_projects: list[str]) -> str | None:
    names = name_projects(hub)
    wanted = given.casefold()
    matches = [project for project in known_projects if names[project].casefold() == wanted] or [
        project
        for project in known_projects
        if wanted in (get_project_name(project).casefold(), names[project].rpartition("/")[2].casefold())
    ]
    if len(matches) > 1:
        paths = ", ".join(sorted(matches)[:_MAX_SUGGESTIONS])
        raise InvalidInput(field="project", reason=f"{given!r} is the name of several projects. Use a path: {paths}.")
    return matches[0] if matches else None


def _find_by_path(hub: Hub, given: str, path: str, known_projects: list[str]) -> str:
    """Return the project at a path: what is there now, or what was recorded before the directory vanished."""
    if os.path.isdir(path):
        return find_project(hub, path)
    normalized = os.path.normpath(path)
    if normalized in known_projects:
        return normalized
    row = checkouts.find_newest(hub.engine, get_machine(hub), [normalized])
    if row is not None:
        return str(row["project"])
    raise NotFound(kind="project", id=given, hint=_suggest_projects(given, list_names(hub)))


def _suggest_projects(given: str, names: list[str]) -> str:
    if not names:
        return "No projects are known yet. Run `engram ingest`."
    near = [name for name in names if given.casefold() in name.casefold()] or names
    rest = ", …" if len(near) > _MAX_SUGGESTIONS else ""
    return f"Known projects: {', '.join(near[:_MAX_SUGGESTIONS])}{rest}. `engram projects` lists all."
