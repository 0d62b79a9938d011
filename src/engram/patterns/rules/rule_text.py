"""Validate rule texts: a few lines of plain text that cannot hide anything. A person reads all of it."""

from __future__ import annotations

import re

from engram.errors import InvalidInput, TooLarge
from engram.patterns.invisible_characters import find_invisible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub

MAX_LINES, MAX_CHARS = 5, 600
_MARKS = ("<!--", "-->", "engram:begin", "engram:end")  # markers of our own blocks
_FENCES = ("```", "~~~")  # an open one would swallow the rest of the file


def clean_rule(hub: Hub, rule: object) -> str:
    """Return a rule with secrets redacted; raise an error if it is not valid."""
    plain_text = _require_plain("rule", rule)
    if not plain_text:
        raise InvalidInput(field="rule", reason="The rule is empty. Say in one to five lines what agents should do.")
    return _redact_secrets(hub, plain_text)


def clean_fix(hub: Hub, fix: object) -> str:
    """Return a validated fix with secrets redacted; it may be empty."""
    return _redact_secrets(hub, _require_plain("fix", fix))


def _require_plain(field: str, raw_text: object) -> str:
    if not isinstance(raw_text, str):
        raise InvalidInput(field=field, reason=f"Expected text, got {type(raw_text).__name__}.")
    plain_text = "\n".join(line.rstrip() for line in raw_text.replace("\r\n", "\n").strip().split("\n"))
    if len(plain_text) > MAX_CHARS:
        hint = "Agents read it in every session: say only what to do."
        raise TooLarge(field=field, size=len(plain_text), limit=MAX_CHARS, unit="characters", hint=hint)
    if plain_text.count("\n") >= MAX_LINES or "\n\n" in plain_text:
        raise InvalidInput(field=field, reason=f"Use at most {MAX_LINES} lines, none of them empty.")
    unseen = next(filter(None, map(find_invisible, re.split(r"[\n\t]", plain_text))), "")
    if unseen:
        reason = f"It contains an invisible character (U+{ord(unseen):04X}). Remove it."
        raise InvalidInput(field=field, reason=reason)
    mark = next((forbidden for forbidden in (*_MARKS, *_FENCES) if forbidden in plain_text), "")
    if mark:
        reason = f"It contains {mark!r}, which could break the block it is written into. Remove it."
        raise InvalidInput(field=field, reason=reason)
    return plain_text


def _redact_secrets(hub: Hub, plain_text: str) -> str:
    from engram.redaction.store_redactor import load_hub_redactor

    return load_hub_redactor(hub).redact(plain_text) if plain_text else ""
