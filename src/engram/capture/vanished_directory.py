"""Guess the project of a directory that is gone or on another machine."""

from __future__ import annotations

import os
import re

from engram.sessions import projects

# A worktree of its own below the checkout, as agents and people name them: app/.worktrees/x, app/.claude/worktrees/x.
_WORKTREE = re.compile(r"^(.+?)[/\\](?:\.worktrees|\.\w+[/\\]worktrees)[/\\][^/\\]+(?:[/\\].*)?$")


def guess_project(directory: str) -> str:
    """Return the project of a directory that is gone or on another machine, by where agents put worktrees."""
    match = _WORKTREE.match(directory)
    root = match[1] if match else directory
    if os.path.isdir(root):
        return projects.find_project(root)
    parent = os.path.dirname(root)
    while parent and parent != os.path.dirname(parent):
        if os.path.isdir(parent):
            return projects.find_git_location(parent).project or root
        parent = os.path.dirname(parent)
    return root
