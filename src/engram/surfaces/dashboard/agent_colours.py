"""The style sheet with a colour for each agent."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from engram.agents.registry import list_agents

ADDRESS = "/static/agents.css"
_HEADERS = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}


def coloured_agents() -> list[str]:
    """Return the agents that have a colour."""
    return [agent.name for agent in list_agents() if agent.colour]


def style_sheet(_: Request) -> Response:
    """Return the CSS rules that colour each agent's name and its part of plots."""
    rules = "".join(_rule(agent.name, agent.colour) for agent in list_agents() if agent.colour)
    return Response(rules, media_type="text/css", headers=_HEADERS)


def _rule(name: str, colour: str) -> str:
    selectors = f".flavor.{name} {{ color: var(--{name}); }} svg .tone-{name} {{ fill: var(--{name}); }}"
    return f":root {{ --{name}: {colour}; }}\n{selectors}\n"
