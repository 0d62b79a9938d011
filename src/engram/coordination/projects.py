"""Which project a directory belongs to, and on which branch. Reads files only; git is not run."""

from __future__ import annotations

import os

from engram.value import value


@value
class Place:
    """Where a directory lies: its project, this checkout of it, and the branch checked out."""

    project: str  # the main checkout's root, the same from every worktree; "" outside any project
    checkout: str  # this worktree's root
    branch: str | None = None


NOWHERE = Place(project="", checkout="")


def place(directory: str) -> Place:
    """Find the project of a directory by its git root, across worktrees."""
    here = os.path.realpath(directory)
    while True:
        marker = os.path.join(here, ".git")
        if os.path.isdir(marker):
            return Place(project=here, checkout=here, branch=_branch(marker))
        if os.path.isfile(marker):
            return _linked(here, marker)
        above = os.path.dirname(here)
        if above == here:
            return NOWHERE
        here = above


def project_of(directory: str | None) -> str:
    """Return the project worked on in a directory: its git root, or else the directory itself."""
    if not directory:
        return ""
    return place(directory).project or os.path.realpath(directory)


def _linked(checkout: str, marker: str) -> Place:
    """Follow the `.git` file of a worktree or submodule."""
    pointer = _first_line(marker)
    if not pointer.startswith("gitdir:"):
        return Place(project=checkout, checkout=checkout)
    private = os.path.realpath(os.path.join(checkout, pointer.removeprefix("gitdir:").strip()))
    shared = _first_line(os.path.join(private, "commondir"))
    branch = _branch(private)
    if not shared:  # a submodule is a project of its own
        return Place(project=checkout, checkout=checkout, branch=branch)
    common = os.path.realpath(os.path.join(private, shared))
    main = os.path.dirname(common) if os.path.basename(common) == ".git" else common
    return Place(project=main, checkout=checkout, branch=branch)


def _branch(git_directory: str) -> str | None:
    head = _first_line(os.path.join(git_directory, "HEAD"))
    if head.startswith("ref: refs/heads/"):
        return head.removeprefix("ref: refs/heads/")
    return head[:12] or None


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline(8192).strip()
    except OSError:
        return ""
