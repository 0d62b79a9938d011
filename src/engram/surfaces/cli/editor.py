"""Text in a person's editor."""

from __future__ import annotations

import os
import tempfile

import click


def edit_text(old_text: str, name: str) -> tuple[str, str]:
    """Open a text in the editor; return the file that holds it and its new content."""
    handle, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".md")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"{old_text}\n" if old_text else "")
    try:
        click.edit(filename=path)
    except click.ClickException:  # no editor could be started, so there is nothing to keep
        os.unlink(path)
        raise
    with open(path, encoding="utf-8", errors="replace") as file:
        new_text = file.read().rstrip("\n")
    return path, old_text if new_text == old_text.rstrip("\n") else new_text
