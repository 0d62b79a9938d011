"""Older versions of pages, in `.engram/history`.

If rules replace their own text, one version per day is kept; otherwise every version. Versions that quote a deleted
session are deleted with it, and such text in the current page is not kept as a version either.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress

from engram.clock import to_datetime
from engram.errors import NoVersion
from engram.platform.value import value
from engram.wiki.vault import state
from engram.wiki.vault.vault import Vault, replace_file
from engram.wiki.vault.vault import read_text_file as read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

_FOLDER = "history"
_MAX_OTHER_VERSIONS, _MAX_RULE_VERSIONS = 20, 5  # versions of a page: by people or a model, and by rules
_RULES = ".rules"
_STEM = re.compile(r"(\d{4}-\d\d-\d\dT\d{6}(?:[+-]\d{4})?)(?:-\d+)?(?:\.rules)?")
_WITHDRAWN = "withdrawn.json"


@value
class PageVersion:
    """An older version of a page."""

    version: str  # version name
    at: datetime  # time it was replaced
    size: int  # bytes
    made_by: str = ""  # rules; empty for a person or a model


def save_version(vault: Vault, target: str, text: str, stamp: str, *, by_rules: bool = False) -> None:
    """Save the text of a page before it is replaced; repeating it changes nothing."""
    folder = _version_folder(vault, target)
    file_names = _list_files(folder)
    if by_rules and any(file_name.startswith(stamp[:10]) and _is_by_rules(file_name) for file_name in file_names):
        return
    stem, end = stamp.replace(":", ""), f"{_RULES}.md" if by_rules else ".md"
    number, name = 1, stem + end
    while name in file_names and _read_file(folder, name) != text:  # another one of the same second
        number, name = number + 1, f"{stem}-{number + 1}{end}"
    replace_file(os.path.join(folder, name), text)
    _prune_versions(folder)


def list_versions(vault: Vault, target: str) -> list[PageVersion]:
    """Return the older versions of a page, newest first."""
    folder = _version_folder(vault, target)
    page_versions = []
    for name in sorted(_list_files(folder), reverse=True):
        with suppress(FileNotFoundError):
            facts = os.stat(os.path.join(folder, name))
            by, at = "rules" if _is_by_rules(name) else "", _parse_version_time(name, facts.st_mtime_ns)
            page_versions.append(PageVersion(version=name[:-3], at=at, size=facts.st_size, made_by=by))
    return page_versions


def read_version(vault: Vault, target: str, version: str) -> str:
    """Return the text of an older version of a page."""
    folder = _version_folder(vault, target)
    text = _read_file(folder, f"{version}.md") if f"{version}.md" in _list_files(folder) else None
    if text is None:
        raise NoVersion(kind=target, id=version, hint=f"List the versions with `engram wiki history {target}`.")
    return text


def delete_versions(vault: Vault, target: str) -> None:
    """Delete all versions of a page."""
    shutil.rmtree(_version_folder(vault, target), ignore_errors=True)


def delete_versions_naming(vault: Vault, names: Collection[str]) -> None:
    """Delete every version that names these sessions or logs; do not keep pages that still name them when they are
    rebuilt.
    """
    name_pattern = compile_name_pattern(names)
    for target in list(_list_targets(vault)):
        _remove_versions(vault, target, name_pattern)
    if pages_naming := find_pages_naming(vault, names):
        with vault.hold_lock():
            state.write_file(vault, _WITHDRAWN, {**state.read_file(vault, _WITHDRAWN), **pages_naming})


def find_pages_naming(vault: Vault, names: Collection[str]) -> dict[str, list[str]]:
    """Return the pages that name these sessions or logs, with the names found."""
    name_pattern = compile_name_pattern(names)
    return {
        target: sorted({match[0] for match in name_pattern.finditer(text)})
        for target in vault.iter_pages("concepts", "connections", "qa")
        if (text := _read_page(vault, target)) and name_pattern.search(text)
    }  # fmt: skip


def is_withdrawn(vault: Vault, target: str) -> bool:
    """Check whether a page may quote deleted sessions; delete the versions that do."""
    marks = state.read_file(vault, _WITHDRAWN).get(target)
    if marks:
        _remove_versions(vault, target, compile_name_pattern(marks))
    return bool(marks)


def clear_withdrawn(vault: Vault, subject: str, written: Collection[str]) -> None:
    """Record that pages were rebuilt since, so they quote nothing deleted; call it while holding the vault lock.

    A page made by rules is rebuilt as a whole; in others, a log counts as handled once it was compiled.
    """
    withdrawn = state.read_file(vault, _WITHDRAWN)
    remaining = {
        target: [mark for mark in marks if mark != subject or _is_ruled(vault, target)]
        for target, marks in withdrawn.items()
        if not (target in written and (target.startswith("connections/") or _is_rebuilt(vault, target)))
    }  # fmt: skip
    remaining = {target: marks for target, marks in remaining.items() if marks}
    if remaining != withdrawn:
        state.write_file(vault, _WITHDRAWN, remaining)


def _is_ruled(vault: Vault, target: str) -> bool:
    return str((state.read_page_record(vault, target) or {}).get("made_by", "")).startswith("rules/")


def _is_rebuilt(vault: Vault, target: str) -> bool:
    """Check whether a page that was written now has only what is in the store, or is gone."""
    return _is_ruled(vault, target) or not _read_page(vault, target)


def compile_name_pattern(names: Collection[str]) -> re.Pattern[str]:
    """Return a pattern that finds sessions or logs by name in a text."""
    inner = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or r"(?!)"
    return re.compile(rf"(?<![\w-])(?:{inner})(?![\w-])")


def _remove_versions(vault: Vault, target: str, name_pattern: re.Pattern[str]) -> None:
    folder = _version_folder(vault, target)
    for name in _list_files(folder):
        if name_pattern.search(_read_file(folder, name) or ""):
            with suppress(FileNotFoundError):
                os.remove(os.path.join(folder, name))


def _list_targets(vault: Vault) -> Iterator[str]:
    root = os.path.join(vault.own_dir, _FOLDER)
    for directory, _, names in os.walk(root):
        if any(_STEM.fullmatch(name.removesuffix(".md")) for name in names):
            yield os.path.relpath(directory, root).replace(os.sep, "/")


def _read_page(vault: Vault, target: str) -> str:
    from engram.errors import InvalidInput

    try:
        return vault.read(target) or ""
    except (OSError, InvalidInput):
        return ""


def _version_folder(vault: Vault, target: str) -> str:
    vault.resolve_path(target)
    return os.path.join(vault.own_dir, _FOLDER, *target.strip().removesuffix(".md").split("/"))


def _list_files(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(".md") and _STEM.fullmatch(name[:-3])]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _read_file(folder: str, name: str) -> str | None:
    path = os.path.join(folder, name)
    try:
        # We never make links: this one leads to something that is not ours to show.
        return None if os.path.islink(path) else read_file(path)
    except FileNotFoundError:
        return None


def _prune_versions(folder: str) -> None:
    names = sorted(_list_files(folder))
    ruled = [name for name in names if _is_by_rules(name)]
    others = [name for name in names if not _is_by_rules(name)]
    for name in (*ruled[:-_MAX_RULE_VERSIONS], *others[:-_MAX_OTHER_VERSIONS]):
        with suppress(FileNotFoundError):
            os.remove(os.path.join(folder, name))


def _is_by_rules(name: str) -> bool:
    return name.endswith(f"{_RULES}.md")


def _parse_version_time(name: str, changed: int) -> datetime:
    """Return when a version was replaced, from its name."""
    from datetime import UTC, datetime

    match = _STEM.fullmatch(name[:-3])
    try:
        at = datetime.fromisoformat(match[1]) if match else to_datetime(changed // 1000)
    except ValueError:  # the name is not a time
        return to_datetime(changed // 1000)
    return at if at.tzinfo else at.replace(tzinfo=UTC)
