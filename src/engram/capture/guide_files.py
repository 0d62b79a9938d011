"""Find guides: the memory and instruction files that agents read by themselves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from engram.agents.agent import GuideFile, find_files
from engram.agents.registry import find_agent, list_agents

_MOST = 5_000  # maximum per machine
_FOR_EVERYBODY = "agents.md"


def list_guides(directories: Mapping[str, str]) -> list[GuideFile]:
    """Return the guides on this machine, without duplicates, sorted by path; the directories name their projects."""
    absolute = {path: project for path, project in directories.items() if os.path.isabs(path)}
    guides = {guide.path: guide for guide in (*_project_guides(absolute), *_user_guides(absolute))}
    return [guides[path] for path in sorted(guides)][:_MOST]


def reads_guide(agent_name: str, path: str) -> bool:
    """Return whether an agent reads, or may read, a guide by itself, so that we need not repeat it."""
    folders = re.split(r"[\\/]", path.lower())
    name = folders.pop()
    if name == _FOR_EVERYBODY:
        return True
    agent = find_agent(agent_name)
    if agent is None:
        return False
    is_known_name = any(name in other.guide_names for other in list_agents())
    return name in agent.guide_names if is_known_name else any(folder in folders for folder in agent.guide_folders)


def _project_guides(directories: Mapping[str, str]) -> Iterator[GuideFile]:
    """Yield the guides of projects; what several checkouts of a project have is taken from one of them."""
    names = dict.fromkeys(name for agent in list_agents() for name in agent.project_guides)
    taken = set()
    for directory, project in sorted(directories.items(), key=lambda pair: (pair[0] != pair[1], pair)):
        for name in names:
            for path in _find_guides(directory, name):
                key = (project, os.path.relpath(path, directory))
                if key not in taken:
                    taken.add(key)
                    yield GuideFile(path, project)


def _find_guides(directory: str, name: str) -> Iterable[str]:
    path = os.path.join(directory, *name.strip("/").split("/"))
    if name.endswith("/"):
        return find_files(path, ".mdc")
    return [path] if os.path.isfile(path) else []


def _user_guides(directories: Mapping[str, str]) -> Iterator[GuideFile]:
    """Yield the agents' guides in the user's home directory."""
    by_folder = {re.sub(r"[^A-Za-z0-9]", "-", directory): project for directory, project in directories.items()}
    for agent in list_agents():
        yield from (guide for guide in agent.user_guides(by_folder) if os.path.isfile(guide.path))
