"""The names of projects in lists: read from the store when a list first shows one."""

from __future__ import annotations

from collections.abc import Callable

from engram.sessions.projects import get_project_name

_load: Callable[[], dict[str, str]] = dict
_labels: dict[str, str] | None = None


def use_labels(load: Callable[[], dict[str, str]]) -> None:
    """Set what reads the names of a command's store."""
    global _load, _labels
    _load, _labels = load, None


def get_label(project: str) -> str:
    """Return the name of a project, or the last part of its path if the store does not know it."""
    global _labels
    if _labels is None:
        _labels = _load()
    return _labels.get(project) or get_project_name(project)
