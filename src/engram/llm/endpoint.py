"""An HTTP API with its key: where it is, and which key may go there."""

from __future__ import annotations

import os

from engram.errors import ModelRefused, SettingsInvalid
from engram.value import value

_LOOPBACK = ("localhost", "::1")


@value
class Endpoint:
    """Where to ask, and as whom."""

    provider: str
    url: str
    variable: str  # which environment variable holds the key; empty: none is sent
    local: bool  # whether it is this machine

    def key(self) -> str:
        """Return the key, read anew so that it is kept nowhere."""
        if not self.variable:
            return ""
        key = os.environ.get(self.variable, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            reason = f"the environment variable {self.variable} holds no key."
            raise ModelRefused(provider=self.provider, reason=reason, hint="Set it where Engram runs.")
        return key


def endpoint(provider: str, setting: str, url: str, variable: str, own: tuple[str, str]) -> Endpoint:
    """Return the endpoint the settings name; `own` is the vendor's address and its usual variable.

    The vendor's variable counts for the vendor's address only: a key must not follow the user to another server.
    """
    if not url:
        url, variable = own[0], variable or own[1]
    scheme, host, local = _parts(setting, url)
    if variable and scheme == "http" and not local:
        reason = f"a key must not go unencrypted to {host}; use https, or name no variable for the key."
        raise SettingsInvalid(source=setting, reason=reason)
    return Endpoint(provider=provider, url=url.rstrip("/"), variable=variable, local=local)


def _parts(setting: str, url: str) -> tuple[str, str, bool]:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    if parts.scheme not in ("http", "https") or not host or not url.isascii() or not url.isprintable() or " " in url:
        raise SettingsInvalid(source=setting, reason="it must be an http:// or https:// address.")
    if parts.username is not None or parts.query or parts.fragment:
        reason = "it must hold no user, password, query or fragment; name the key's variable instead."
        raise SettingsInvalid(source=setting, reason=reason)
    return parts.scheme, host, host in _LOOPBACK or host.startswith("127.")
