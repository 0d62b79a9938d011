"""The wiki editor: edits the whole file and never loses typed text."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response

from engram.errors import Error, InvalidInput, NotFound
from engram.platform import text
from engram.surfaces.dashboard.drawing import diff, markdown
from engram.surfaces.dashboard.layout import PageAddress, PageRequest
from engram.surfaces.dashboard.pages import wiki
from engram.surfaces.errors import HomeUnwritable
from engram.wiki.edit import NotWhole, PageChanged
from engram.wiki.page import WikiPage, format_unified_diff
from engram.wiki.vault import article

_NEW_PAGE = "# {title}\n\n"


def show_editor(request: PageRequest) -> Response:
    """Render the editor with the text of a page, or with a title for a new page."""
    target = request.get_path_part("target")
    try:
        page = request.engram.get_page(target)
        _require_whole(page)
        target, content, expected = page.target, page.text, page.version
    except NotFound:
        title = request.get_query("title") or target.rpartition("/")[2].replace("-", " ").capitalize()
        content, expected = _NEW_PAGE.format(title=text.to_one_line(title, 200)), ""
    return _render_editor(request, target, content, expected)


def save_page(request: PageRequest) -> Response:
    """Save the typed text; on failure, show the reason and keep the text."""
    target, typed, expected = (
        request.get_path_part("target"),
        request.get_field("content"),
        request.get_field("expected"),
    )
    try:
        saved = request.engram.edit_page(target, typed, expected)
    except PageChanged as conflict:
        lines = diff.parse_diff(format_unified_diff(conflict.content, typed, "current page", "your text"))
        return _render_editor(request, target, typed, conflict.version, problem=conflict, diff=lines)
    except Error as refusal:
        return _render_editor(request, target, typed, expected, problem=refusal)
    except OSError as error:
        return _render_editor(
            request, target, typed, expected, problem=HomeUnwritable(reason=error.strerror or repr(error))
        )
    return request.redirect(markdown.wiki_address(saved.target))


def _require_whole(page: WikiPage) -> None:
    """Refuse to edit a page that is too large to show in full."""
    if not page.whole:
        raise NotWhole(target=page.target, path=f"{page.target}.md in the wiki")


def _render_editor(
    request: PageRequest, target: str, content: str, expected: str, problem: Error | None = None,
    diff: list[diff.DiffLine] | None = None,
) -> Response:  # fmt: skip
    """Render the editor; if it is already open, only the part beside the text box."""
    template = "wiki/_refused.html" if problem and request.is_part else "wiki/edit.html"
    return request.render(
        template, status=problem.status if problem else 200, target=target, content=content, expected=expected,
        problem=problem, diff=diff or [],
    )  # fmt: skip


def restore_version(request: PageRequest) -> Response:
    """Restore an older version of a page; the current one is kept as a version."""
    target = request.get_path_part("target")
    old = request.engram.get_page(target, request.get_field("version"))
    _require_whole(old)
    saved = request.engram.edit_page(old.target, old.text, request.get_field("expected"))
    return request.redirect(markdown.wiki_address(saved.target))


def show_preview(request: PageRequest) -> Response:
    """Render a preview of the typed text."""
    return request.render("wiki/_preview.html", content=article.split_frontmatter(request.get_field("content"))[1])


def show_new_page(request: PageRequest) -> Response:
    """Ask for the title of a new page, then open its editor."""
    title, folder = request.get_query("title"), request.get_query("folder") or "concepts"
    if title is None:
        return request.render("wiki/new.html", kinds=wiki.KINDS)
    name = text.build_slug(title)
    if not name or folder not in wiki.KINDS:
        raise InvalidInput(field="title", reason=f"{title!r} has no letters or digits for a page name.")
    if _page_exists(request, f"{folder}/{name}"):
        raise InvalidInput(field="title", reason=f"{folder}/{name} already exists. Open that page to edit it.")
    return request.redirect(f"/wiki/edit/{folder}/{quote(name)}?title={quote(title)}")


def _page_exists(request: PageRequest, target: str) -> bool:
    try:
        return bool(request.engram.get_page(target))
    except NotFound:
        return False


ADDRESSES = (
    PageAddress("/wiki/new", show_new_page),
    PageAddress("/wiki/preview", show_preview, writes=True),
    PageAddress("/wiki/edit/{target:path}", show_editor),
    PageAddress("/wiki/edit/{target:path}", save_page, writes=True),
    PageAddress("/wiki/restore/{target:path}", restore_version, writes=True),
)
