"""Roo Code; only its transcripts are read."""

from __future__ import annotations

from engram.agents.agent import NO_HOOKS, Agent


class Roo(Agent):
    """The agent of the editor extension Roo Code, a fork of Cline."""

    name = "roo"
    title = "Roo Code"
    transcript_readers = ("roo",)
    programs = ()
    variable_prefixes = ()
    colour = "light-dark(#7a4a1f, #dca878)"
    hook_layout = NO_HOOKS


agent = Roo()
