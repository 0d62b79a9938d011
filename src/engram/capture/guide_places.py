"""Where agents keep guides: the memory and instruction files they read themselves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from engram.adapters.adapter import user_home
from engram.value import value

_MOST = 5_000  # guides of one machine
_DEEP = 4  # folders below a memory's own
_IN_PROJECT = (
    "CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md",
)  # fmt: skip
_RULES = (".cursor", "rules")
_MANY = frozenset(("claude", "copilot", "cursor", "grok", "opencode"))
# Whoever may read a file by default counts as its reader: telling an agent twice is the greater nuisance.
_READERS = {
    "claude.md": _MANY, "claude.local.md": frozenset(("claude",)), "gemini.md": frozenset(("gemini",)),
    "copilot-instructions.md": frozenset(("copilot",)),
}  # fmt: skip
_FOLDERS = {"memory": frozenset(("claude", "grok")), "memories": frozenset(("codex",)), "rules": frozenset(("cursor",))}


@value
class Guide:
    """One such file, and the project it speaks of; none if it speaks of all."""

    path: str
    project: str


def guides(environ: Mapping[str, str], projects: Iterable[str]) -> list[Guide]:
    """Return the guides on this machine, each once, in the order of their paths."""
    known = [each for each in projects if os.path.isabs(each)]
    found = {each.path: each for each in (*_of_projects(known), *_of_agents(environ, known))}
    return [found[path] for path in sorted(found)][:_MOST]


def reads(flavor: str, path: str) -> bool:
    """Tell whether an agent reads a guide by itself, or may."""
    folders = re.split(r"[\\/]", path.lower())
    name = folders.pop()
    if name == "agents.md":
        return True
    if name in _READERS:
        return flavor in _READERS[name]
    return any(flavor in readers for folder, readers in _FOLDERS.items() if folder in folders)


def _of_projects(projects: Iterable[str]) -> Iterator[Guide]:
    for project in projects:
        for name in _IN_PROJECT:
            path = os.path.join(project, *name.split("/"))
            if os.path.isfile(path):
                yield Guide(path=path, project=project)
        for path in _below(os.path.join(project, *_RULES), ".mdc"):
            yield Guide(path=path, project=project)


def _of_agents(environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Guide]:
    """Yield what agents keep in the user's home."""
    home = user_home(environ)
    slugs = {re.sub(r"[^A-Za-z0-9]", "-", each): each for each in projects}
    for root in filter(None, (environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")).split(",")):
        yield from _file(root, "CLAUDE.md")
        for slug in _folders(os.path.join(root, "projects")):
            for path in _below(os.path.join(root, "projects", slug, "memory"), ".md"):
                yield Guide(path=path, project=slugs.get(slug, ""))
    codex = environ.get("CODEX_HOME") or os.path.join(home, ".codex")
    grok = environ.get("GROK_HOME") or os.path.join(home, ".grok")
    yield from _file(codex, "AGENTS.md")
    yield from _file(os.path.join(environ.get("GEMINI_CLI_HOME") or home, ".gemini"), "GEMINI.md")
    for folder in (os.path.join(codex, "memories"), os.path.join(grok, "memory")):
        yield from (Guide(path=path, project="") for path in _below(folder, ".md"))


def _file(folder: str, name: str) -> Iterator[Guide]:
    path = os.path.join(folder, name)
    if os.path.isfile(path):
        yield Guide(path=path, project="")


def _folders(root: str) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _below(root: str, ending: str, depth: int = _DEEP) -> Iterator[str]:
    """Yield files below a folder; links to folders are not followed."""
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path, ending, depth - 1) if depth else ()
        elif entry.name.endswith(ending) and entry.is_file():
            yield entry.path
