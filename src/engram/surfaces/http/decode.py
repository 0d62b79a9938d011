"""JSON as strangers send it: read strictly, and nothing that could be stored but never be read again."""

from __future__ import annotations

import json
import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEEPEST = 100  # levels
_LONGEST = 40  # digits of a whole number


def from_json(document: str) -> Any:
    """Read JSON text as every other language does, or raise ValueError with the reason."""
    try:
        found = json.loads(
            document, object_pairs_hook=_object, parse_int=_whole, parse_float=_finite, parse_constant=_finite
        )
    except RecursionError:
        raise _too_deep() from None
    _inspect(found)
    return found


def _inspect(found: Any) -> None:
    level = [found]
    for _ in range(_DEEPEST):
        for each in level:
            if isinstance(each, str):
                each.encode()  # half a character is a ValueError here, and would be one for every reader
        level = [child for each in level for child in _children(each)]
        if not level:
            return
    raise _too_deep()


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return [*node, *node.values()]
    return node if isinstance(node, list) else []


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("it gives a name twice in one object")
    return found


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST:
        raise ValueError(f"it holds a number of {len(digits)} digits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"it holds {digits[:20]}, which is not a number")
    return number


def _too_deep() -> ValueError:
    return ValueError(f"it nests deeper than {_DEEPEST} levels")
