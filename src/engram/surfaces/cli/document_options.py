"""The options of every versioned document: --history, --version and --restore."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from engram.hub import Hub
from engram.platform.value import value
from engram.surfaces.signature import Parameter

PAGE, RULE = "page", "rule"
_VERSION_OPTIONS = ("history", "at_version", "restore")


@value
class _VersionAccess:
    """How to list, show and restore the versions of one kind of document."""

    list: Callable[[Hub, str | None], Any]
    show: Callable[[Hub, str | None, Any], Any]
    restore: Callable[[Hub, str | None, Any], Any]


def build_version_options(document: str, parameters: list[Parameter]) -> list[click.Option]:
    """Return the version options of a command that shows a document."""
    version_type = str if document == PAGE else int
    version_options = [
        click.Option(["--history"], is_flag=True, help="List the versions, newest first."),
        click.Option(["--restore"], type=version_type, metavar="VERSION", help="Restore this version as the newest."),
    ]
    if all(parameter.name != "version" for parameter in parameters):
        version_option = click.Option(
            ["--version", "at_version"], type=version_type, metavar="VERSION", help="Show an older version."
        )
        version_options.append(version_option)
    return version_options


def pop_version_option(options: dict[str, Any]) -> dict[str, Any]:
    """Remove these options from those of a command, and return the one that was used."""
    version_options = {name: options.pop(name, None) for name in _VERSION_OPTIONS}
    used_options = {
        name: option_value
        for name, option_value in version_options.items()
        if option_value is not None and option_value is not False
    }
    if len(used_options) > 1 or (used_options and options.get("version") is not None):
        raise click.UsageError("Choose one of --history, --version and --restore.")
    return used_options


def run_version_option(hub: Hub, document: str, name: str | None, version_option: dict[str, Any]) -> Any:
    """Return what one of the options asks for."""
    access = _ACCESS_BY_DOCUMENT.get(document) or _build_document_access(document)
    if "history" in version_option:
        return access.list(hub, name)
    if "restore" in version_option:
        return access.restore(hub, name, version_option["restore"])
    return access.show(hub, name, version_option["at_version"])


def _build_document_access(document: str) -> _VersionAccess:
    from engram.summaries import document_history

    return _VersionAccess(
        list=lambda hub, name: document_history.list_versions(hub, document, name),
        show=lambda hub, name, version: document_history.get_version(hub, document, version, name),
        restore=lambda hub, name, version: document_history.restore_version(hub, document, version, name),
    )


def _list_rule_versions(hub: Hub, pattern: str | None) -> Any:
    from engram.patterns.rules import catalog

    return list(catalog.get_pattern(hub, pattern or "", effect=False).versions[::-1])


def _find_rule_version(hub: Hub, pattern: str | None, version: int) -> Any:
    from engram.errors import NoVersion

    for rule_version in _list_rule_versions(hub, pattern):
        if rule_version.version == version:
            return rule_version
    raise NoVersion(kind=f"The rule {pattern}", id=str(version), hint="--history lists the versions.")


def _restore_rule(hub: Hub, pattern: str | None, version: int) -> Any:
    from engram.patterns.rules import review
    from engram.surfaces.cli.patterns import require_person

    require_person()
    return review.restore_rule(hub, pattern or "", version)


def _list_page_versions(hub: Hub, name: str | None) -> list[Any]:
    from engram.wiki import page

    return page.list_versions(hub, name or "")


def _get_page(hub: Hub, name: str | None, version: str | None = None) -> Any:
    from engram.wiki import page

    return page.get_page(hub, name or "", version)


def _restore_page(hub: Hub, name: str | None, version: str) -> Any:
    from engram.wiki import edit

    return edit.restore_page(hub, name or "", version)


_ACCESS_BY_DOCUMENT = {
    PAGE: _VersionAccess(list=_list_page_versions, show=_get_page, restore=_restore_page),
    RULE: _VersionAccess(list=_list_rule_versions, show=_find_rule_version, restore=_restore_rule),
}
