"""Edit a page by hand, with a check for concurrent changes."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from engram.errors import Error
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.wiki.vault.vault import Vault


class PageChanged(Error):
    """{target} was changed meanwhile: it is at {version}, not {expected}. Nothing was written. Read it again, merge
    both texts, and save with expected={version}.
    """

    code, status, exit = "page_changed", 409, 3
    target: str
    version: str  # version of the current text; empty if the page was deleted
    expected: str
    content: str  # current text


class NotWhole(Error):
    """{target} cannot be edited here: it is too long, not UTF-8, or contains control characters that saving would
    lose. Nothing was written. Edit the file instead: {path}
    """

    code, status, exit = "not_whole", 409, 3
    target: str
    path: str


@value
class EditResult:
    """A page after an edit."""

    target: str
    version: str
    created: bool
    changed: bool


@operation(writes=True, agent=False)
def edit_page(
    hub: Hub,
    target: Annotated[str, Help("page such as daily/2026-11-16 or concepts/redis")],
    content: Annotated[str, Help("the new content of the whole file, in markdown")],
    expected: Annotated[str, Help("the version you read; empty for a new page")] = "",
    by: Annotated[str | None, Help("the author of the edit")] = None,
) -> EditResult:
    """Replace a wiki page if it has not changed since it was read; the old version is kept."""
    from engram.clock import load_timezone, to_datetime
    from engram.platform.text import PAGE, require_text, validate_optional_name
    from engram.wiki.vault import vault, write_batch

    wiki, name = vault.open_vault(hub), _parse_target(target)
    wiki.resolve_path(name)
    new_text = require_text("content", content, "To delete a page, delete its file.", PAGE)
    author = validate_optional_name("by", by) or "you"
    at = to_datetime(hub.now()).astimezone(load_timezone(hub.settings.timezone)).isoformat(timespec="seconds")
    write_batch.finish_journal(hub, wiki)
    with wiki.hold_lock():
        result = _replace_page(wiki, name, new_text, validate_optional_name("expected", expected) or "", at)
        if result.changed:
            with suppress(OSError):  # the page is written; lint repairs the index if this fails
                _log_edit(wiki, result, author, at)
    if result.changed:
        _refresh_search(hub, wiki, name)
    return result


@operation(writes=True, agent=False)
def restore_page(
    hub: Hub,
    target: Annotated[str, Help("page such as daily/2026-11-16 or concepts/redis, or its title")],
    version: Annotated[str, Help("older version, as listed in the page's `versions`")],
    by: Annotated[str | None, Help("who restores it")] = None,
) -> EditResult:
    """Restore an older version of a page, also of a removed one; the current text is kept as a version."""
    from engram.platform.text import validate_name as required_name
    from engram.wiki.page import is_page_name, parse_page_name, resolve_page
    from engram.wiki.vault import due_logs, history, vault

    wiki, removed = vault.open_vault(hub), parse_page_name(target)
    if is_page_name(removed) and wiki.read(removed) is None and history.list_versions(wiki, removed):
        return edit_page(hub, removed, history.read_version(wiki, removed, required_name("version", version)), "", by)
    name, current_text = resolve_page(wiki, target)
    older_text = history.read_version(wiki, name, required_name("version", version))
    return edit_page(hub, name, older_text, due_logs.hash_text(current_text), by)


def _parse_target(target: str) -> str:
    from engram.errors import InvalidInput
    from engram.wiki.page import is_page_name, parse_page_name
    from engram.wiki.vault.vault import FOLDERS

    name = parse_page_name(target)
    if not is_page_name(name):
        raise InvalidInput(
            field="target", reason=f"{name!r} is not in a wiki folder. Use one of: {', '.join(FOLDERS)}."
        )
    if max(len(part.encode()) for part in name.split("/")) > 200:
        raise InvalidInput(field="target", reason="The name is too long for a file.")
    return name


def _replace_page(wiki: Vault, name: str, new_text: str, expected: str, at: str) -> EditResult:
    """Compare and write, or raise an error with the current text; call it while holding the vault lock."""
    from engram.platform.text import PAGE, validate_text
    from engram.wiki.page import is_whole, read_saved_page
    from engram.wiki.vault import due_logs, history
    from engram.wiki.vault.merge import match_line_ends

    current_text = read_saved_page(wiki, name)
    if (due_logs.hash_text(current_text) if current_text is not None else "") != expected:
        raise _build_conflict(name, current_text, expected)
    if current_text is not None and not (
        is_whole(current_text, validate_text("page", current_text[:PAGE], 4 * PAGE)) and wiki.is_text(name)
    ):
        raise NotWhole(target=name, path=wiki.resolve_path(name))
    text = match_line_ends(
        current_text or "", new_text.removeprefix("\ufeff") if current_text is not None else new_text
    )
    if text == current_text:
        return EditResult(target=name, version=expected, created=False, changed=False)
    if current_text is not None:
        history.save_version(wiki, name, current_text, at)
    if not wiki.write(name, text, current_text):  # saved by another program at this moment
        raise _build_conflict(name, read_saved_page(wiki, name), expected)
    return EditResult(target=name, version=due_logs.hash_text(text), created=current_text is None, changed=True)


def _build_conflict(name: str, current_text: str | None, expected: str) -> PageChanged:
    from engram.wiki.vault.due_logs import hash_text

    version = hash_text(current_text) if current_text is not None else ""
    return PageChanged(target=name, version=version, expected=expected, content=current_text or "")


def _log_edit(wiki: Vault, result: EditResult, author: str, at: str) -> None:
    """Record the edit in `log.md`; add a new article to the index."""
    from engram.wiki import lint_fixes
    from engram.wiki.vault import index_page

    if result.created and not result.target.startswith("daily/"):
        index_page.write_rows(wiki, {result.target: lint_fixes.build_index_row(wiki, result.target)})
    lines = {"Created" if result.created else "Updated": (result.target,)}
    index_page.append_log(wiki, index_page.format_log_entry(at, "edit", f"{result.target} by {author}", lines))


def _refresh_search(hub: Hub, wiki: Vault, name: str) -> None:
    """Index the page; if the store cannot be written now, the next sync does it."""
    from engram.errors import StoreBusy, StoreFull
    from engram.wiki.vault import article_passages, sync

    folder, _, rest = name.partition("/")
    with suppress(StoreFull, StoreBusy):
        if folder == "daily":
            sync.index_logs(hub, wiki, [rest])
        else:
            article_passages.index_articles(hub, wiki, [name])
