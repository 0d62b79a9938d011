"""Find guides: the memory and instruction files that agents read by themselves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from engram.agents.agent import GuideFile, find_files
from engram.agents.registry import find_agent, list_agents

_MOST = 5_000  # maximum per machine
_FOR_EVERYBODY = "agents.md"


def list_guides(projects: Iterable[str]) -> list[GuideFile]:
    """Return the guides on this machine, without duplicates, sorted by path."""
    absolute = [project for project in projects if os.path.isabs(project)]
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


def _project_guides(projects: Iterable[str]) -> Iterator[GuideFile]:
    names = dict.fromkeys(name for agent in list_agents() for name in agent.project_guides)
    for project in projects:
        for name in names:
            path = os.path.join(project, *name.strip("/").split("/"))
            if name.endswith("/"):
                yield from (GuideFile(below, project) for below in find_files(path, ".mdc"))
            elif os.path.isfile(path):
                yield GuideFile(path, project)


def _user_guides(projects: Iterable[str]) -> Iterator[GuideFile]:
    """Yield the agents' guides in the user's home directory."""
    by_folder = {re.sub(r"[^A-Za-z0-9]", "-", project): project for project in projects}
    for agent in list_agents():
        yield from (guide for guide in agent.user_guides(by_folder) if os.path.isfile(guide.path))
