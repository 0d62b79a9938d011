"""What a Python program catches and receives can be imported from `engram`, and importing it stays cheap."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import engram
import engram.api
from engram.errors import Error
from engram.operation import list_operations

_WITHOUT_EXTRAS = """
import sys
sys.modules.update(dict.fromkeys(("anyio", "jinja2", "markdown_it", "nh3", "psycopg", "starlette", "uvicorn")))
from engram import *
"""


def list_classes() -> Iterator[type]:
    """Yield every public class of the package."""
    for module_info in pkgutil.walk_packages(engram.__path__, "engram."):
        if not module_info.name.startswith("engram.compat") and module_info.name != "engram.__main__":
            module = importlib.import_module(module_info.name)
            for member in vars(module).values():
                if isinstance(member, type) and member.__module__ == module.__name__:
                    yield member


CLASSES = {member.__name__: member for member in list_classes()}


def names_in(annotation: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(annotation)) if isinstance(node, ast.Name)} & CLASSES.keys()


def list_returned_types() -> set[str]:
    """Return the names of the classes that operations return, and of the classes of their fields."""
    waiting = {name for operation in list_operations() for name in names_in(operation.call.__annotations__["return"])}
    returned: set[str] = set()
    while waiting:
        name = waiting.pop()
        returned.add(name)
        fields = CLASSES[name].__annotations__.values()
        waiting |= {inner for annotation in fields for inner in names_in(annotation)} - returned
    return returned


def list_errors(base: type[Error] = Error) -> set[str]:
    return {base.__name__}.union(*(list_errors(error) for error in base.__subclasses__()))


def is_exported(name: str) -> bool:
    return name in engram.__all__ and getattr(engram, name) is CLASSES[name]


def test_every_type_that_an_operation_returns_is_exported() -> None:
    assert [name for name in sorted(list_returned_types()) if not is_exported(name)] == []


def test_every_error_is_exported() -> None:
    public = [name for name in sorted(list_errors()) if name in CLASSES and not name.startswith("_")]
    assert [name for name in public if not is_exported(name)] == []


def test_every_exported_name_exists_and_is_known_to_type_checkers() -> None:
    assert [name for name in engram.__all__ if getattr(engram, name, None) is None] == []
    assert len(set(engram.__all__)) == len(engram.__all__)
    assert engram.__file__ is not None
    tree = ast.parse(Path(engram.__file__).read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert {*engram.__all__} - imported == {"SessionRegistry", "__version__"}


def test_every_name_can_be_imported_without_the_extras() -> None:
    subprocess.run([sys.executable, "-c", _WITHOUT_EXTRAS], check=True)


def test_importing_the_package_loads_nothing_else_of_it() -> None:
    code = "import sys, engram; print(*sorted(name for name in sys.modules if name.startswith('engram')))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert loaded.split() == ["engram"]
