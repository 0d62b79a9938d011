"""Amp; only recognized by its process."""

from __future__ import annotations

from engram.agents.agent import NO_HOOKS, Agent


class Amp(Agent):
    """Sourcegraph's agent."""

    name = "amp"
    title = "Amp"
    programs = ("amp",)
    variable_prefixes = ("AMP",)
    hook_layout = NO_HOOKS


agent = Amp()
