"""Where a rule holds: everywhere, in one project, or for one agent."""

from __future__ import annotations

import os

from engram import text
from engram.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub


def scope_of(hub: Hub, given: object) -> str:
    """Return a scope under the one name its project or flavor has, or say why it would hold nowhere."""
    scope = text.name("scope", given)
    kind, _, name = scope.partition(":")
    if kind == "project" and name.strip():
        return f"project:{_project(hub, name.strip())}"
    if kind == "flavor" and name.strip():
        return f"flavor:{_flavor(hub, name.strip())}"
    if scope == "global":
        return scope
    raise InvalidInput(field="scope", reason=f"{scope!r} is none; there are global, project:PATH and flavor:NAME.")


def reach(scope: str) -> tuple[str, str]:
    """Return the flavor and the project a scope is about; empty for all."""
    kind, _, name = scope.partition(":")
    return (name if kind == "flavor" else "", name if kind == "project" else "")


def _project(hub: Hub, name: str) -> str:
    """Return a project as sessions name it: any directory of it will do, and one of another machine stays as it is."""
    from engram.coordination.projects import project_of
    from engram.store import sessions

    path = os.path.expanduser(name)
    if name in sessions.projects(hub.engine):
        return name
    if os.path.isdir(path):
        return project_of(path)
    if os.path.isabs(path):
        return path
    raise InvalidInput(field="scope", reason=f"{name!r} is neither a directory nor a project any session worked in.")


def _flavor(hub: Hub, name: str) -> str:
    from engram.adapters.registry import adapters
    from engram.rules.placement import FLAVORS
    from engram.store import sessions

    flavor = name.lower()
    if flavor in FLAVORS or flavor in adapters() or sessions.has_flavor(hub.engine, flavor):
        return flavor
    raise InvalidInput(field="scope", reason=f"no agent is called {name!r}; there are {', '.join(FLAVORS)}.")
