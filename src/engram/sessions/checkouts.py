"""The project of a directory: the clones of one repository are one project, on every machine of a store.

A project is named by a path: the root of the checkout of it that the store knew first. Other checkouts of the same
repository are recognized by their remote, and told apart by their first commits once these are known.
"""

from __future__ import annotations

import os

from engram.platform import host, text
from engram.platform.value import value
from engram.redaction.store_redactor import remove_secrets_from_name
from engram.sessions import projects
from engram.store import checkouts as store
from engram.store import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.store.engine import Row

_LONGEST_REMOTE = 500  # characters
_MOST_ORIGINS = 5  # clones of clones on one machine that are followed


@value
class Repository:
    """What identifies the repository of a checkout."""

    host: str
    path: str
    remote: str = ""  # host/owner/name, or a path on one machine; "" if it has none
    roots: str | None = None  # its first commits, if they are known
    origin: str = ""  # the checkout on this machine that it was cloned from, if that has no remote itself


def get_machine(hub: Hub) -> str:
    """Return the machine that a path belongs to; "" for SQLite, which serves one machine."""
    return "" if hub.engine.dialect == "sqlite" else host.get_host_name()


def find_project(hub: Hub, directory: str | None) -> str:
    """Return the project of a directory: that of its repository, or the directory itself."""
    if not directory:
        return ""
    return find_git_project(hub, directory) or os.path.realpath(directory)


def find_git_project(hub: Hub, directory: str) -> str:
    """Return the project of the repository that contains a directory; "" outside of any."""
    root = projects.find_git_location(directory).project
    return resolve_repository(hub, read_repository(hub, root)) if root else ""


def add_checkout(hub: Hub, directory: str | None) -> str:
    """Return the project of a directory, and record its checkout for those that come later."""
    root = projects.find_git_location(directory).project if directory else ""
    if not root:
        return os.path.realpath(directory) if directory else ""
    return record_repository(hub, read_repository(hub, root))


def list_project_directories(hub: Hub) -> dict[str, str]:
    """Return the directories of all projects, as far as they are on this machine, each with its project."""
    directories = {project: project for project in sessions.list_projects(hub.engine)}
    return directories | {row["path"]: row["project"] for row in store.list_by_host(hub.engine, get_machine(hub))}


def record_repository(hub: Hub, repository: Repository) -> str:
    """Return the project of a repository, and record this checkout of it."""
    related = store.list_related(hub.engine, repository.path, repository.remote)
    row = _find_own_row(repository, related)
    if row is not None:
        return str(row["project"])
    project = resolve_repository(hub, repository)
    with hub.engine.transaction():
        store.add(hub.engine, repository.host, repository.path, repository.remote, repository.roots, project, hub.now())
    return project


def read_repository(hub: Hub, root: str) -> Repository:
    """Return what the files of a checkout say about its repository."""
    from engram.sessions import git_remotes

    machine, directory, remote = get_machine(hub), root, ""
    for _ in range(_MOST_ORIGINS):
        url = git_remotes.read_remote_url(directory)
        remote, origin = git_remotes.normalize_remote(url), git_remotes.get_local_path(url, directory)
        if remote or not origin:
            break
        remote = f"{machine}:{origin}"
        if not os.path.exists(os.path.join(origin, ".git")):  # a bare repository, or gone
            break
        # A clone of a checkout on this machine is what that checkout is.
        directory, remote = projects.find_git_location(origin).project, ""
    origin = "" if remote or directory == root else directory
    return Repository(host=machine, path=root, remote=_clean_remote(hub, remote), origin=origin)


def resolve_repository(hub: Hub, repository: Repository) -> str:
    """Return the project of a repository: the one recorded, that of its first known checkout, or its path."""
    if repository.origin:
        repository = Repository(host=repository.host, path=repository.origin)
    related = store.list_related(hub.engine, repository.path, repository.remote)
    row = _find_own_row(repository, related)
    return str(row["project"]) if row is not None else choose_project(repository, related)


def choose_project(repository: Repository, related: list[Row]) -> str:
    """Return the project of a checkout, chosen from the related checkouts, oldest first."""
    others: list[Row] = []
    for row in related:
        if not is_same_repository(repository, row):
            others.append(row)
        elif all(other["project"] != row["project"] for other in others):
            return str(row["project"])
    return _build_key(repository, others)


def is_same_repository(repository: Repository, row: Row) -> bool:
    """Return whether a checkout is of this repository, as far as is known."""
    own_roots, roots = set((repository.roots or "").split()), set((row["roots"] or "").split())
    is_shared = bool(own_roots & roots)
    if own_roots and roots and not is_shared:
        return False
    if (repository.host, repository.path) == (row["host"], row["path"]):
        # The address of a repository may change, and a repository may be given one.
        return is_shared or repository.remote == row["remote"] or not (repository.remote and row["remote"])
    # The same path on another machine may be anything.
    return repository.remote == row["remote"] and (bool(repository.remote) or is_shared)


def _build_key(repository: Repository, others: list[Row]) -> str:
    """Return the path of a checkout, with what tells it from other repositories that have this path."""
    taken = {row["project"] for row in others}
    details = (repository.remote, (repository.roots or "")[:12], repository.host)
    keys = [repository.path, *(f"{repository.path}@{detail}" for detail in details if detail)]
    return next((key for key in keys if key not in taken), keys[-1])


def _find_own_row(repository: Repository, related: list[Row]) -> Row | None:
    key = (repository.host, repository.path, repository.remote)
    return next((row for row in related if (row["host"], row["path"], row["remote"]) == key), None)


def _clean_remote(hub: Hub, remote: str) -> str:
    cleaned = text.validate_text("remote", remote[:_LONGEST_REMOTE])
    return remove_secrets_from_name(hub, cleaned) if cleaned else ""
