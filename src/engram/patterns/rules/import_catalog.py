"""Import a catalog: changes in its files become new versions, decided by the person who imports them."""

from __future__ import annotations

import os
import stat

from engram.errors import Error, ImportRefused
from engram.operation import Help, operation
from engram.patterns.fingerprint import sanitize_line
from engram.patterns.rules import catalog, review
from engram.patterns.rules.rule_text import clean_fix, clean_rule
from engram.patterns.rules.scope import parse_scope
from engram.platform import text
from engram.platform.value import value
from engram.store import patterns, rules
from engram.store.patterns import APPROVED, CANDIDATE, MERGED, REJECTED, RETIRED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from engram.hub import Hub
    from engram.patterns.rules.catalog_file import CatalogEntry

_MAX_FILE_BYTES = 256 * 1024  # maximum bytes of a file


@value
class ImportedPattern:
    """One pattern that a file changes or adds."""

    pattern: str
    file: str
    state: str  # its new state
    new: bool
    diff: str


@value
class ImportedCatalog:
    """The result of an import."""

    directory: str
    taken: tuple[ImportedPattern, ...]
    unchanged: int
    refused: tuple[str, ...]  # skipped files, with line and reason
    approvals: int  # rules that the import approves
    dry_run: bool


@value
class CatalogPreview:
    """The parsed files of a catalog: the import applies exactly what the preview showed."""

    directory: str
    changes: tuple[CatalogChange, ...]
    unchanged: int
    refused: tuple[str, ...]


@value
class CatalogChange:
    """One file with changes."""

    file: str
    entry: CatalogEntry
    before: catalog.Pattern | None


@operation(writes=True, agent=False)
def import_catalog(
    hub: Hub,
    directory: Annotated[str, Help("directory with the files")],
    author: Annotated[str | None, Help("who decides; defaults to you")] = None,
    dry_run: Annotated[bool, Help("only show what would change")] = False,
) -> ImportedCatalog:
    """Import changed files of a catalog; importing a file that says approved approves its rule."""
    preview = preview_import(hub, directory)
    return build_result(preview, dry_run=True) if dry_run else apply_import(hub, preview, author)


def preview_import(hub: Hub, directory: str) -> CatalogPreview:
    """Return what the files of a catalog would change."""
    folder = os.path.abspath(os.path.expanduser(text.validate_name("directory", directory)))
    if not os.path.isdir(folder):
        raise ImportRefused(path=folder, reason="no such directory.")
    changes, refused, unchanged, files_by_id = list[CatalogChange](), list[str](), 0, dict[str, str]()
    for name in sorted(
        file_name for file_name in os.listdir(folder) if file_name.endswith(".md") and file_name != "README.md"
    ):
        shown_name = text.to_one_line(sanitize_line(text.validate_text("file", name)), 200)
        try:
            change = _preview_file(hub, folder, name, shown_name, files_by_id)
            changes += [change] if change else []
            unchanged += change is None
        except _FileRefused as refusal:
            refused.append(f"{shown_name}, line {refusal.line}: {refusal.reason}")
    return CatalogPreview(folder, tuple(changes), unchanged, tuple(refused))


def apply_import(hub: Hub, preview: CatalogPreview, author: str | None) -> ImportedCatalog:
    """Apply a preview, each pattern completely or not at all."""
    applied, refused = list[CatalogChange](), list(preview.refused)
    for change in preview.changes:
        try:
            with hub.engine.transaction(durable=True):
                patterns.lock_patterns(hub.engine)
                _apply_change(hub, change, author)
            applied.append(change)
        except Error as problem:
            refused.append(f"{change.file}, line {change.entry.line}: {problem}")
    return build_result(
        CatalogPreview(preview.directory, tuple(applied), preview.unchanged, tuple(refused)), dry_run=False
    )


def build_result(preview: CatalogPreview, *, dry_run: bool) -> ImportedCatalog:
    """Build the result to show."""
    taken = tuple(
        ImportedPattern(
            item.entry.id, item.file, item.entry.state, item.before is None, _format_diff(item.before, item.entry)
        )
        for item in preview.changes
    )
    approvals = sum(item.state == APPROVED for item in taken)
    return ImportedCatalog(preview.directory, taken, preview.unchanged, preview.refused, approvals, dry_run)


