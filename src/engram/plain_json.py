"""JSON for hooks: the interpreter's own scanner without the modules around it.

`json` brings `re` and `enum` along, which is as long as the interpreter itself takes to start. Where the scanner is not
to be had (another interpreter, a later version that wants more of us), `json` does the work.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_BLANK = " \t\n\r"
_ESCAPES = '"\\/bfnrtu'


class _Rules:
    """What the scanner asks of whoever makes it."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None
    parse_float, parse_int, parse_constant = float, int, float
    memo: dict[str, str] = {}  # noqa: RUF012  it is cleared by the scanner after each use


def loads(text: str | bytes) -> Any:
    """Return what a JSON text says, or raise ValueError."""
    if isinstance(text, bytes):
        text = text.decode().removeprefix("\ufeff")
    scan = _scanner()
    if scan is None:
        import json

        return json.loads(text)
    start = len(text) - len(text.lstrip(_BLANK))
    try:
        found, end = scan(text, start)
    except StopIteration as place:
        raise ValueError(f"no JSON value at character {place.value}") from None
    except SystemError:  # the scanner takes its error from `json`, and fails at that where nobody loaded it
        import json

        return json.loads(text)
    if text[end:].strip(_BLANK):
        raise ValueError(f"more than one JSON value; the first ends at character {end}")
    return found


def loads_lenient(text: str | bytes) -> Any:
    """Return what a JSON text says, also where somebody wrote Windows paths into it without escaping them."""
    try:
        return loads(text)
    except ValueError:
        words = (text.decode() if isinstance(text, bytes) else text).removeprefix("\ufeff")
        repaired = "".join(_repaired_strings(words))
        if repaired == words:
            raise
        return loads(repaired)


def _repaired_strings(text: str) -> Iterator[str]:
    """Yield a JSON text piece by piece, the lone backslashes doubled in strings that do not escape them."""
    start = 0
    while (opening := text.find('"', start)) >= 0:
        end = _closing_quote(text, opening + 1)
        yield text[start : opening + 1]
        yield _repaired(text[opening + 1 : end])
        yield text[end : end + 1]
        start = end + 1
    yield text[start:]


def _closing_quote(text: str, start: int) -> int:
    while start < len(text) and text[start] != '"':
        start += 2 if text[start] == "\\" else 1
    return min(start, len(text))


def _repaired(words: str) -> str:
    """Return the inside of a string with its lone backslashes doubled, if it has any."""
    if not _has_lone_backslash(words):
        return words
    made, place = [], 0
    while place < len(words):
        pair = words[place : place + 2]
        if pair == "\\\\" and place == 0:  # the name of a server: both are meant
            made.append(pair * 2)
        elif pair in ("\\\\", '\\"'):
            made.append(pair)
        else:
            pair = pair[0]
            made.append("\\\\" if pair == "\\" else pair)
        place += len(pair)
    return "".join(made)


def _has_lone_backslash(words: str) -> bool:
    """Tell whether a string holds an escape JSON does not know, or begins with a drive and one of them."""
    place = words.find("\\")
    if place == 2 and words[1] == ":" and words[3:4] != "\\":
        return True
    while place >= 0:
        letter, digits = words[place + 1 : place + 2], words[place + 2 : place + 6]
        if letter not in _ESCAPES or (letter == "u" and not _is_hex(digits)):
            return True
        place = words.find("\\", place + 2)
    return False


def _is_hex(digits: str) -> bool:
    return len(digits) == 4 and all(each in "0123456789abcdefABCDEF" for each in digits)


def dumps(thing: Any) -> str:
    """Return a text that says a thing made of dicts, lists, strings, finite numbers, booleans and None."""
    if isinstance(thing, str):
        return _quoted()(thing)
    if thing is None or thing is True or thing is False:
        return {None: "null", True: "true", False: "false"}[thing]
    if isinstance(thing, int):
        return int.__repr__(thing)
    if isinstance(thing, float) and thing - thing == 0:
        return float.__repr__(thing)
    if isinstance(thing, dict):
        return "{" + ", ".join(f"{dumps(str(name))}: {dumps(each)}" for name, each in thing.items()) + "}"
    if isinstance(thing, (list, tuple)):
        return "[" + ", ".join(map(dumps, thing)) + "]"
    raise ValueError(f"{type(thing).__name__} is not JSON")


def _scanner() -> Callable[[str, int], tuple[Any, int]] | None:
    try:
        import _json

        made: Callable[[str, int], tuple[Any, int]] = _json.make_scanner(_Rules)  # type: ignore[arg-type]
    except (ImportError, AttributeError, TypeError):
        return None
    return made


def _quoted() -> Callable[[str], str]:
    try:
        from _json import encode_basestring_ascii as quoted
    except ImportError:
        from json import dumps as quoted
    return quoted
