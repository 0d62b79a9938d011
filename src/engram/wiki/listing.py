"""The list of pages: what the wiki holds, what changed last, what is called how."""

from __future__ import annotations

from typing import Annotated

from engram.hub import Hub
from engram.operation import Help, operation
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from engram.wiki.atlas import Atlas, Card

_ARTICLES = "articles"


@value
class ListedPage:
    """A page in a list."""

    target: str
    kind: str  # the folder it lies in
    title: str
    summary: str
    changed_at: datetime
    words: int
    links: int  # pages it links to, and that link to it


@value
class PageList:
    """Some pages of the wiki, and how many there are."""

    pages: tuple[ListedPage, ...]
    found: int  # that were asked for; more than are listed where the limit cut
    counts: dict[str, int]  # of all pages, by folder


@operation()
def list_pages(
    hub: Hub,
    folder: Annotated[
        str | None, Help("only of daily, concepts, connections or qa; articles: of all but daily")
    ] = None,
    words: Annotated[str | None, Help("only pages with all these words in title or name")] = None,
    by_name: Annotated[bool, Help("in order of their names; else what changed last comes first")] = False,
    limit: Annotated[int, Help("at most so many")] = 100,
) -> PageList:
    """List the pages of the wiki: title, first line, when each was changed."""
    from engram.coordination.sessions import positive
    from engram.text import clean
    from engram.vault import vault
    from engram.wiki.atlas import atlas

    wanted = _folder(folder)
    looked_for = clean("words", words or "").casefold().split()
    all_pages = atlas(vault.of(hub))
    found = [
        card for card in all_pages.cards.values()
        if _lies_in(card, wanted) and all(word in _called(card) for word in looked_for)
    ]  # fmt: skip
    if not by_name:
        found.sort(key=lambda each: each.page.target if wanted == "daily" else each.changed_at, reverse=True)
    kinds = [card.kind for card in all_pages.cards.values()]
    return PageList(
        pages=tuple(_listed(each, all_pages) for each in found[: positive("limit", limit)]), found=len(found),
        counts={each: kinds.count(each) for each in vault.FOLDERS},
    )  # fmt: skip


def _lies_in(card: Card, wanted: str | None) -> bool:
    return wanted in (None, card.kind) or (wanted == _ARTICLES and card.kind != "daily")


def _folder(given: str | None) -> str | None:
    from engram.errors import InvalidInput
    from engram.text import name_or_none
    from engram.vault.vault import FOLDERS

    folder = name_or_none("folder", given)
    known = (*FOLDERS, _ARTICLES)
    if folder is not None and folder not in known:
        raise InvalidInput(field="folder", reason=f"{folder!r} is none of {', '.join(known)}.")
    return folder


def _called(card: Card) -> str:
    return " ".join((card.page.title, card.page.target, *card.page.names)).casefold()


def _listed(card: Card, among: Atlas) -> ListedPage:
    from engram.clock import moment

    return ListedPage(
        target=card.page.target, kind=card.kind, title=card.page.title, summary=card.summary,
        changed_at=moment(card.changed_at), words=card.page.words,
        links=len(among.around(card.page.target)),
    )  # fmt: skip
