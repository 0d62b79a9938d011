"""Projects by the names people use: a directory, a path that no longer exists, or the last part of a path."""

from __future__ import annotations

import os

from engram.errors import InvalidInput, NotFound
from engram.platform import text
from engram.sessions.checkouts import find_project
from engram.sessions.projects import get_project_name
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
    return _find_by_name(given, known_projects) or _find_by_path(hub, given, path, known_projects)


def list_names(hub: Hub) -> list[str]:
    """Return the names of all known projects."""
    return sorted({get_project_name(project) for project in store.list_projects(hub.engine)})


def _is_bare_name(given: str) -> bool:
    return given not in (".", "..", "~") and not any(separator in given for separator in ("/", "\\"))


def _find_by_name(given: str, known_projects: list[str]) -> str | None:
    matches = [project for project in known_projects if get_project_name(project).casefold() == given.casefold()]
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
    raise NotFound(kind="project", id=given, hint=_suggest_projects(given, known_projects))


def _suggest_projects(given: str, known_projects: list[str]) -> str:
    names = sorted({get_project_name(project) for project in known_projects})
    if not names:
        return "No projects are known yet. Run `engram ingest`."
    near = [name for name in names if given.casefold() in name.casefold()] or names
    rest = ", …" if len(near) > _MAX_SUGGESTIONS else ""
    return f"Known projects: {', '.join(near[:_MAX_SUGGESTIONS])}{rest}. `engram projects` lists all."
