"""Import a catalog: what changed in its files becomes a new version here, on the word of the person who imports it."""

from __future__ import annotations

import os
import stat

from engram import text
from engram.errors import Error, ImportRefused
from engram.operation import Help, operation
from engram.patterns.fingerprint import safe
from engram.rules import catalog, review
from engram.rules.rule_text import fix_text, rule_text
from engram.rules.scope import scope_of
from engram.store import patterns, rules
from engram.store.patterns import APPROVED, CANDIDATE, MERGED, REJECTED, RETIRED
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from engram.hub import Hub
    from engram.rules.catalog_file import Entry

_LARGEST = 256 * 1024  # bytes of one file


@value
class Taken:
    """One pattern a file changes, or brings."""

    pattern: str
    file: str
    state: str  # what it becomes
    new: bool
    diff: str


@value
class ImportedCatalog:
    """What an import took over."""

    directory: str
    taken: tuple[Taken, ...]
    unchanged: int
    refused: tuple[str, ...]  # files that were left, with line and reason
    approvals: int  # how many rules count as approved by whoever imports
    dry_run: bool


@value
class Look:
    """What the files of a catalog say, read once: what is shown of it is what is taken over."""

    directory: str
    changes: tuple[Change, ...]
    unchanged: int
    refused: tuple[str, ...]


@value
class Change:
    """One file that says something new."""

    file: str
    entry: Entry
    before: catalog.Pattern | None


@operation(writes=True, agent=False)
def import_catalog(
    hub: Hub,
    directory: Annotated[str, Help("where the files lie")],
    author: Annotated[str | None, Help("who decides; without, you")] = None,
    dry_run: Annotated[bool, Help("only tell what would change")] = False,
) -> ImportedCatalog:
    """Take over changed files of a catalog; what they say is approved, you approve by importing it."""
    found = look(hub, directory)
    return told(found, dry_run=True) if dry_run else take(hub, found, author)


def look(hub: Hub, directory: str) -> Look:
    """Return what the files of a catalog would change."""
    folder = os.path.abspath(os.path.expanduser(text.name("directory", directory)))
    if not os.path.isdir(folder):
        raise ImportRefused(path=folder, reason="it is not a directory.")
    changes, refused, unchanged, seen = list[Change](), list[str](), 0, dict[str, str]()
    for name in sorted(each for each in os.listdir(folder) if each.endswith(".md") and each != "README.md"):
        shown = text.one_line(safe(text.clean("file", name)), 200)
        try:
            found = _looked_at(hub, folder, name, shown, seen)
            changes += [found] if found else []
            unchanged += found is None
        except _Left as left:
            refused.append(f"{shown}, line {left.line}: {left.reason}")
    return Look(folder, tuple(changes), unchanged, tuple(refused))


def take(hub: Hub, found: Look, author: str | None) -> ImportedCatalog:
    """Take over what was looked at, each pattern whole or not at all."""
    done, refused = list[Change](), list(found.refused)
    for each in found.changes:
        try:
            with hub.engine.transaction(durable=True):
                patterns.hold(hub.engine)
                _decide(hub, each, author)
            done.append(each)
        except Error as problem:
            refused.append(f"{each.file}, line {each.entry.line}: {problem}")
    return told(Look(found.directory, tuple(done), found.unchanged, tuple(refused)), dry_run=False)


def told(found: Look, *, dry_run: bool) -> ImportedCatalog:
    """Return what was found, or done, as a value to show."""
    taken = tuple(
        Taken(each.entry.id, each.file, each.entry.state, each.before is None, _diff(each.before, each.entry))
        for each in found.changes
    )
    approvals = sum(each.state == APPROVED for each in taken)
    return ImportedCatalog(found.directory, taken, found.unchanged, found.refused, approvals, dry_run)


