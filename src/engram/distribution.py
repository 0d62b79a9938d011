"""What this program is called where packages are published, and how to install more of it."""

from __future__ import annotations

import sys

NAME = "engram-agents"  # `engram` is an unrelated project on PyPI


def install_command(extra: str = "", source: str | None = None) -> str:
    """Return the command that installs Engram, or an extra of it, where this one came from."""
    wanted = (installed_from() if source is None else source) or NAME
    return f"python3 -m pip --python {sys.executable} install '{wanted}{f'[{extra}]' if extra else ''}'"


def installed_from() -> str:
    """Return the directory this program was installed from, or nothing if a package index brought it."""
    from importlib.metadata import PackageNotFoundError, distribution
    from json import loads
    from urllib.parse import unquote, urlsplit

    try:
        origin = distribution(NAME).read_text("direct_url.json")
        address = urlsplit(str(loads(origin)["url"])) if origin else None
    except (PackageNotFoundError, ValueError, KeyError, TypeError):
        return ""
    return unquote(address.path) if address and address.scheme == "file" else ""
