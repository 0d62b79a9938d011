"""The shape we keep: short functions, one noun per file, no weight where it hurts."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "engram"
FILES = sorted(SOURCE.rglob("*.py"))
FORBIDDEN = {"utils", "util", "helpers", "helper", "common", "misc", "core", "base", "manager", "service"}


def functions() -> list[tuple[int, str]]:
    found = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                found.append((length, f"{path.relative_to(SOURCE)}:{node.name}"))
    return found


def test_functions_are_short() -> None:
    lengths = sorted(length for length, _ in functions())
    assert statistics.median(lengths) <= 10
    assert lengths[int(len(lengths) * 0.9)] <= 30
    assert [name for length, name in functions() if length > 60] == []


def test_files_are_one_noun_of_readable_size() -> None:
    assert [path.name for path in FILES if len(path.read_text().splitlines()) > 450] == []
    assert [path.name for path in FILES if path.stem in FORBIDDEN] == []


def test_every_public_function_says_what_it_does() -> None:
    silent = []
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            public = isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
            if public and not ast.get_docstring(node):  # type: ignore[arg-type]
                silent.append(f"{path.name}:{getattr(node, 'name', '')}")
    assert silent == []


def test_the_interpreters_own_sqlite_is_never_used() -> None:
    assert [path.name for path in FILES if "import sqlite3" in path.read_text()] == []
