"""What the message of a commit tells: whether it gives a reason, and which commit it reverts. Pure."""

from __future__ import annotations

import re

_REASON_WORDS = 8  # words below the subject that may give a reason
_TRAILER = re.compile(
    r"^(?:[A-Z][\w-]+(?:-[Bb]y|-[Tt]o|-[Ii]d)?: .+|Co-authored-by:.*|🤖 Generated with .*|\* .{0,80}|---+)$",
    re.MULTILINE,
)
_MACHINE = re.compile(
    r"^(?:merge (?:branch|pull|remote|tag)|bump\b|chore\(deps|build\(deps|update dependenc|release\b|v?\d+\.\d+\.\d+)",
    re.IGNORECASE,
)
_BOT = re.compile(r"\[bot\]|dependabot|renovate", re.IGNORECASE)
_REVERTS = re.compile(r"\bThis reverts commit ([0-9a-f]{7,40})")


def gives_reason(author: str, subject: str, body: str) -> bool:
    """Return whether a message says more than what changed, and a person or an agent wrote it."""
    if _MACHINE.match(subject) or _BOT.search(author) or subject.startswith("Revert "):
        return False
    return len(strip_trailers(body).split()) >= _REASON_WORDS


def strip_trailers(body: str) -> str:
    """Return the text of a message without sign-offs and lists of squashed commits."""
    return _TRAILER.sub("", body).strip()


def find_reverted(body: str) -> list[str]:
    """Return the hashes of the commits that a message says it reverts."""
    return _REVERTS.findall(body)
