"""Find the project of a directory that is gone or on another machine."""

from __future__ import annotations

import ntpath
import os
import re

from engram.hub import Hub
from engram.sessions import checkouts, git_remotes, projects
from engram.sessions.checkouts import Repository
from engram.store import checkouts as store
from engram.store import sessions

# A worktree of its own below the checkout, as agents and people name them: app/.worktrees/x, app/.claude/worktrees/x.
_WORKTREE = re.compile(r"^(.+?)[/\\](?:\.worktrees|\.\w+[/\\]worktrees)[/\\](.+)$")
# Beside the checkout: app-worktrees/x, app.worktrees/x.
_WORKTREE_BESIDE = re.compile(r"^(.+?)[-._]worktrees?[/\\][^/\\]+")
_DRIVE = re.compile(r"^[A-Za-z]:[/\\]")


def find_vanished_project(hub: Hub, directory: str, remote_url: str | None = None) -> str:
    """Return the project of a directory that is not on this machine: by its worktree's name, its remote, or itself."""
    directory = _normalize_windows_path(directory)
    match = _WORKTREE.match(directory)
    root = match[1] if match else directory
    remote = git_remotes.normalize_remote(remote_url or "")
    known = (
        _find_existing(hub, root, remote if root == directory else "")
        or (match and _find_named_project(hub, match[2]))
        or _find_beside(hub, directory)
        or (not remote and _find_recorded(hub, root))
    )
    if known:
        return known
    return checkouts.record_repository(hub, Repository(host=checkouts.get_machine(hub), path=root, remote=remote))


def _find_existing(hub: Hub, root: str, remote: str) -> str:
    """Return the project of the repository that a directory is, or was, in; "" if none exists here."""
    current = root
    while current and not os.path.isdir(current):
        parent = os.path.dirname(current)
        current = "" if parent == current else parent
    git_root = projects.find_git_location(current).project if current else ""
    if not git_root:
        return ""
    # A checkout of its own may have been below another repository, such as a home directory under git.
    if remote and checkouts.read_repository(hub, git_root).remote != remote:
        return ""
    return checkouts.add_checkout(hub, git_root)


def _find_named_project(hub: Hub, rest: str) -> str:
    """Return the only project with a name in a worktree's path, as in ~/.cursor/worktrees/app/x."""
    names = set(re.split(r"[/\\]", rest))
    matches = [project for project in sessions.list_projects(hub.engine) if projects.get_project_name(project) in names]
    return matches[0] if len(matches) == 1 else ""


def _find_beside(hub: Hub, directory: str) -> str:
    match = _WORKTREE_BESIDE.match(directory)
    return _find_recorded(hub, match[1]) or _find_own_root(hub, match[1]) if match else ""


def _find_own_root(hub: Hub, path: str) -> str:
    return checkouts.add_checkout(hub, path) if projects.find_git_location(path).project == path else ""


def _find_recorded(hub: Hub, directory: str) -> str:
    """Return the project of a repository known to have been here."""
    paths, current = [], directory
    parent_of = ntpath.dirname if _DRIVE.match(directory) else os.path.dirname
    while current and current not in paths:
        paths.append(current)
        current = parent_of(current)
    row = store.find_newest(hub.engine, checkouts.get_machine(hub), paths) if paths else None
    # A directory that was never seen may have been a home: what is below it is not part of it.
    was_repository = row is not None and (row["path"] == directory or row["remote"] or row["roots"])
    return str(row["project"]) if row is not None and was_repository else ""


def _normalize_windows_path(directory: str) -> str:
    if os.name == "nt" or not _DRIVE.match(directory):
        return directory
    return directory[0].upper() + directory[1:].replace("/", "\\").rstrip("\\")
