"""Goose; only recognized by its process."""

from __future__ import annotations

from engram.agents.agent import NO_HOOKS, Agent


class Goose(Agent):
    """Block's agent."""

    name = "goose"
    title = "Goose"
    programs = ("goose",)
    variable_prefixes = ("GOOSE",)
    hook_layout = NO_HOOKS


agent = Goose()
