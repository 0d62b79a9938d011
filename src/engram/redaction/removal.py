"""Secrets removed from what is about to be stored, with the redactor of a store's home.

Hooks name files too: a path is looked at only if part of it could be a secret, for loading the redactor takes longer
than all the rest of a hook.
"""

from __future__ import annotations

from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.redaction.redactor import Redactor

_SHORTEST = 8  # characters; nothing shorter is a secret
_LONG_PART = 16
_MANY_DIGITS = 4
_guard = allocate_lock()
_loaded: dict[str, Redactor] = {}  # by home


def redactor(hub: Hub, *, make: bool = True) -> Redactor:
    """Return a redactor of this home, which knows again what it once saw behind a label."""
    from engram.redaction import known_secrets

    return known_secrets.redactor(hub.settings.home, make=make)


def remove_secrets(hub: Hub, said: str) -> str:
    """Return what somebody said without its secrets."""
    if len(said) < _SHORTEST:
        return said
    home = hub.settings.home
    with _guard:  # it learns as it goes
        if home not in _loaded:
            _loaded[home] = redactor(hub)
        return _loaded[home].clean(said)


def remove_from_name(hub: Hub, name: str) -> str:
    """Return the name of a resource without its secrets; the same name always gives the same one."""
    return remove_secrets(hub, name) if _may_hold_secret(name) else name


def _may_hold_secret(name: str) -> bool:
    parts = name.replace("\\", "/").replace(".", "/").replace(":", "/").split("/")
    return any(mark in name for mark in "=@?%") or any(map(_is_random, parts))


def _is_random(part: str) -> bool:
    digits = sum(map(str.isdigit, part))
    mixed = digits and not (part.islower() or part.isupper())
    return len(part) >= _LONG_PART and (digits >= _MANY_DIGITS or bool(mixed))
