"""The name of the published package, and how to install more of it."""

from __future__ import annotations

import sys

NAME = "engram-agents"  # `engram` is an unrelated project on PyPI


def format_install_command(extra: str = "", source: str | None = None) -> str:
    """Return the command that installs Engram, or one of its extras, from the same source."""
    package = (find_install_source() if source is None else source) or NAME
    return f"python3 -m pip --python {sys.executable} install '{package}{f'[{extra}]' if extra else ''}'"


def find_install_source() -> str:
    """Return the directory this program was installed from, or "" if it came from a package index."""
    from importlib.metadata import PackageNotFoundError, distribution
    from json import loads
    from urllib.parse import unquote, urlsplit

    try:
        origin = distribution(NAME).read_text("direct_url.json")
        address = urlsplit(str(loads(origin)["url"])) if origin else None
    except (PackageNotFoundError, ValueError, KeyError, TypeError):
        return ""
    return unquote(address.path) if address and address.scheme == "file" else ""
