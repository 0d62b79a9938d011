"""Editing a page by hand, with a look at what somebody else wrote meanwhile."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from engram.errors import Error
from engram.hub import Hub
from engram.operation import Help, operation
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.vault.vault import Vault


class PageChanged(Error):
    """{target} was changed meanwhile: it is at {version}, not at {expected}. Nothing was written.
    Read it again, put both together, and save with expected={version}."""

    code, status, exit = "page_changed", 409, 3
    target: str
    version: str  # of what the page says now; empty: it was removed
    expected: str
    content: str  # what it says now


class NotWhole(Error):
    """{target} cannot be edited here: it is too long, not UTF-8, or holds control characters, which saving would lose.
    Nothing was written. Edit the file itself: {path}"""

    code, status, exit = "not_whole", 409, 3
    target: str
    path: str


@value
class Edited:
    """A page after an edit."""

    target: str
    version: str
    created: bool
    changed: bool


@operation(writes=True, agent=False)
def edit_page(
    hub: Hub,
    target: Annotated[str, Help("the page: daily/2026-11-16, concepts/redis")],
    content: Annotated[str, Help("the whole file, in markdown")],
    expected: Annotated[str, Help("the version that was read; empty: the page is new")] = "",
    by: Annotated[str | None, Help("who edits it")] = None,
) -> Edited:
    """Replace a page of the wiki, if it still says what was read; what it said is kept."""
    from engram.clock import moment, zone
    from engram.text import PAGE, name_or_none, required
    from engram.vault import vault, writes

    home, name = vault.of(hub), _named(target)
    home.path(name)
    said = required("content", content, "To take a page away, delete its file.", PAGE)
    author = name_or_none("by", by) or "you"
    at = moment(hub.now()).astimezone(zone(hub.settings.timezone)).isoformat(timespec="seconds")
    writes.finish(hub, home)
    with home.alone():
        done = _replaced(home, name, said, name_or_none("expected", expected) or "", at)
        if done.changed:
            with suppress(OSError):  # the page is written: what tells of it is mended by lint
                _note(home, done, author, at)
    if done.changed:
        _let_be_found(hub, home, name)
    return done


@operation(writes=True, agent=False)
def restore_page(
    hub: Hub,
    target: Annotated[str, Help("the page: daily/2026-11-16, concepts/redis, or what it is called")],
    version: Annotated[str, Help("an older version, as get_page names it")],
    by: Annotated[str | None, Help("who restores it")] = None,
) -> Edited:
    """Let a page say again what an older version said; what it says now becomes a version."""
    from engram.text import name as required_name
    from engram.vault import gate, history, vault
    from engram.wiki.page import found

    home = vault.of(hub)
    name, now = found(home, target)
    older = history.read(home, name, required_name("version", version))
    return edit_page(hub, name, older, gate.digest(now), by)


def _named(target: str) -> str:
    from engram.errors import InvalidInput
    from engram.vault.vault import FOLDERS
    from engram.wiki.page import is_page, named

    name = named(target)
    if not is_page(name):
        raise InvalidInput(field="target", reason=f"{name!r} lies in none of {', '.join(FOLDERS)}.")
    if max(len(part.encode()) for part in name.split("/")) > 200:
        raise InvalidInput(field="target", reason="its name is too long for a file.")
    return name


def _replaced(home: Vault, name: str, said: str, expected: str, at: str) -> Edited:
    """Compare and write, or refuse with what stands there; to be called under the lock of the vault."""
    from engram.text import PAGE, clean
    from engram.vault import gate, history
    from engram.vault.merge import like
    from engram.wiki.page import is_whole, saved

    seen = saved(home, name)
    if (gate.digest(seen) if seen is not None else "") != expected:
        raise _changed(name, seen, expected)
    if seen is not None and not (is_whole(seen, clean("page", seen[:PAGE], 4 * PAGE)) and home.is_text(name)):
        raise NotWhole(target=name, path=home.path(name))
    text = like(seen or "", said.removeprefix("\ufeff") if seen is not None else said)
    if text == seen:
        return Edited(target=name, version=expected, created=False, changed=False)
    if seen is not None:
        history.keep(home, name, seen, at)
    if not home.write(name, text, seen):  # saved by another program this very moment
        raise _changed(name, saved(home, name), expected)
    return Edited(target=name, version=gate.digest(text), created=seen is None, changed=True)


def _changed(name: str, seen: str | None, expected: str) -> PageChanged:
    from engram.vault.gate import digest

    version = digest(seen) if seen is not None else ""
    return PageChanged(target=name, version=version, expected=expected, content=seen or "")


def _note(home: Vault, done: Edited, author: str, at: str) -> None:
    """Tell it in `log.md`; a new article gets its row of the index."""
    from engram.vault import index
    from engram.wiki import mend

    if done.created and not done.target.startswith("daily/"):
        index.add_rows(home, {done.target: mend.row(home, done.target)})
    lines = {"Created" if done.created else "Updated": (done.target,)}
    index.add_log(home, index.log_entry(at, "edit", f"{done.target} by {author}", lines))


def _let_be_found(hub: Hub, home: Vault, name: str) -> None:
    """Let the page be found as it stands; where nothing can be written now, the next look at the vault does it."""
    from engram.errors import StoreBusy, StoreFull
    from engram.vault import findable, sync

    folder, _, rest = name.partition("/")
    with suppress(StoreFull, StoreBusy):
        if folder == "daily":
            sync.written(hub, home, [rest])
        else:
            findable.put(hub, home, [name])
