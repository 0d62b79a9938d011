"""Compare the checkouts of this machine with the projects of the store; part of every full ingest."""

from __future__ import annotations

import os
import tempfile

from engram.capture.root_commits import read_root_commits
from engram.capture.vanished_files import find_project_by_files
from engram.clock import HOUR
from engram.hub import Hub
from engram.sessions import checkouts, project_joins, projects
from engram.sessions.checkouts import Repository
from engram.store import checkouts as store
from engram.store import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

_TEMPORARY = ("/tmp/", "/private/tmp/", "/var/folders/")  # noqa: S108
_AGAIN = 24 * HOUR  # after this time, what could not be read or found is tried again


def update_checkouts(hub: Hub) -> None:
    """Record the checkouts that are not known yet, and join the projects that are one repository."""
    machine = checkouts.get_machine(hub)
    _record_known_projects(hub, machine)
    for row in store.list_by_host(hub.engine, machine):
        if os.path.isdir(row["path"]):
            _update_existing(hub, row)
        else:
            _update_vanished(hub, row)


def _record_known_projects(hub: Hub, machine: str) -> None:
    """Record the repositories of sessions that were stored before checkouts were."""
    recorded = {row["project"] for row in store.list_all(hub.engine)}
    counts: dict[str, int] = {}
    for row in sessions.count_by_project(hub.engine):
        counts[row["project"]] = counts.get(row["project"], 0) + row["n"]
    unknown = [project for project in counts if os.path.isabs(project) and project not in recorded]
    for project in sorted(unknown, key=lambda path: (_rank_path(path), -counts[path], path)):
        if projects.find_git_location(project).project == project and os.path.isdir(project):
            target = checkouts.add_checkout(hub, project)
            if target != project:
                project_joins.join_projects(hub, project, target, "they are one repository")
        elif not machine and not os.path.isdir(project):  # in a shared store it may be on another machine
            checkouts.record_repository(hub, Repository(host=machine, path=project))


def _rank_path(path: str) -> int:
    """Return how little a path suits to name a project: 0 if it lasts, 1 if it is temporary, 2 if it is gone."""
    if not os.path.isdir(path):
        return 2
    return int(path.startswith((tempfile.gettempdir() + os.sep, *_TEMPORARY)))


def _update_existing(hub: Hub, row: Row) -> None:
    """Compare a checkout with the others; read its first commits once."""
    current = checkouts.read_repository(hub, row["path"])
    if current.remote != row["remote"]:  # what was here before
        _record_current(hub, current)
        return
    roots, is_due = row["roots"], hub.now() - row["looked_at"] > _AGAIN
    if roots is None or (not roots and is_due):
        roots = read_root_commits(row["path"])
        store.update(hub.engine, row, roots, row["project"], hub.now())
    _settle(hub, row, current, roots)


def _record_current(hub: Hub, current: Repository) -> None:
    """Record the repository that took the place of another one, or has a new remote."""
    if store.get(hub.engine, current.host, current.path, current.remote) is None:
        roots = read_root_commits(current.path)
        facts = {**vars(current), "roots": roots}
        checkouts.record_repository(hub, Repository(**facts))
        row = store.get(hub.engine, current.host, current.path, current.remote)
        assert row is not None
        _settle(hub, row, current, roots)


def _settle(hub: Hub, row: Row, current: Repository, roots: str | None) -> None:
    """Move a checkout to the project of its repository, with all of its project or alone."""
    repository = Repository(**{**vars(current), "roots": roots})
    related = store.list_related(hub.engine, repository.path, repository.remote)
    if repository.origin:
        target = checkouts.resolve_repository(hub, repository)
    else:
        target = checkouts.choose_project(repository, related)
    if target == row["project"]:
        target = _choose_lasting_path(hub, row)
    if target != row["project"]:
        _move(hub, row, repository, target, roots)


def _choose_lasting_path(hub: Hub, row: Row) -> str:
    """Return the path of a checkout if its project is named by one that is gone or will not last."""
    project, path = str(row["project"]), str(row["path"])
    if _rank_path(path) >= _rank_path(project):
        return project
    holders = store.list_by_project(hub.engine, project)
    is_local = {holder["host"] for holder in holders} == {row["host"]}
    is_named_by_path = any(holder["path"] == project for holder in holders)
    return path if is_local and is_named_by_path and not store.list_by_project(hub.engine, path) else project


def _move(hub: Hub, row: Row, repository: Repository, target: str, roots: str | None) -> None:
    """Join two projects, or separate a checkout from one that holds other repositories as well."""
    old = row["project"]
    holders = store.list_by_project(hub.engine, old)
    if all(checkouts.is_same_repository(repository, holder) for holder in holders):
        project_joins.join_projects(hub, old, target, "they are one repository")
    elif project_joins.separate_checkout(hub, row["host"], row["path"], old, target):
        store.update(hub.engine, row, roots, target, hub.now())


def _update_vanished(hub: Hub, row: Row) -> None:
    """Find the repository of a directory that is gone, by its remote or by the files its sessions touched."""
    if row["project"] != row["path"] or hub.now() - row["looked_at"] <= _AGAIN:
        return
    related = store.list_related(hub.engine, row["path"], row["remote"])
    repository = Repository(host=row["host"], path=row["path"], remote=row["remote"], roots=row["roots"])
    target = checkouts.choose_project(repository, related)
    if target == row["project"] and not row["remote"]:
        target = find_project_by_files(hub, row["path"]) or target
    store.update(hub.engine, row, None, row["project"], hub.now())
    if target != row["project"]:
        project_joins.join_projects(hub, row["project"], target, "its directory is gone, and its files are there")
