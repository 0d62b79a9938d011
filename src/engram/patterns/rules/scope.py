"""The scope of a rule: global, one project, or one agent."""

from __future__ import annotations

import os

from engram.errors import InvalidInput
from engram.platform import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.hub import Hub


def parse_scope(hub: Hub, scope_name: object) -> str:
    """Return a normalized scope; raise InvalidInput if it matches nothing."""
    scope = text.validate_name("scope", scope_name)
    kind, _, name = scope.partition(":")
    if kind == "project" and name.strip():
        return f"project:{_resolve_project(hub, name.strip())}"
    if kind == "flavor" and name.strip():
        return f"flavor:{_resolve_flavor(hub, name.strip())}"
    if scope == "global":
        return scope
    raise InvalidInput(field="scope", reason=f"Unknown value {scope!r}. Use global, project:PATH or flavor:NAME.")


def suggest_scope(projects: Sequence[str]) -> str:
    """Return the scope of a rule about which nobody said where it applies: where its evidence comes from."""
    return f"project:{projects[0]}" if len(projects) == 1 and projects[0] else "global"


def split_scope(scope: str) -> tuple[str, str]:
    """Return the agent and the project of a scope; empty means all."""
    kind, _, name = scope.partition(":")
    return (name if kind == "flavor" else "", name if kind == "project" else "")


def _resolve_project(hub: Hub, name: str) -> str:
    """Return a project as sessions name it, from any directory in it; a path of another machine stays as it is."""
    from engram.sessions.checkouts import find_project
    from engram.store import sessions

    path = os.path.expanduser(name)
    if name in sessions.list_projects(hub.engine):
        return name
    if os.path.isdir(path):
        return find_project(hub, path)
    if os.path.isabs(path):
        return path
    raise InvalidInput(field="scope", reason=f"{name!r} is neither a directory nor a known project.")


def _resolve_flavor(hub: Hub, name: str) -> str:
    from engram.agents.transcripts.registry import load_adapters
    from engram.patterns.rules.placement import rule_readers
    from engram.store import sessions

    flavor = name.lower()
    if flavor in rule_readers() or flavor in load_adapters() or sessions.has_flavor(hub.engine, flavor):
        return flavor
    raise InvalidInput(field="scope", reason=f"Unknown agent {name!r}. Choose one of: {', '.join(rule_readers())}.")
