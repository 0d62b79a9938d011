"""Cline; only its transcripts are read."""

from __future__ import annotations

from engram.agents.agent import NO_HOOKS, Agent


class Cline(Agent):
    """The agent of the editor extension Cline."""

    name = "cline"
    title = "Cline"
    transcript_readers = ("cline",)
    programs = ("cline",)
    variable_prefixes = ("CLINE",)
    colour = "light-dark(#9b2c6f, #f29ac9)"
    hook_layout = NO_HOOKS


agent = Cline()
