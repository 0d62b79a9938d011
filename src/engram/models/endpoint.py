"""An HTTP API with its key: its address, and which key may be sent there."""

from __future__ import annotations

import os

from engram.errors import ModelRefused, SettingsInvalid
from engram.platform.value import value

_LOOPBACK = ("localhost", "::1")


@value
class ModelEndpoint:
    """An address and the key for it."""

    provider: str
    url: str
    variable: str  # environment variable with the key; empty to send none
    local: bool  # whether it is on this machine

    def read_key(self) -> str:
        """Return the key, read each time so that it is stored nowhere."""
        if not self.variable:
            return ""
        key = os.environ.get(self.variable, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            reason = f"the environment variable {self.variable} is not set."
            raise ModelRefused(provider=self.provider, reason=reason, hint="Set it in the environment Engram runs in.")
        return key


def build_endpoint(provider: str, setting: str, url: str, variable: str, own: tuple[str, str]) -> ModelEndpoint:
    """Return the configured endpoint; `own` is the vendor's address and its usual variable.

    The vendor's variable applies to the vendor's address only: a key must not be sent to another server.
    """
    if not url:
        url, variable = own[0], variable or own[1]
    scheme, host, local = _parse_url(setting, url)
    if variable and scheme == "http" and not local:
        reason = f"a key must not be sent unencrypted to {host}. Use https, or set no variable for the key."
        raise SettingsInvalid(source=setting, reason=reason)
    return ModelEndpoint(provider=provider, url=url.rstrip("/"), variable=variable, local=local)


def _parse_url(setting: str, url: str) -> tuple[str, str, bool]:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    if parts.scheme not in ("http", "https") or not host or not url.isascii() or not url.isprintable() or " " in url:
        raise SettingsInvalid(source=setting, reason="must be an http:// or https:// address.")
    if parts.username is not None or parts.query or parts.fragment:
        reason = "must not contain user, password, query or fragment. Put the key into an environment variable."
        raise SettingsInvalid(source=setting, reason=reason)
    return parts.scheme, host, host in _LOOPBACK or host.startswith("127.")
