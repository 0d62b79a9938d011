"""Which file of which agent takes rules: the user's own for what holds everywhere, a project's for what holds there."""

from __future__ import annotations

import os

from engram.files.agent_home import agent_home
from engram.value import value

SKILL = "engram-patterns"

# The file each agent reads for its user, in its own directory. Cursor keeps a user's rules where no file is.
_USER = {
    "claude": "CLAUDE.md", "codex": "AGENTS.md", "gemini": "GEMINI.md", "qwen": "QWEN.md", "grok": "AGENTS.md",
    "copilot": "copilot-instructions.md", "opencode": "AGENTS.md",
}  # fmt: skip
# What each agent reads in a project; the first that is there, because that one hides the others from it.
_PROJECT = {
    "claude": ("CLAUDE.md", "AGENTS.md"), "codex": ("AGENTS.md",), "gemini": ("GEMINI.md",), "qwen": ("QWEN.md",),
    "grok": ("AGENTS.md",), "copilot": ("AGENTS.md",), "opencode": ("AGENTS.md", "CLAUDE.md"),
    "cursor": (".cursor/rules/engram-patterns.mdc",),
}  # fmt: skip
_SKILLS = {"claude": ".claude/skills", "codex": ".agents/skills"}  # who looks for skills, and where in a project
FLAVORS = tuple(_PROJECT)


@value
class Place:
    """A file that takes rules, and which agents read it."""

    path: str
    flavors: tuple[str, ...]
    project: str  # empty: the user's own, wherever they work
    kind: str = "block"  # a block among a person's words; cursor, skill: the whole file is ours


def places(flavors: list[str], project: str) -> list[Place]:
    """Return the files agents read, each once, whichever name or link leads to it."""
    found: dict[str, Place] = {}
    for flavor in flavors:
        for path, kind in _files(flavor, project):
            real = os.path.realpath(path)
            known = found.get(real)
            readers = (*known.flavors, flavor) if known else (flavor,)
            dangling = os.path.islink(path) and not os.path.exists(path)  # to be refused by its own name
            found[real] = Place(path if dangling else real, readers, project, kind)
    return list(found.values())


def skill_beside(place: Place) -> Place | None:
    """Return the skill that takes what a file has no room for, where its reader looks for skills."""
    flavor = next((each for each in place.flavors if each in _SKILLS), None)
    if flavor is None or place.kind != "block":
        return None
    if place.project:
        folder = os.path.join(place.project, *_SKILLS[flavor].split("/"))
    else:
        folder = os.path.join(agent_home("claude") if flavor == "claude" else os.path.expanduser("~/.agents"), "skills")
    return Place(os.path.join(folder, SKILL, "SKILL.md"), (flavor,), place.project, "skill")


def present() -> list[str]:
    """Return the agents that are on this machine: those with a directory of their own."""
    return [flavor for flavor in FLAVORS if os.path.isdir(agent_home(flavor))]


def hidden_by(place: Place) -> str | None:
    """Return the file that an agent would not read any more if this one were made."""
    if "opencode" not in present() or os.path.basename(place.path) != "AGENTS.md" or os.path.exists(place.path):
        return None
    folder = os.path.dirname(place.path)
    if not place.project:
        folder = agent_home("claude") if folder == agent_home("opencode") else ""
    beside = os.path.join(folder, "CLAUDE.md") if folder else ""
    return beside if os.path.exists(beside) else None


def _files(flavor: str, project: str) -> list[tuple[str, str]]:
    if not project:
        return [(os.path.join(agent_home(flavor), _USER[flavor]), "block")] if flavor in _USER else []
    names = [os.path.join(project, *name.split("/")) for name in _PROJECT.get(flavor, ())]
    there = [path for path in names if os.path.exists(path)]
    kind = "cursor" if flavor == "cursor" else "block"
    return [((there or names)[0], kind)] if names else []
