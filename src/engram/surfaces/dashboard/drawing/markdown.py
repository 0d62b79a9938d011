"""Render untrusted markdown to HTML and sanitize the result."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from urllib.parse import quote

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup

_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "class"}, "code": {"class"}, "ol": {"start"}}
_MAX_CHARS = 200_000  # the rest is cut off
_MAX_BRACKETS = 6_000  # more unclosed brackets make parsing slow
_WIKILINK = re.compile(r"\[\[([^\[\]|\n]{1,200})(?:\|([^\[\]\n]{1,200}))?\]\]")


def render_markdown(text: str, links: Mapping[tuple[str, str], str] | None = None, top: int = 3) -> Markup:
    """Return markdown as safe HTML: no scripts, images, styles or forms.

    `links` maps page and heading of wiki links to addresses; an empty address marks a missing page. `top` is the level
    that first-level headings get.
    """
    text, full_length = text[:_MAX_CHARS], len(text)
    if _is_tangled(text):
        return Markup("<pre>{}</pre>").format(text)
    rendered = _load_renderer().render(text, {"links": links or {}, "top": top})
    ellipsis = "<p>…</p>" if full_length > _MAX_CHARS else ""
    return Markup(_clean_html(rendered) + ellipsis)  # noqa: S704  cleaned just now


def _is_tangled(text: str) -> bool:
    """Return whether a text has too many brackets to be prose."""
    brackets = text.count("[")
    return brackets > _MAX_BRACKETS or (brackets > 200 and brackets * 10 > len(text))


def _clean_html(rendered: str) -> str:
    return nh3.clean(
        rendered, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https"}, link_rel="noreferrer noopener",
        strip_comments=True,
    )  # fmt: skip


@cache
def _load_renderer() -> MarkdownIt:
    renderer = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False})
    renderer.enable(["table", "strikethrough"])
    renderer.inline.ruler.before("link", "wikilink", _parse_wikilink)
    renderer.add_render_rule("image", _render_image)
    for name in ("heading_open", "heading_close"):  # shift levels below the page's own headings
        renderer.add_render_rule(name, _render_heading)
    return renderer


def _parse_wikilink(state: StateInline, silent: bool) -> bool:
    match = _WIKILINK.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        target, _, part = match[1].strip().removesuffix(".md").partition("#")
        link_token = state.push("link_open", "a", 1)
        address = state.env.get("links", {}).get((target.strip("/"), part.strip()))
        link_token.attrs = {
            "href": address or wiki_address(target, part), "class": "wikilink missing" if address == "" else "wikilink",
        }  # fmt: skip
        state.push("text", "", 0).content = match[2] or match[1]
        state.push("link_close", "a", -1)
    state.pos = match.end()
    return True


def wiki_address(target: str, part: str = "") -> str:
    """Return the dashboard address of a wiki page."""
    return f"/wiki/{quote(target)}" + (f"#{quote(part)}" if part else "")


def _render_image(_: object, tokens: Sequence[Token], index: int, *__: object) -> str:
    """Render an image as its description, so that nothing is fetched."""
    token = tokens[index]
    return f"[image: {nh3.clean_text(token.content or str(token.attrs.get('src', '')))}]"


def _render_heading(_: object, tokens: Sequence[Token], index: int, __: object, env: Mapping[str, int]) -> str:
    token = tokens[index]
    level = min(max(int(token.tag[1]) + env.get("top", 3) - 1, 2), 6)
    return f"<h{level}>" if token.nesting == 1 else f"</h{level}>\n"
