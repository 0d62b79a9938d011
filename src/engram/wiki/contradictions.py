"""Contradictions between pages that have to do with each other, as a model sees them; a few pages at a time.

Not the whole wiki is shown: the pages that changed last, each with those it links to.
"""

from __future__ import annotations

from engram.errors import Error
from engram.hub import Hub
from engram.text import inline, quote
from engram.vault import article
from engram.vault.vault import Vault
from engram.wiki.checks import WARNING, Finding, Names, Page, View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_AT_ONCE = 12  # pages
_CALLS = 3
_LONGEST = 1_800  # characters of a page
_SCHEMA = {
    "type": "object", "additionalProperties": False, "required": ["contradictions"],
    "properties": {"contradictions": {"type": "array", "items": {
        "type": "object", "additionalProperties": False, "required": ["pages", "about"],
        "properties": {
            "pages": {"type": "array", "items": {"type": "integer"}}, "about": {"type": "string", "maxLength": 1000},
        },
    }}},
}  # fmt: skip


def contradictions(hub: Hub, vault: Vault, view: View) -> tuple[list[Finding], str]:
    """Return the contradictions a model finds, and why it could not look, if so."""
    found: dict[tuple[str, ...], Finding] = {}
    for some in portions(vault, view):
        try:
            reply = _asked(hub, vault, some)
        except Error as problem:
            return list(found.values()), str(problem)
        found |= {(each.page, *each.others): each for each in checked(reply, some)}
    return list(found.values()), ""


def portions(vault: Vault, view: View) -> list[list[str]]:
    """Return the pages to compare: those that changed last, each followed by those it links to."""
    names, pages = Names(view), {page.target: page for page in view.pages}
    order: dict[str, None] = {}
    for page in sorted(view.pages, key=lambda each: _changed_at(vault, each), reverse=True):
        order[page.target] = None
        order |= {near: None for name in page.links if (near := names.page(name)) in pages and near is not None}
        if len(order) >= _AT_ONCE * _CALLS:
            break
    some = list(order)[: _AT_ONCE * _CALLS]
    cut = [some[start : start + _AT_ONCE] for start in range(0, len(some), _AT_ONCE)]
    return [each for each in cut if len(each) > 1]


def checked(reply: dict[str, Any], shown: list[str]) -> list[Finding]:
    """Return what a model found, of pages it was shown."""
    found = []
    for each in reply["contradictions"]:
        named = [shown[number - 1] for number in dict.fromkeys(each["pages"]) if 0 < number <= len(shown)]
        if len(named) == 2 and each["about"].strip():
            one, other = sorted(named)
            words = f"it contradicts {other}: {inline(each['about'], 300)}"
            found.append(
                Finding(check="contradiction", severity=WARNING, page=one, message=words, others=(other,))
            )  # fmt: skip
    return found


def _asked(hub: Hub, vault: Vault, some: list[str]) -> Any:
    from engram.capture.batch import cleaned
    from engram.llm.complete import complete
    from engram.memory.thinker import prompt
    from engram.redaction.removal import redactor

    words, _ = prompt("contradictions")
    pages = [f"[{n}] {each}\n{_beginning(vault, each)}" for n, each in enumerate(some, 1)]
    reply = complete(
        hub, words.replace("{data}", quote("\n\n".join(pages))), purpose="contradictions", schema=_SCHEMA
    )  # fmt: skip
    return cleaned(reply.data, redactor(hub))


def _beginning(vault: Vault, target: str) -> str:
    return article.split(vault.read(target) or "")[1].strip()[:_LONGEST]


def _changed_at(vault: Vault, page: Page) -> float:
    import os

    try:
        return os.stat(vault.path(page.target)).st_mtime
    except OSError:
        return 0.0
