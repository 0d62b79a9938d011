"""Older versions of pages, in `.engram/history`: what was replaced, and when.

Of what rules replaced by rules one version a day is kept, of all else each. A version that quotes a deleted session
goes with it, and what such a page still says when it is next made is not kept either.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress

from engram.clock import moment
from engram.errors import NotFound
from engram.value import value
from engram.vault import state
from engram.vault.vault import Vault, replace
from engram.vault.vault import read as read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

_FOLDER = "history"
_KEPT, _BY_RULES = 20, 5  # versions of one page: by hand or model, and by rules
_RULES = ".rules"
_STEM = re.compile(r"(\d{4}-\d\d-\d\dT\d{6}(?:[+-]\d{4})?)(?:-\d+)?(?:\.rules)?")
_WITHDRAWN = "withdrawn.json"


@value
class PageVersion:
    """An older version of a page."""

    version: str  # what it is asked for by
    at: datetime  # when it was replaced
    size: int  # bytes
    made_by: str = ""  # rules; empty: a person or a model


def keep(vault: Vault, target: str, text: str, stamp: str, *, by_rules: bool = False) -> None:
    """Keep what a page says and is about to say no more; doing it again changes nothing."""
    folder = _folder(vault, target)
    here = _names(folder)
    if by_rules and any(each.startswith(stamp[:10]) and _is_ruled(each) for each in here):
        return
    stem, end = stamp.replace(":", ""), f"{_RULES}.md" if by_rules else ".md"
    number, name = 1, stem + end
    while name in here and _read(folder, name) != text:  # another of the same second
        number, name = number + 1, f"{stem}-{number + 1}{end}"
    replace(os.path.join(folder, name), text)
    _prune(folder)


def versions(vault: Vault, target: str) -> list[PageVersion]:
    """Return the older versions of a page, the newest first."""
    folder = _folder(vault, target)
    found = []
    for name in sorted(_names(folder), reverse=True):
        with suppress(FileNotFoundError):
            facts = os.stat(os.path.join(folder, name))
            by, at = "rules" if _is_ruled(name) else "", _at(name, facts.st_mtime_ns)
            found.append(PageVersion(version=name[:-3], at=at, size=facts.st_size, made_by=by))
    return found


def read(vault: Vault, target: str, version: str) -> str:
    """Return what an older version of a page said."""
    folder = _folder(vault, target)
    found = _read(folder, f"{version}.md") if f"{version}.md" in _names(folder) else None
    if found is None:
        raise NotFound(kind=f"version of {target}", id=version, hint=f"`engram wiki history {target}` lists them.")
    return found


def drop(vault: Vault, target: str) -> None:
    """Forget all versions of a page."""
    shutil.rmtree(_folder(vault, target), ignore_errors=True)


def forget(vault: Vault, names: Collection[str]) -> None:
    """Remove every version that names sessions or logs; pages that still name them are not kept when next made."""
    told = telling(names)
    for target in list(_targets(vault)):
        _remove(vault, target, told)
    if still := naming(vault, names):
        with vault.alone():
            state.write(vault, _WITHDRAWN, {**state.read(vault, _WITHDRAWN), **still})


def naming(vault: Vault, names: Collection[str]) -> dict[str, list[str]]:
    """Return the pages that name sessions or logs, and which of them."""
    told = telling(names)
    return {
        target: sorted({found[0] for found in told.finditer(text)})
        for target in vault.pages("concepts", "connections", "qa")
        if (text := _said(vault, target)) and told.search(text)
    }  # fmt: skip


def is_withdrawn(vault: Vault, target: str) -> bool:
    """Tell whether a page may quote what was deleted; the versions that do, go."""
    marks = state.read(vault, _WITHDRAWN).get(target)
    if marks:
        _remove(vault, target, telling(marks))
    return bool(marks)


def settle(vault: Vault, subject: str, written: Collection[str]) -> None:
    """Note that a log was compiled since: its pages were made again; to be called under the lock of the vault.

    Compiling a log makes again every page about a topic that lost an entry there, but no connection.
    """
    held = state.read(vault, _WITHDRAWN)
    left = {
        target: [mark for mark in marks if mark != subject or not target.startswith("concepts/")]
        for target, marks in held.items()
        if not (target in written and target.startswith("connections/"))
    }  # fmt: skip
    left = {target: marks for target, marks in left.items() if marks}
    if left != held:
        state.write(vault, _WITHDRAWN, left)


def telling(names: Collection[str]) -> re.Pattern[str]:
    """Return what finds sessions or logs by their names in a text."""
    inner = "|".join(re.escape(each) for each in sorted(names, key=len, reverse=True)) or r"(?!)"
    return re.compile(rf"(?<![\w-])(?:{inner})(?![\w-])")


def _remove(vault: Vault, target: str, told: re.Pattern[str]) -> None:
    folder = _folder(vault, target)
    for name in _names(folder):
        if told.search(_read(folder, name) or ""):
            with suppress(FileNotFoundError):
                os.remove(os.path.join(folder, name))


def _targets(vault: Vault) -> Iterator[str]:
    root = os.path.join(vault.own, _FOLDER)
    for place, _, names in os.walk(root):
        if any(_STEM.fullmatch(name.removesuffix(".md")) for name in names):
            yield os.path.relpath(place, root).replace(os.sep, "/")


def _said(vault: Vault, target: str) -> str:
    from engram.errors import InvalidInput

    try:
        return vault.read(target) or ""
    except (OSError, InvalidInput):
        return ""


def _folder(vault: Vault, target: str) -> str:
    vault.path(target)
    return os.path.join(vault.own, _FOLDER, *target.strip().removesuffix(".md").split("/"))


def _names(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(".md") and _STEM.fullmatch(name[:-3])]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _read(folder: str, name: str) -> str | None:
    path = os.path.join(folder, name)
    try:
        return None if os.path.islink(path) else read_file(path)  # we made none: it leads to what is not ours to show
    except FileNotFoundError:
        return None


def _prune(folder: str) -> None:
    names = sorted(_names(folder))
    ruled = [name for name in names if _is_ruled(name)]
    others = [name for name in names if not _is_ruled(name)]
    for name in (*ruled[:-_BY_RULES], *others[:-_KEPT]):
        with suppress(FileNotFoundError):
            os.remove(os.path.join(folder, name))


def _is_ruled(name: str) -> bool:
    return name.endswith(f"{_RULES}.md")


def _at(name: str, changed: int) -> datetime:
    """Return when a version was replaced, by its name."""
    from datetime import UTC, datetime

    found = _STEM.fullmatch(name[:-3])
    try:
        at = datetime.fromisoformat(found[1]) if found else moment(changed // 1000)
    except ValueError:  # a name that is no time
        return moment(changed // 1000)
    return at if at.tzinfo else at.replace(tzinfo=UTC)
