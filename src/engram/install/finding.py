"""Findings of the doctor."""

from __future__ import annotations

from engram.platform.value import value


@value
class Finding:
    """One finding of the doctor."""

    level: str  # ok, warning, problem
    subject: str
    text: str
    mend: str = ""  # the command that fixes it
