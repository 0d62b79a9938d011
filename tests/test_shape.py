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


# ---- Names

_PARTICIPLES = frozenset(
    "told said met found made kept held left known shown drawn seen done gone sent built taken written given chosen"
    " grown begun broken hidden brought sought lost spent lent".split()
)
_NOT_PARTICIPLES = frozenset("embed feed need seed shed speed exceed proceed succeed".split())


def function_names() -> list[str]:
    """Return the names of all functions without leading underscores; special methods and `_` left out."""
    nodes = (node for path in FILES for node in ast.walk(ast.parse(path.read_text())))
    names = [node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [name.strip("_") for name in names if name.strip("_") and not name.startswith("__")]


def test_most_function_names_say_what_is_done_to_what() -> None:
    names = function_names()
    assert sum("_" not in name for name in names) <= 0.45 * len(names)


def test_few_function_names_begin_with_a_participle() -> None:
    names = function_names()
    first = [name.split("_")[0] for name in names]
    participles = [
        word for word in first if word in _PARTICIPLES or (word.endswith("ed") and word not in _NOT_PARTICIPLES)
    ]
    assert len(participles) <= 0.04 * len(names)


def test_no_class_name_is_defined_twice() -> None:
    names = [
        node.name
        for path in FILES
        if "compat" not in path.parts  # keeps the names of others
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    ]
    assert sorted({name for name in names if names.count(name) > 1}) == []


# ---- Imports


def import_graph() -> dict[str, set[str]]:
    """Return which module imports which, deferred and type-only imports included."""
    modules = {_module_name(path): path for path in FILES}
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        imported = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported |= {f"{node.module}.{alias.name}" for alias in node.names}
                imported |= (
                    {node.module} if not all(f"{node.module}.{a.name}" in modules for a in node.names) else set()
                )
        graph[name] = (imported & modules.keys()) - {name}
    return graph


def _module_name(path: Path) -> str:
    parts = ["engram", *path.relative_to(SOURCE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = import_graph()
    while True:  # take away what imports nothing that is left, until only cycles are left
        leaves = {name for name, imported in graph.items() if not imported & graph.keys()}
        if not leaves:
            break
        graph = {name: imported for name, imported in graph.items() if name not in leaves}
    assert sorted(graph) == []
