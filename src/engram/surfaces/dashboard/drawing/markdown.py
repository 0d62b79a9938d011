"""Strangers' words as HTML: rendered, then cleaned last, so that nothing of theirs acts."""

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
_LONGEST = 200_000  # characters; nobody reads more in one piece
_BRACKETS = 6_000  # that may open; each is followed to the end, which takes long where none is closed
_WIKILINK = re.compile(r"\[\[([^\[\]|\n]{1,200})(?:\|([^\[\]\n]{1,200}))?\]\]")


def html(text: str, links: Mapping[tuple[str, str], str] | None = None, top: int = 3) -> Markup:
    """Return markdown as HTML that is safe to show: no script, no picture, no style, no form.

    Links to the wiki go where `links` says for a page and a heading, to nothing there where that is empty; headings of
    the first order become those of `top`.
    """
    text, whole = text[:_LONGEST], len(text)
    if _is_tangled(text):
        return Markup("<pre>{}</pre>").format(text)
    rendered = _renderer().render(text, {"links": links or {}, "top": top})
    rest = "<p>…</p>" if whole > _LONGEST else ""
    return Markup(_clean(rendered) + rest)  # noqa: S704  cleaned just now


def _is_tangled(text: str) -> bool:
    """Tell whether a text has so many brackets that it is no prose."""
    brackets = text.count("[")
    return brackets > _BRACKETS or (brackets > 200 and brackets * 10 > len(text))


def _clean(rendered: str) -> str:
    return nh3.clean(
        rendered, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https"}, link_rel="noreferrer noopener",
        strip_comments=True,
    )  # fmt: skip


@cache
def _renderer() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False})
    made.enable(["table", "strikethrough"])
    made.inline.ruler.before("link", "wikilink", _wikilink)
    made.add_render_rule("image", _image)
    for name in ("heading_open", "heading_close"):  # a page has its own headings above
        made.add_render_rule(name, _heading)
    return made


def _wikilink(state: StateInline, silent: bool) -> bool:
    found = _WIKILINK.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        target, _, part = found[1].strip().removesuffix(".md").partition("#")
        opened = state.push("link_open", "a", 1)
        address = state.env.get("links", {}).get((target.strip("/"), part.strip()))
        opened.attrs = {
            "href": address or wiki_address(target, part), "class": "wikilink missing" if address == "" else "wikilink",
        }  # fmt: skip
        state.push("text", "", 0).content = found[2] or found[1]
        state.push("link_close", "a", -1)
    state.pos = found.end()
    return True


def wiki_address(target: str, part: str = "") -> str:
    """Return where a page of the wiki is shown."""
    return f"/wiki/{quote(target)}" + (f"#{quote(part)}" if part else "")


def _image(_: object, tokens: Sequence[Token], index: int, *__: object) -> str:
    """Draw a picture as its description: nothing is fetched from anywhere."""
    token = tokens[index]
    return f"[picture: {nh3.clean_text(token.content or str(token.attrs.get('src', '')))}]"


def _heading(_: object, tokens: Sequence[Token], index: int, __: object, env: Mapping[str, int]) -> str:
    token = tokens[index]
    level = min(max(int(token.tag[1]) + env.get("top", 3) - 1, 2), 6)
    return f"<h{level}>" if token.nesting == 1 else f"</h{level}>\n"
