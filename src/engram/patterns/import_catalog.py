"""Import a catalog: what changed in its files becomes a new version here, on the word of the person who imports it."""

from __future__ import annotations

import os

from engram import text
from engram.errors import Error, ImportRefused
from engram.operation import Help, operation
from engram.patterns import catalog, review
from engram.patterns.rule_text import fix_text, rule_text, scope_of
from engram.store import patterns, rules
from engram.store.patterns import APPROVED, CANDIDATE, MERGED, REJECTED, RETIRED
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from engram.hub import Hub
    from engram.patterns.catalog_file import Entry

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


@operation(writes=True, agent=False)
def import_catalog(
    hub: Hub,
    directory: Annotated[str, Help("where the files lie")],
    author: Annotated[str | None, Help("who decides; without, you")] = None,
    dry_run: Annotated[bool, Help("only tell what would change")] = False,
) -> ImportedCatalog:
    """Take over changed files of a catalog; what they say is approved, you approve by importing it."""
    folder = os.path.abspath(os.path.expanduser(text.name("directory", directory)))
    if not os.path.isdir(folder):
        raise ImportRefused(path=folder, reason="it is not a directory.")
    taken, refused, unchanged, seen = list[Taken](), list[str](), 0, dict[str, str]()
    for name in sorted(each for each in os.listdir(folder) if each.endswith(".md") and each != "README.md"):
        try:
            found = _taken(hub, folder, name, author, dry_run, seen)
            taken += [found] if found else []
            unchanged += found is None
        except _Left as left:
            refused.append(f"{name}, line {left.line}: {left.reason}")
    approvals = sum(each.state == APPROVED for each in taken)
    return ImportedCatalog(folder, tuple(taken), unchanged, tuple(refused), approvals, dry_run)


class _Left(Exception):
    """A file that cannot be taken over."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


def _taken(
    hub: Hub, folder: str, name: str, author: str | None, dry_run: bool, seen: dict[str, str]
) -> Taken | None:  # fmt: skip
    """Take one file over; None if it says nothing new."""
    entry = _read(os.path.join(folder, name))
    if entry.id in seen:
        raise _Left(1, f"{seen[entry.id]} is about {entry.id} already.")
    seen[entry.id] = name
    try:
        entry = _fitting(hub, entry)
        row = patterns.get(hub.engine, entry.id)
        before = catalog.shown(hub, entry.id) if row else None
        if before and _same(before, entry):
            return None
        _check(before, entry)
        if not dry_run:
            _decide(hub, before, entry, author)
    except Error as problem:
        raise _Left(entry.line, str(problem)) from problem
    return Taken(entry.id, name, entry.state, before is None, _diff(before, entry))


def _read(path: str) -> Entry:
    from engram.patterns.catalog_file import Broken, parse

    try:
        if os.path.getsize(path) > _LARGEST:
            raise _Left(1, "it is too large for a pattern.")
        with open(path, encoding="utf-8") as file:
            return parse(file.read())
    except UnicodeDecodeError:
        raise _Left(1, "it is not UTF-8 text.") from None
    except OSError as problem:
        raise _Left(1, f"it cannot be read: {problem.strerror}.") from problem
    except Broken as broken:
        raise _Left(broken.line, broken.reason) from broken


def _fitting(hub: Hub, entry: Entry) -> Entry:
    from engram.patterns.catalog_file import Entry

    return Entry(
        id=entry.id, kind=text.name("kind", entry.kind), state=entry.state, scope=scope_of(entry.scope),
        version=entry.version, title=text.one_line(text.clean("title", entry.title), 200),
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


def _decide(hub: Hub, before: catalog.Pattern | None, entry: Entry, author: str | None) -> None:
    """Decide as the file says, step by step as a person would have."""
    if before is None:
        with hub.engine.transaction(durable=True):
            rules.enter(hub.engine, entry.id, entry.kind, entry.title, hub.now())
    state, why = before.state if before else CANDIDATE, "imported"
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
