"""A strict JSON parser for untrusted input; it refuses values that could be stored but not read back."""

from __future__ import annotations

import json
import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_DEPTH = 100  # nesting levels
_MAX_DIGITS = 40  # of an integer


def from_json(document: str) -> Any:
    """Parse standard JSON, or raise ValueError with the reason."""
    try:
        parsed = json.loads(
            document,
            object_pairs_hook=_build_object,
            parse_int=_parse_int,
            parse_float=_parse_float,
            parse_constant=_parse_float,
        )
    except RecursionError:
        raise _build_depth_error() from None
    _check_values(parsed)
    return parsed


def _check_values(parsed: Any) -> None:
    level = [parsed]
    for _ in range(_MAX_DEPTH):
        for node in level:
            if isinstance(node, str):
                node.encode()  # a lone surrogate raises ValueError here, as it would for every reader
        level = [child for node in level for child in _list_children(node)]
        if not level:
            return
    raise _build_depth_error()


def _list_children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return [*node, *node.values()]
    return node if isinstance(node, list) else []


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate name in an object")
    return members


def _parse_int(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"number with {len(digits)} digits")
    return int(digits)


def _parse_float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is not a finite number")
    return number


def _build_depth_error() -> ValueError:
    return ValueError(f"nested deeper than {_MAX_DEPTH} levels")