class _Left(Exception):
    """A file that cannot be taken over."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


def _looked_at(hub: Hub, folder: str, name: str, shown: str, seen: dict[str, str]) -> Change | None:
    """Return what one file changes; None if it says nothing new."""
    entry = _read(os.path.join(folder, name))
    if entry.id in seen:
        raise _Left(1, f"{seen[entry.id]} is about {entry.id} already.")
    seen[entry.id] = shown
    try:
        entry = _fitting(hub, entry)
        before = catalog.shown(hub, entry.id) if patterns.get(hub.engine, entry.id) else None
        if before and _same(before, entry):
            return None
        _check(before, entry)
    except Error as problem:
        raise _Left(entry.line, str(problem)) from problem
    return Change(shown, entry, before)


def _read(path: str) -> Entry:
    from engram.rules.catalog_file import Broken, parse

    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a link of a repository may lead to a device that never ends
            raise _Left(1, "it is not a file.")
        with open(path, "rb") as file:
            held = file.read(_LARGEST + 1)
        if len(held) > _LARGEST:
            raise _Left(1, "it is too large for a pattern.")
        return parse(held.decode())
    except UnicodeDecodeError:
        raise _Left(1, "it is not UTF-8 text.") from None
    except OSError as problem:
        raise _Left(1, f"it cannot be read: {problem.strerror}.") from problem
    except Broken as broken:
        raise _Left(broken.line, broken.reason) from broken


def _fitting(hub: Hub, entry: Entry) -> Entry:
    from engram.rules.catalog_file import Entry

    return Entry(
        id=entry.id, kind=text.name("kind", entry.kind), state=entry.state, scope=scope_of(hub, entry.scope),
        version=entry.version, title=safe(entry.title, 200) or entry.id,
        rule=rule_text(hub, entry.rule), fix=fix_text(hub, entry.fix), line=entry.line,
    )  # fmt: skip


def _same(before: catalog.Pattern, entry: Entry) -> bool:
    return (before.state, before.rule, before.fix, before.scope) == (entry.state, entry.rule, entry.fix, entry.scope)


def _check(before: catalog.Pattern | None, entry: Entry) -> None:
    """Refuse what a file cannot say, and what somebody decided meanwhile."""
    if entry.state not in catalog.STATES or (entry.state == MERGED and (before is None or before.state != MERGED)):
        raise _Left(1, f"{text.one_line(entry.state, 40)!r} is no state a file can bring; merge by the command line.")
    if before and before.state in (REJECTED, RETIRED, MERGED) and before.state == entry.state:
        raise _Left(1, f"it is {before.state} here; restore it before its rule is changed.")
    if before and before.state == APPROVED and entry.state == REJECTED:
        raise _Left(1, "it is approved here: retire it instead of rejecting it.")
    if before and before.version and entry.version != before.version:
        reason = f"it was made of version {entry.version}, and {before.version} is in force. Export it again and merge."
        raise _Left(1, reason)


def _decide(hub: Hub, change: Change, author: str | None) -> None:
    """Decide as the file says, step by step as a person would have, unless somebody decided since it was looked at."""
    entry, before, why = change.entry, change.before, "imported"
    if before is None:
        rules.enter(hub.engine, entry.id, entry.kind, entry.title, hub.now())
    review.require_version(hub, entry.id, before.version if before else 0)
    state = before.state if before else CANDIDATE
    if state in (REJECTED, RETIRED, MERGED) and state != entry.state:
        state = review.restore_pattern(hub, entry.id, why, author).state
    approves = entry.state == APPROVED or (entry.state == RETIRED and state == CANDIDATE)
    write = review.approve_pattern if approves else review.edit_pattern
    write(hub, entry.id, entry.rule, entry.fix, entry.scope, author, why)
    if entry.state in (REJECTED, RETIRED) and state != entry.state:
        (review.reject_pattern if entry.state == REJECTED else review.retire_pattern)(hub, entry.id, why, author)


def _diff(before: catalog.Pattern | None, entry: Entry) -> str:
    import difflib

    old = [] if before is None else _shown(before.state, before.scope, before.rule, before.fix)
    new = _shown(entry.state, entry.scope, entry.rule, entry.fix)
    return "\n".join(difflib.unified_diff(old, new, f"{entry.id} here", f"{entry.id} in the file", n=9, lineterm=""))


def _shown(state: str, scope: str, rule: str, fix: str) -> list[str]:
    return [
        f"state: {state}",
        f"scope: {scope}",
        *rule.split("\n"),
        *(f"Fix: {line}" for line in fix.split("\n") if line),
    ]
