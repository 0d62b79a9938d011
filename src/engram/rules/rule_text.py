"""What a rule may say: few lines of plain text that nobody can hide anything in. A person reads all of it."""

from __future__ import annotations

import re

from engram.errors import InvalidInput, TooLarge
from engram.patterns.unseen import first_unseen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub

LINES, CHARACTERS = 5, 600
_MARKS = ("<!--", "-->", "engram:begin", "engram:end")  # what our own blocks are told by
_FENCES = ("```", "~~~")  # one left open would swallow what follows in the file


def rule_text(hub: Hub, given: object) -> str:
    """Return a rule as it may be distributed, secrets taken out, or say why it may not be."""
    said = _plain("rule", given)
    if not said:
        raise InvalidInput(field="rule", reason="it is empty. Say in one to five lines what agents shall do.")
    return _without_secrets(hub, said)


def fix_text(hub: Hub, given: object) -> str:
    """Return what goes with a rule as its remedy; it may be empty."""
    return _without_secrets(hub, _plain("fix", given))


def _plain(field: str, given: object) -> str:
    if not isinstance(given, str):
        raise InvalidInput(field=field, reason=f"expected text, got {type(given).__name__}.")
    said = "\n".join(line.rstrip() for line in given.replace("\r\n", "\n").strip().split("\n"))
    if len(said) > CHARACTERS:
        hint = "Agents read it in every session: say what to do, and leave the why to the evidence."
        raise TooLarge(field=field, size=len(said), limit=CHARACTERS, unit="characters", hint=hint)
    if said.count("\n") >= LINES or "\n\n" in said:
        raise InvalidInput(field=field, reason=f"it has empty lines, or more than {LINES}. Say it in fewer.")
    unseen = next(filter(None, map(first_unseen, re.split(r"[\n\t]", said))), "")
    if unseen:
        reason = f"it holds a character nobody can see (U+{ord(unseen):04X}). Type it anew."
        raise InvalidInput(field=field, reason=reason)
    mark = next((each for each in (*_MARKS, *_FENCES) if each in said), "")
    if mark:
        reason = f"it holds {mark!r}, which could end the block it is put into. Say it without."
        raise InvalidInput(field=field, reason=reason)
    return said


def _without_secrets(hub: Hub, said: str) -> str:
    from engram.redaction.removal import redactor

    return redactor(hub).clean(said) if said else ""
