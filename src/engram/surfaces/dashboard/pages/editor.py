"""Editing a page of the wiki: the whole file in a box, and nothing that was typed is lost."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response

from engram import text
from engram.errors import Error, InvalidInput, NotFound
from engram.surfaces.dashboard.drawing import diff, markdown
from engram.surfaces.dashboard.frame import Address, Ask, Unwritten
from engram.surfaces.dashboard.pages import wiki
from engram.vault import article
from engram.wiki.edit import NotWhole, PageChanged
from engram.wiki.page import WikiPage, unified

_NEW = "# {title}\n\n"


def editor(ask: Ask) -> Response:
    """Draw a page's whole text in a box; of one that is not there yet, the beginning."""
    target = ask.path("target")
    try:
        page = ask.engram.get_page(target)
        _need_whole(page)
        target, content, expected = page.target, page.text, page.version
    except NotFound:
        title = ask.given("title") or target.rpartition("/")[2].replace("-", " ").capitalize()
        content, expected = _NEW.format(title=text.one_line(title, 200)), ""
    return _drawn(ask, target, content, expected)


def save(ask: Ask) -> Response:
    """Save what was typed; if it cannot be, say why and keep it in the box."""
    target, typed, expected = ask.path("target"), ask.said("content"), ask.said("expected")
    try:
        done = ask.engram.edit_page(target, typed, expected)
    except PageChanged as conflict:
        lines = diff.lines(unified(conflict.content, typed, "as it is now", "as you would have it"))
        return _drawn(ask, target, typed, conflict.version, problem=conflict, diff=lines)
    except Error as refusal:
        return _drawn(ask, target, typed, expected, problem=refusal)
    except OSError as problem:
        return _drawn(ask, target, typed, expected, problem=Unwritten(reason=problem.strerror or repr(problem)))
    return ask.go(markdown.wiki_address(done.target))


def _need_whole(page: WikiPage) -> None:
    """Refuse to open what a box would not show whole."""
    if not page.whole:
        raise NotWhole(target=page.target, path=f"{page.target}.md in the wiki")


def _drawn(
    ask: Ask, target: str, content: str, expected: str, problem: Error | None = None,
    diff: list[diff.Line] | None = None,
) -> Response:  # fmt: skip
    """Draw the editor; where it is open already, only what goes beside the box."""
    template = "wiki/_refused.html" if problem and ask.is_part else "wiki/edit.html"
    return ask.draw(
        template, status=problem.status if problem else 200, target=target, content=content, expected=expected,
        problem=problem, diff=diff or [],
    )  # fmt: skip


def restore(ask: Ask) -> Response:
    """Let a page say again what an older version said; what it says now is kept as another."""
    target = ask.path("target")
    old = ask.engram.get_page(target, ask.said("version"))
    _need_whole(old)
    done = ask.engram.edit_page(old.target, old.text, ask.said("expected"))
    return ask.go(markdown.wiki_address(done.target))


def preview(ask: Ask) -> Response:
    """Draw what was typed as it would look."""
    return ask.draw("wiki/_preview.html", content=article.split(ask.said("content"))[1])


def new(ask: Ask) -> Response:
    """Ask for the title of a new page, then open the editor on it."""
    title, folder = ask.given("title"), ask.given("folder") or "concepts"
    if title is None:
        return ask.draw("wiki/new.html", kinds=wiki.KINDS)
    name = text.slug(title)
    if not name or folder not in wiki.KINDS:
        raise InvalidInput(field="title", reason=f"{title!r} gives no name for a page.")
    if _exists(ask, f"{folder}/{name}"):
        raise InvalidInput(field="title", reason=f"there is a page {folder}/{name} already. Open it to change it.")
    return ask.go(f"/wiki/edit/{folder}/{quote(name)}?title={quote(title)}")


def _exists(ask: Ask, target: str) -> bool:
    try:
        return bool(ask.engram.get_page(target))
    except NotFound:
        return False


ADDRESSES = (
    Address("/wiki/new", new),
    Address("/wiki/preview", preview, writes=True),
    Address("/wiki/edit/{target:path}", editor),
    Address("/wiki/edit/{target:path}", save, writes=True),
    Address("/wiki/restore/{target:path}", restore, writes=True),
)
