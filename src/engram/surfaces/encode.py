"""Values as plain JSON, the same on every surface."""

from __future__ import annotations

import json
import math
from datetime import datetime, timezone
from typing import Any

from engram import text
from engram.clock import moment
from engram.errors import Error
from engram.model import Event


def plain(given: Any) -> Any:
    """Turn a value into what JSON can hold: fields by name, times as ISO 8601 in UTC."""
    if isinstance(given, datetime):
        return given.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(given, Event):
        return {**{name: plain(each) for name, each in vars(given).items()}, "at": plain(given.at and moment(given.at))}
    if hasattr(type(given), "__match_args__"):
        return {name: plain(getattr(given, name)) for name in type(given).__match_args__}
    if isinstance(given, dict):
        return {str(key): plain(item) for key, item in given.items()}
    if isinstance(given, (list, tuple)):
        return [plain(item) for item in given]
    if isinstance(given, float) and not math.isfinite(given):
        return None  # JSON has no word for it, and one NaN makes a whole answer unreadable
    return given


def problem(error: Error) -> dict[str, Any]:
    """Turn a refusal into its code, its message and its facts."""
    facts = {name: plain(fact) for name, fact in error.facts.items() if not name.endswith("_text")}
    return {
        "error": error.code,
        "message": str(error),
        **{k: v for k, v in facts.items() if k not in ("error", "message")},
    }


def to_json(given: Any, indent: int | None = None) -> str:
    """Write a value as JSON text in which no tag and nothing unseen stands as such: an agent may read it as it is."""
    return text.escape_json(json.dumps(plain(given), ensure_ascii=False, indent=indent))
