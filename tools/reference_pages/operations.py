"""The reference of the library: operations, the values they return, and errors."""

from __future__ import annotations

import ast
import inspect
import textwrap

import engram
from engram.api import Engram
from engram.errors import Error
from engram.operation import Operation, list_operations
from engram.surfaces.signature import Parameter, list_parameters
from tools.reference_pages.markdown import (
    NOTICE,
    escape_markup,
    format_code,
    format_docstring,
    format_list,
    format_sentence,
    format_table,
    join_blocks,
)

_INTRODUCTION = """
Every operation is a method of `Engram`:

```python
from engram import Engram

with Engram() as engram:
    for hit in engram.recall("why did we drop redis"):
        print(hit.snippet)
```

`Engram()` opens the store of the [settings](settings.md); `Engram("some/home")` and `Engram("postgresql://…")` open
another one. An open store can be shared between threads. The [command line](commands.md) and [HTTP](http.md) offer the
same operations. All types and errors below can be imported from `engram`.
"""
_ROOMS = {
    "sessions": "Sessions, locks, messages and the world state",
    "capture": "Captured sessions, outcomes and costs",
    "search": "Search",
    "summaries": "Messages, summaries and profile",
    "wiki": "Wiki",
    "patterns": "Patterns and rules",
    "dream": "Dream",
    "importers": "Imports",
    "index": "Search index",
    "models": "Models",
    "install": "Installation",
}
_TYPES = """
Values are frozen. Read a field as an attribute, as in `session.summary`, or by key as its JSON value, as in
`session["started_at"]`. Times are aware `datetime`s.
"""
_ERRORS = """
`Error` is the base of all. Every error has a `code` for programs, an HTTP `status`, an `exit` status for the shell, and
the fields named in braces in its message as attributes.
"""
_LINE = 100  # longest signature on one line


def build_page() -> str:
    """Return the page."""
    blocks = ["# Operations", NOTICE, _INTRODUCTION]
    for room, title in _ROOMS.items():
        blocks += [f"## {title}", *(_build_section(operation) for operation in _list_room(room))]
    blocks += ["## Types", _TYPES, *(_build_type(name) for name in list_types())]
    blocks += ["## Errors", _ERRORS, _build_error_table()]
    return join_blocks(*blocks)


def _list_room(room: str) -> list[Operation]:
    """Return the operations of a room in the order of the methods of `Engram`."""
    names = list(vars(Engram))
    operations = [operation for operation in list_operations() if operation.call.__module__.split(".")[1] == room]
    return sorted(operations, key=lambda operation: names.index(operation.name))


def _build_section(operation: Operation) -> str:
    notes = ["Writes to the store." if operation.writes else "", "" if operation.agent else "Not offered over HTTP."]
    return join_blocks(
        f"### {operation.name}",
        format_code(_format_signature(operation), "python"),
        format_docstring(operation.call.__doc__),
        " ".join(note for note in notes if note),
        format_list([format_parameter(parameter) for parameter in list_parameters(operation)]),
    )


def format_parameter(parameter: Parameter, type_name: str = "") -> str:
    """Return a parameter with its description, choices and default."""
    type_note = f" ({type_name}{', required' if parameter.required else ''})" if type_name else ""
    choices = f"One of: {', '.join(parameter.choices)}." if parameter.choices else ""
    default = f"Default: {_format_value(parameter.default)}." if parameter.default not in (None, False, "") else ""
    notes = " ".join(note for note in (format_sentence(parameter.help), choices, default) if note)
    return f"`{parameter.name}`{type_note}: {notes}"


def _format_value(default: object) -> str:
    return f"`{default}`" if isinstance(default, str) else str(default).lower()


def _format_signature(operation: Operation) -> str:
    words: list[str] = []
    for parameter in list(inspect.signature(operation.call).parameters.values())[1:]:
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        default = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
        words.append(f"{parameter.name}: {_strip_help(parameter.annotation)}{default}")
    result = get_return_type(operation)
    line = f"{operation.name}({', '.join(words)}) -> {result}"
    if len(line) <= _LINE:
        return line
    return "\n".join([f"{operation.name}(", *(f"    {word}," for word in words), f") -> {result}"])


def _strip_help(annotation: str) -> str:
    """Return the type in `Annotated[type, Help(...)]`."""
    node = ast.parse(annotation, mode="eval").body
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and ast.unparse(node.value) == "Annotated":
        node = node.slice.elts[0]
    return ast.unparse(node)


def get_return_type(operation: Operation) -> str:
    """Return the type an operation returns, as Python writes it."""
    return str(operation.call.__annotations__["return"])


def list_types() -> list[str]:
    """Return the names of all exported value types."""
    return [name for name in engram.__all__ if hasattr(getattr(engram, name), "__match_args__")]


def _build_type(name: str) -> str:
    kind = getattr(engram, name)
    return join_blocks(f"### class {name}", format_docstring(kind.__doc__), format_code(_format_fields(kind), "python"))


def _format_fields(kind: type) -> str:
    """Return the fields of a class as its source writes them, with their comments."""
    source = textwrap.dedent(inspect.getsource(kind))
    lines, (node,) = source.splitlines(), ast.parse(source).body
    assert isinstance(node, ast.ClassDef)
    fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
    shown = [line for item in fields for line in lines[item.lineno - 1 : item.end_lineno]]
    return textwrap.dedent("\n".join(shown))


def _build_error_table() -> str:
    exported = [getattr(engram, name) for name in engram.__all__]
    errors = [error for error in exported if isinstance(error, type) and issubclass(error, Error)]
    rows = [
        (f"`{error.__name__}`", f"`{error.code}`", str(error.status), str(error.exit), _format_message(error))
        for error in errors
    ]
    return format_table(("error", "code", "HTTP", "exit", "message"), rows)


def _format_message(error: type[Error]) -> str:
    return escape_markup(" ".join((error.__doc__ or "").split()))
