"""Which files receive rules: the user's own for global rules, a project's for project rules."""

from __future__ import annotations

import os

from engram.agents.registry import agent_directory, find_agent, list_agents
from engram.platform.value import value

SKILL = "engram-patterns"


@value
class RuleFile:
    """A file that receives rules, and the agents that read it."""

    path: str
    flavors: tuple[str, ...]
    project: str  # empty for the user's own file, read everywhere
    kind: str = "block"  # block: a section in a person's file; cursor, skill: the whole file is ours


def list_rule_files(flavors: list[str], project: str) -> list[RuleFile]:
    """List the files agents read, each once, whatever names or links lead to it."""
    files_by_path: dict[str, RuleFile] = {}
    for flavor in flavors:
        for path, kind in _list_agent_files(flavor, project):
            real = os.path.realpath(path)
            known_file = files_by_path.get(real)
            readers = (*known_file.flavors, flavor) if known_file else (flavor,)
            dangling = os.path.islink(path) and not os.path.exists(path)  # refused later under its own name
            files_by_path[real] = RuleFile(path if dangling else real, readers, project, kind)
    return list(files_by_path.values())


def find_skill_file(place: RuleFile) -> RuleFile | None:
    """Return the skill for rules a file has no room for, in the place its reader looks for skills."""
    readers = filter(None, map(find_agent, place.flavors))
    agent = next((reader for reader in readers if reader.skills_in_project), None)
    if agent is None or place.kind != "block":
        return None
    folder = os.path.join(place.project, *agent.skills_in_project.split("/")) if place.project else agent.user_skills()
    return RuleFile(os.path.join(folder, SKILL, "SKILL.md"), (agent.name,), place.project, "skill")


def list_present_agents() -> list[str]:
    """Return the agents installed on this machine: those with a directory of their own."""
    return [name for name in rule_readers() if os.path.isdir(agent_directory(name))]


def rule_readers() -> tuple[str, ...]:
    """Return the agents that read rules from files."""
    return tuple(agent.name for agent in list_agents() if agent.project_rules)


def find_hidden_file(place: RuleFile) -> str | None:
    """Return the file an agent would stop reading if this one were created."""
    if os.path.exists(place.path):
        return None
    for name in list_present_agents():
        hidden = _hidden_from(name, place)
        if hidden and os.path.exists(hidden):
            return hidden
    return None


def _hidden_from(name: str, place: RuleFile) -> str:
    agent = find_agent(name)
    if agent is None:
        return ""
    if not place.project:
        own = os.path.join(agent_directory(name), agent.user_rules)
        return agent.borrowed_user_rules() if place.path == own else ""
    first, *others = agent.project_rules
    return os.path.join(place.project, others[0]) if others and os.path.basename(place.path) == first else ""


def _list_agent_files(flavor: str, project: str) -> list[tuple[str, str]]:
    agent = find_agent(flavor)
    if agent is None:
        return []
    if not project:
        path = os.path.join(agent_directory(flavor), agent.user_rules)
        return [(path, "block")] if agent.user_rules else []
    names = [os.path.join(project, *name.split("/")) for name in agent.project_rules]
    existing = [path for path in names if os.path.exists(path)]
    path = next(iter(existing or names), "")
    return [(path, "cursor" if path.endswith(".mdc") else "block")] if path else []