class _FileRefused(Exception):
    """Raised for a file that cannot be imported."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


def _preview_file(
    hub: Hub, folder: str, name: str, shown_name: str, files_by_id: dict[str, str]
) -> CatalogChange | None:
    """Return the change of one file; None if there is none."""
    entry = _read_entry(os.path.join(folder, name))
    if entry.id in files_by_id:
        raise _FileRefused(1, f"{files_by_id[entry.id]} already contains {entry.id}.")
    files_by_id[entry.id] = shown_name
    try:
        entry = _clean_entry(hub, entry)
        before = catalog.load_pattern(hub, entry.id) if patterns.get(hub.engine, entry.id) else None
        if before and _is_unchanged(before, entry):
            return None
        _check_entry(before, entry)
    except Error as problem:
        raise _FileRefused(entry.line, str(problem)) from problem
    return CatalogChange(shown_name, entry, before)


def _read_entry(path: str) -> CatalogEntry:
    from engram.patterns.rules.catalog_file import InvalidCatalogFile, parse_pattern

    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a link in a repository may point to an endless device
            raise _FileRefused(1, "it is not a file.")
        with open(path, "rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
        if len(content) > _MAX_FILE_BYTES:
            raise _FileRefused(1, "it is too large for a pattern.")
        return parse_pattern(content.decode())
    except UnicodeDecodeError:
        raise _FileRefused(1, "it is not UTF-8 text.") from None
    except OSError as problem:
        raise _FileRefused(1, f"it cannot be read: {problem.strerror}.") from problem
    except InvalidCatalogFile as broken:
        raise _FileRefused(broken.line, broken.reason) from broken


def _clean_entry(hub: Hub, entry: CatalogEntry) -> CatalogEntry:
    from engram.patterns.rules.catalog_file import CatalogEntry

    return CatalogEntry(
        id=entry.id,
        kind=text.validate_name("kind", entry.kind),
        state=entry.state,
        scope=parse_scope(hub, entry.scope),
        version=entry.version,
        title=sanitize_line(entry.title, 200) or entry.id,
        rule=clean_rule(hub, entry.rule),
        fix=clean_fix(hub, entry.fix),
        line=entry.line,
    )


def _is_unchanged(before: catalog.Pattern, entry: CatalogEntry) -> bool:
    return (before.state, before.rule, before.fix, before.scope) == (entry.state, entry.rule, entry.fix, entry.scope)


def _check_entry(before: catalog.Pattern | None, entry: CatalogEntry) -> None:
    """Refuse an invalid state, and a file that conflicts with a newer decision."""
    if entry.state not in catalog.STATES or (entry.state == MERGED and (before is None or before.state != MERGED)):
        raise _FileRefused(
            1,
            f"{text.to_one_line(entry.state, 40)!r} is not a state a file can set. Merge with `engram patterns merge`.",
        )
    if before and before.state in (REJECTED, RETIRED, MERGED) and before.state == entry.state:
        raise _FileRefused(1, f"the pattern is {before.state} here. Restore it before you change its rule.")
    if before and before.state == APPROVED and entry.state == REJECTED:
        raise _FileRefused(1, "the pattern is approved here. Retire it instead of rejecting it.")
    if before and before.version and entry.version != before.version:
        reason = (
            f"the file has version {entry.version}, but the current one is {before.version}. Export again and merge."
        )
        raise _FileRefused(1, reason)


def _apply_change(hub: Hub, change: CatalogChange, author: str | None) -> None:
    """Apply the decisions of a file one by one, unless the pattern changed since the preview."""
    entry, before, why = change.entry, change.before, "imported"
    if before is None:
        rules.insert_pattern(hub.engine, entry.id, entry.kind, entry.title, hub.now())
    review.require_version(hub, entry.id, before.version if before else 0)
    state = before.state if before else CANDIDATE
    if state in (REJECTED, RETIRED, MERGED) and state != entry.state:
        state = review.restore_pattern(hub, entry.id, why, author).state
    approves = entry.state == APPROVED or (entry.state == RETIRED and state == CANDIDATE)
    write = review.approve_pattern if approves else review.edit_pattern
    write(hub, entry.id, entry.rule, entry.fix, entry.scope, author, why)
    if entry.state in (REJECTED, RETIRED) and state != entry.state:
        (review.reject_pattern if entry.state == REJECTED else review.retire_pattern)(hub, entry.id, why, author)


def _format_diff(before: catalog.Pattern | None, entry: CatalogEntry) -> str:
    import difflib

    old = [] if before is None else _format_lines(before.state, before.scope, before.rule, before.fix)
    new = _format_lines(entry.state, entry.scope, entry.rule, entry.fix)
    return "\n".join(difflib.unified_diff(old, new, f"{entry.id} here", f"{entry.id} in the file", n=9, lineterm=""))


def _format_lines(state: str, scope: str, rule: str, fix: str) -> list[str]:
    return [
        f"state: {state}",
        f"scope: {scope}",
        *rule.split("\n"),
        *(f"Fix: {line}" for line in fix.split("\n") if line),
    ]
