"""Regular expressions that mean the same on every Python we run on.

CPython before 3.11.5 loses its place when a possessive quantifier stands over a group whose last round fails half
way (gh-106052). Over one character or one class it is right everywhere.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import engram
from engram.errors import MissingExtra
from engram.redaction.rules import RULES, build_pattern

parser: Any = importlib.import_module("re._parser")
SOURCE = Path(engram.__file__).parent
_CALLS = {
    f"re.{name}" for name in ("compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")
}
_ONE = {"LITERAL", "NOT_LITERAL", "ANY", "IN"}


def is_unsafe(source: Any, flags: int = 0) -> bool:
    """Tell whether a pattern is possessive over more than one character."""
    return any(map(_is_unsafe, _steps(parser.parse(source, flags))))


def _is_unsafe(step: tuple[Any, Any]) -> bool:
    kind, detail = str(step[0]), step[1]
    return kind == "ATOMIC_GROUP" or (kind == "POSSESSIVE_REPEAT" and not _is_one(detail[2]))


def _is_one(steps: Any) -> bool:
    return len(steps) == 1 and str(steps[0][0]) in _ONE


def _steps(thing: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every step of a parsed pattern, however deep."""
    if isinstance(thing, parser.SubPattern):
        for step in thing.data:
            yield step
            yield from _steps(step[1])
    elif isinstance(thing, list | tuple):
        for each in thing:
            yield from _steps(each)


def _modules() -> list[str]:
    found = pkgutil.walk_packages([str(SOURCE)], "engram.")
    return [each.name for each in found if not each.name.endswith("__main__")]


def _compiled(thing: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(thing, re.Pattern):
        yield thing
    elif isinstance(thing, dict):
        yield from _compiled(list(thing.values()))
    elif isinstance(thing, list | tuple | set | frozenset):
        for each in thing:
            yield from _compiled(each)


def _module_patterns() -> Iterator[tuple[str, Any, int]]:
    for name in _modules():
        try:
            module = importlib.import_module(name)
        except (ImportError, MissingExtra):  # an extra is not installed here
            continue
        for each in _compiled(list(vars(module).values())):
            yield name, each.pattern, each.flags


def _literal_patterns() -> Iterator[tuple[str, Any, int]]:
    """Yield what is written as a pattern where it is used."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in _CALLS and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str | bytes):
                    yield f"{path.name}:{node.lineno}", first.value, 0


def _shape_patterns() -> Iterator[tuple[str, Any, int]]:
    for rule in RULES:
        for shape in rule.shapes:
            yield rule.id, build_pattern(shape), 0


def test_no_pattern_is_possessive_over_a_group() -> None:
    everything = {*_module_patterns(), *_literal_patterns(), *_shape_patterns()}
    assert len(everything) > 300
    assert [(place, source) for place, source, flags in everything if is_unsafe(source, flags)] == []


@pytest.mark.parametrize(
    "source", ["(?:ab)++", "(?:a|bc){0,3}+", "x(?>a|ab)", "((?:%20| )*+)y", b"(a)?+b", "(?=(?:ab)*+)"]
)
def test_a_possessive_group_is_seen(source: str | bytes) -> None:
    assert is_unsafe(source)


@pytest.mark.parametrize("source", ["[ab]++c", "a{0,3}+", r"\d*+(?:ab)+", b".?+"])
def test_a_possessive_character_is_allowed(source: str | bytes) -> None:
    assert not is_unsafe(source)
