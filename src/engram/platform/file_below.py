"""Read a file that must lie below a directory."""

from __future__ import annotations

import os


def read_file_below(directory: str, path: str, most_bytes: int) -> str | None:
    """Return the start of a file, or None if it is missing or, through links, outside the directory."""
    root = os.path.realpath(directory)
    full = os.path.realpath(os.path.join(root, path))
    if not directory or not full.startswith(os.path.join(root, "")):
        return None
    try:
        with open(full, "rb") as file:
            return file.read(most_bytes).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
