"""Find the project and branch of a directory. Reads files only; git is not run."""

from __future__ import annotations

import os

from engram.platform.value import value


@value
class GitLocation:
    """Where a directory is: its project, this checkout of it, and the branch checked out."""

    project: str  # the main checkout's root, the same from every worktree; "" outside any project
    checkout: str  # this worktree's root
    branch: str | None = None


NOWHERE = GitLocation(project="", checkout="")


def find_git_location(directory: str) -> GitLocation:
    """Find the project of a directory by its git root, across worktrees."""
    current = os.path.realpath(directory)
    while True:
        marker = os.path.join(current, ".git")
        if os.path.isdir(marker):
            return GitLocation(project=current, checkout=current, branch=_read_branch(marker))
        if os.path.isfile(marker):
            return _read_linked_checkout(current, marker)
        parent = os.path.dirname(current)
        if parent == current:
            return NOWHERE
        current = parent


def find_project(directory: str | None) -> str:
    """Return the project of a directory: its git root, or the directory itself."""
    if not directory:
        return ""
    return find_git_location(directory).project or os.path.realpath(directory)


def _read_linked_checkout(checkout: str, marker: str) -> GitLocation:
    """Follow the `.git` file of a worktree or submodule."""
    pointer = _read_first_line(marker)
    if not pointer.startswith("gitdir:"):
        return GitLocation(project=checkout, checkout=checkout)
    git_directory = os.path.realpath(os.path.join(checkout, pointer.removeprefix("gitdir:").strip()))
    common_path = _read_first_line(os.path.join(git_directory, "commondir"))
    branch = _read_branch(git_directory)
    if not common_path:  # a submodule is a project of its own
        return GitLocation(project=checkout, checkout=checkout, branch=branch)
    common_directory = os.path.realpath(os.path.join(git_directory, common_path))
    main = os.path.dirname(common_directory) if os.path.basename(common_directory) == ".git" else common_directory
    return GitLocation(project=main, checkout=checkout, branch=branch)


def read_head(checkout: str) -> str:
    """Return the commit that is checked out in a main checkout, or "" without one."""
    directory = os.path.join(checkout, ".git")
    head = _read_first_line(os.path.join(directory, "HEAD"))
    if not head.startswith("ref: "):
        return head
    name = head[5:]
    return _read_first_line(os.path.join(directory, name)) or _find_packed_ref(directory, name)


def _find_packed_ref(git_directory: str, name: str) -> str:
    try:
        with open(os.path.join(git_directory, "packed-refs"), encoding="utf-8", errors="replace") as file:
            return next((line.split()[0] for line in file if line.rstrip().endswith(f" {name}")), "")
    except OSError:
        return ""


def _read_branch(git_directory: str) -> str | None:
    head = _read_first_line(os.path.join(git_directory, "HEAD"))
    if head.startswith("ref: refs/heads/"):
        return head.removeprefix("ref: refs/heads/")
    return head[:12] or None


def _read_first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline(8192).strip()
    except OSError:
        return ""


def get_project_name(project: str) -> str:
    """Return the name of a project: the last part of its path, also of a path from another system."""
    return project.replace("\\", "/").rstrip("/").rpartition("/")[2] or project
