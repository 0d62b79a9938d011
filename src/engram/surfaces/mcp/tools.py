"""The tools as they are listed, read from `tools.json`, which `tool_schemas` writes."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load_tools() -> list[dict[str, Any]]:
    """Return the stored list of tools."""
    with open(os.path.join(os.path.dirname(__file__), "tools.json"), encoding="utf-8") as file:
        tools: list[dict[str, Any]] = json.load(file)
    return tools
