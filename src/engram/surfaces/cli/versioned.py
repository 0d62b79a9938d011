"""Options every versioned document has: --history, --version and --restore."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from engram.api import Engram
from engram.surfaces.signature import Parameter
from engram.value import value

PAGE, RULE = "page", "rule"
_ASKED = ("history", "at_version", "restore")


@value
class _Kind:
    """How the versions of a kind of document are reached."""

    list: Callable[[Engram, str | None], Any]
    show: Callable[[Engram, str | None, Any], Any]
    restore: Callable[[Engram, str | None, Any], Any]


def options(document: str, known: list[Parameter]) -> list[click.Option]:
    """Return the options of a command that shows a document."""
    number = str if document == PAGE else int
    found = [
        click.Option(["--history"], is_flag=True, help="List the versions, newest first."),
        click.Option(["--restore"], type=number, metavar="VERSION", help="Make a new version that says what it said."),
    ]
    if all(each.name != "version" for each in known):
        shown = click.Option(["--version", "at_version"], type=number, metavar="VERSION", help="Show an older version.")
        found.append(shown)
    return found


def taken(given: dict[str, Any]) -> dict[str, Any]:
    """Take these options out of what a command was given, and return the one that was used."""
    asked = {name: given.pop(name, None) for name in _ASKED}
    used = {name: each for name, each in asked.items() if each not in (None, False)}
    if len(used) > 1 or (used and given.get("version")):
        raise click.UsageError("Choose one of --history, --version and --restore.")
    return used


def answered(engram: Engram, document: str, name: str | None, asked: dict[str, Any]) -> Any:
    """Return what one of the options asks for."""
    kind = _KINDS.get(document) or _document(document)
    if "history" in asked:
        return kind.list(engram, name)
    if "restore" in asked:
        return kind.restore(engram, name, asked["restore"])
    return kind.show(engram, name, asked["at_version"])


def _document(document: str) -> _Kind:
    return _Kind(
        list=lambda engram, name: engram.list_versions(document, name),
        show=lambda engram, name, version: engram.get_version(document, version, name),
        restore=lambda engram, name, version: engram.restore_version(document, version, name),
    )


def _rule_at(engram: Engram, pattern: str | None, version: int) -> Any:
    from engram.errors import NotFound

    for each in engram.get_pattern(pattern or "", effect=False).versions:
        if each.version == version:
            return each
    raise NotFound(
        kind=f"version of the rule {pattern}", id=str(version), hint="--history lists the versions there are."
    )


def _restore_rule(engram: Engram, pattern: str | None, version: int) -> Any:
    from engram.surfaces.cli.patterns import need_person

    need_person()
    return engram.restore_rule(pattern or "", version)


_KINDS = {
    PAGE: _Kind(
        list=lambda engram, name: list(engram.get_page(name or "").versions),
        show=lambda engram, name, version: engram.get_page(name or "", version),
        restore=lambda engram, name, version: engram.restore_page(name or "", version),
    ),
    RULE: _Kind(
        list=lambda engram, name: list(engram.get_pattern(name or "", effect=False).versions[::-1]), show=_rule_at,
        restore=_restore_rule,
    ),
}  # fmt: skip
