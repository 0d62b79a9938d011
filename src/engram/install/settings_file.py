"""Change settings in config.toml; what the user wrote there stays."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def save_settings(home: str, choices: Mapping[str, Any]) -> str:
    """Write settings into config.toml of the home, and return its path."""
    from engram.platform.file_edit import FileChange, read_file, write_change
    from engram.settings import validate_setting

    path = os.path.join(home, "config.toml")
    valid = {name: validate_setting(name, name, choice) for name, choice in choices.items()}
    before = read_file(path)
    after = _replace_settings(path, (before or b"").decode("utf-8", "surrogateescape"), valid)
    write_change(FileChange(path, before, after.encode("utf-8", "surrogateescape"), "settings"))
    return path


def _replace_settings(path: str, text: str, choices: Mapping[str, Any]) -> str:
    """Return the text of the file with new values; refuse if a value is not written on one line."""
    import tomllib

    from engram.errors import ConfigRefused

    changed = text if not text or text.endswith("\n") else f"{text}\n"
    for name, choice in choices.items():
        changed = _replace_setting(changed, name, choice)
    try:
        if tomllib.loads(changed) == {**tomllib.loads(text), **choices}:
            return changed
    except ValueError:
        pass  # two lines for one setting: the old one was not recognized
    raise ConfigRefused(path=path, reason=f"change {', '.join(choices)} there by hand.")


def _replace_setting(text: str, name: str, choice: Any) -> str:
    """Return the text with a new value of one setting; a comment behind it stays."""
    import json
    import re

    written = json.dumps(choice)
    old = re.compile(rf"""(?m)^([ \t]*{name}[ \t]*=[ \t]*)(?:"[^"\\\r\n]*"|'[^'\r\n]*'|[\w.+-]+)""")
    changed, count = old.subn(lambda match: match[1] + written, text)
    return changed if count else f"{changed}{name} = {written}\n"
