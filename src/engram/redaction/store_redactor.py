"""Remove secrets from what is about to be stored, with the redactor of the home.

Hooks pass file names too: a path is checked only if part of it could be a secret, because loading the redactor
takes longer than the rest of a hook.
"""

from __future__ import annotations

from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.redaction.redactor import Redactor

_SHORTEST = 8  # characters; shorter texts are not checked
_LONG_PART = 16
_MANY_DIGITS = 4
_guard = allocate_lock()
_loaded: dict[str, Redactor] = {}  # by home


def load_hub_redactor(hub: Hub, *, make: bool = True) -> Redactor:
    """Return the redactor of this home, which recognizes values once seen after a label."""
    from engram.redaction import known_secrets

    return known_secrets.load_home_redactor(hub.settings.home, make=make)


def remove_secrets(hub: Hub, text: str) -> str:
    """Return a text without secrets."""
    if len(text) < _SHORTEST:
        return text
    home = hub.settings.home
    with _guard:  # it keeps learning
        if home not in _loaded:
            _loaded[home] = load_hub_redactor(hub)
        return _loaded[home].redact(text)


def remove_secrets_from_name(hub: Hub, name: str) -> str:
    """Return a resource name without secrets; the same name always gives the same result."""
    return remove_secrets(hub, name) if _may_hold_secret(name) else name


def _may_hold_secret(name: str) -> bool:
    parts = name.replace("\\", "/").replace(".", "/").replace(":", "/").split("/")
    return any(mark in name for mark in "=@?%") or any(map(_is_random, parts))


def _is_random(part: str) -> bool:
    digits = sum(map(str.isdigit, part))
    mixed = digits and not (part.islower() or part.isupper())
    return len(part) >= _LONG_PART and (digits >= _MANY_DIGITS or bool(mixed))
