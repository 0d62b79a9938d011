"""Convert values to JSON, in the same way on every surface."""

from __future__ import annotations

import json
import math
from datetime import datetime, timezone
from typing import Any

from engram.clock import to_datetime
from engram.errors import Error
from engram.platform import text
from engram.types import Event


def to_plain(data: Any) -> Any:
    """Convert a value to plain JSON types: fields by name, times as ISO 8601 in UTC."""
    if isinstance(data, datetime):
        return data.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(data, Event):
        return {
            **{name: to_plain(field) for name, field in vars(data).items()},
            "at": to_plain(data.at and to_datetime(data.at)),
        }
    if hasattr(type(data), "__match_args__"):
        return {name: to_plain(getattr(data, name)) for name in type(data).__match_args__}
    if isinstance(data, dict):
        return {str(key): to_plain(item) for key, item in data.items()}
    if isinstance(data, (list, tuple)):
        return [to_plain(item) for item in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None  # JSON has no NaN; a single one makes the whole document invalid
    return data


def error_to_dict(error: Error) -> dict[str, Any]:
    """Return the code, message and facts of an error."""
    facts = {name: to_plain(fact) for name, fact in error.facts.items() if not name.endswith("_text")}
    return {
        "error": error.code,
        "message": str(error),
        **{k: v for k, v in facts.items() if k not in ("error", "message")},
    }


def to_json(data: Any, indent: int | None = None) -> str:
    """Return a value as JSON with markup and invisible characters escaped, so that an agent can read it safely."""
    return text.escape_json(json.dumps(to_plain(data), ensure_ascii=False, indent=indent))
