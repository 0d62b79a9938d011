"""What a doctor finds."""

from __future__ import annotations

from engram.value import value


@value
class Finding:
    """One thing a doctor found."""

    level: str  # ok, warning, problem
    subject: str
    text: str
    mend: str = ""  # the command that mends it
