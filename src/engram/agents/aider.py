"""Aider; only its transcripts are read."""

from __future__ import annotations

from engram.agents.agent import NO_HOOKS, Agent


class Aider(Agent):
    """The pair programmer of Paul Gauthier."""

    name = "aider"
    title = "Aider"
    transcript_readers = ("aider",)
    programs = ("aider",)
    variable_prefixes = ("AIDER",)
    colour = "light-dark(#0b625b, #5cc4b8)"
    hook_layout = NO_HOOKS


agent = Aider()
