"""JSON for hooks: the interpreter's own scanner without the modules around it.

`json` imports `re` and `enum`, which takes as long as starting the interpreter. If the scanner is not
available (another interpreter, or a later version that needs more), `json` is used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_BLANK = " \t\n\r"
_ESCAPES = '"\\/bfnrtu'


class _ScannerOptions:
    """The options that the scanner expects."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None
    parse_float, parse_int, parse_constant = float, int, float
    memo: dict[str, str] = {}  # noqa: RUF012  it is cleared by the scanner after each use


def loads(text: str | bytes) -> Any:
    """Parse a JSON text, or raise ValueError."""
    if isinstance(text, bytes):
        text = text.decode().removeprefix("\ufeff")
    scan = _make_scanner()
    if scan is None:
        import json

        return json.loads(text)
    start = len(text) - len(text.lstrip(_BLANK))
    try:
        content, end = scan(text, start)
    except StopIteration as stop:
        raise ValueError(f"no JSON value at character {stop.value}") from None
    except SystemError:  # the scanner takes its error class from `json`, and fails if that is not loaded
        import json

        return json.loads(text)
    if text[end:].strip(_BLANK):
        raise ValueError(f"more than one JSON value; the first ends at character {end}")
    return content


def loads_lenient(text: str | bytes) -> Any:
    """Parse a JSON text, even if it contains Windows paths with unescaped backslashes."""
    try:
        return loads(text)
    except ValueError:
        words = (text.decode() if isinstance(text, bytes) else text).removeprefix("\ufeff")
        repaired = "".join(_repair_strings(words))
        if repaired == words:
            raise
        return loads(repaired)


def _repair_strings(text: str) -> Iterator[str]:
    """Yield a JSON text in pieces, with lone backslashes in strings doubled."""
    start = 0
    while (opening := text.find('"', start)) >= 0:
        end = _find_closing_quote(text, opening + 1)
        yield text[start : opening + 1]
        yield _repair_string(text[opening + 1 : end])
        yield text[end : end + 1]
        start = end + 1
    yield text[start:]


def _find_closing_quote(text: str, start: int) -> int:
    while start < len(text) and text[start] != '"':
        start += 2 if text[start] == "\\" else 1
    return min(start, len(text))


def _repair_string(words: str) -> str:
    """Return the inside of a string with lone backslashes doubled, if it has any."""
    if not _has_lone_backslash(words):
        return words
    parts, position = [], 0
    while position < len(words):
        pair = words[position : position + 2]
        if pair == "\\\\" and position == 0:  # a UNC path: both backslashes are meant
            parts.append(pair * 2)
        elif pair in ("\\\\", '\\"'):
            parts.append(pair)
        else:
            pair = pair[0]
            parts.append("\\\\" if pair == "\\" else pair)
        position += len(pair)
    return "".join(parts)


def _has_lone_backslash(words: str) -> bool:
    """Return whether a string has an invalid escape, or starts with a drive letter and a valid one."""
    position = words.find("\\")
    if position == 2 and words[1] == ":" and words[3:4] != "\\":
        return True
    while position >= 0:
        letter, digits = words[position + 1 : position + 2], words[position + 2 : position + 6]
        if letter not in _ESCAPES or (letter == "u" and not _is_hex(digits)):
            return True
        position = words.find("\\", position + 2)
    return False


def _is_hex(digits: str) -> bool:
    return len(digits) == 4 and all(digit in "0123456789abcdefABCDEF" for digit in digits)


def dumps(content: Any) -> str:
    """Return JSON for dicts, lists, strings, finite numbers, booleans and None."""
    if isinstance(content, str):
        return _get_string_encoder()(content)
    if content is None or content is True or content is False:
        return {None: "null", True: "true", False: "false"}[content]
    if isinstance(content, int):
        return int.__repr__(content)
    if isinstance(content, float) and content - content == 0:
        return float.__repr__(content)
    if isinstance(content, dict):
        return "{" + ", ".join(f"{dumps(str(name))}: {dumps(item)}" for name, item in content.items()) + "}"
    if isinstance(content, (list, tuple)):
        return "[" + ", ".join(map(dumps, content)) + "]"
    raise ValueError(f"{type(content).__name__} is not JSON")


def _make_scanner() -> Callable[[str, int], tuple[Any, int]] | None:
    try:
        import _json

        scanner: Callable[[str, int], tuple[Any, int]] = _json.make_scanner(_ScannerOptions)  # type: ignore[arg-type]
    except (ImportError, AttributeError, TypeError):
        return None
    return scanner


def _get_string_encoder() -> Callable[[str], str]:
    try:
        from _json import encode_basestring_ascii as quoted
    except ImportError:
        from json import dumps as quoted
    return quoted
