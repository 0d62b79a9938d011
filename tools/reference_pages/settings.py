"""The reference of the settings, from the fields of `Settings` and their comments."""

from __future__ import annotations

import ast
import inspect

from engram.settings import Settings
from tools.reference_pages.markdown import NOTICE, escape_markup, format_table, join_blocks

_INTRODUCTION = """
A setting has its default unless `config.toml` in the Engram home sets it, and an environment variable wins over both:

```toml
# ~/.local/share/engram/config.toml
stale_minutes = 45
timezone = "Europe/Berlin"
```

`engram config` shows the settings in effect. An unknown name or an invalid value is an error that names its source. See
[configuration](../configuration.md) for choosing a model and for the files in the home.
"""
_COMPUTED_DEFAULTS = {
    "home": "the user data directory, such as `~/.local/share/engram`",
    "store": "`engram.db` in the home",
}
_LONG_NUMBER = 100_000  # from here on digits are grouped, as TOML allows
_NOTES = {
    "home": "; only as a variable, not in `config.toml`",
    "timezone": "; `ENGRAM_TZ` works too",
}


def build_page() -> str:
    """Return the page."""
    rows = [_build_row(field, comment) for field, comment in _list_fields()]
    table = format_table(("setting", "type", "default", "variable", "meaning"), rows)
    return join_blocks("# Settings", NOTICE, _INTRODUCTION, table)


def _list_fields() -> list[tuple[ast.AnnAssign, str]]:
    """Return the fields of `Settings` with their comments."""
    source = inspect.getsource(Settings)
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.ClassDef)
    lines = source.splitlines()
    fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
    return [(field, lines[field.lineno - 1].partition("  # ")[2]) for field in fields]


def _build_row(field: ast.AnnAssign, comment: str) -> tuple[str, ...]:
    name = ast.unparse(field.target)
    default = _COMPUTED_DEFAULTS.get(name) or _format_default(field.value)
    meaning = f"{escape_markup(comment)}{_NOTES.get(name, '')}"
    return f"`{name}`", ast.unparse(field.annotation), default, f"`ENGRAM_{name.upper()}`", meaning


def _format_default(node: ast.expr | None) -> str:
    default = ast.literal_eval(node) if node is not None else ""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, int):
        return f"{default:_}" if default >= _LONG_NUMBER else str(default)
    return f"`{default}`" if default else ""
