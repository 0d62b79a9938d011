"""List the pages of the wiki."""

from __future__ import annotations

from typing import Annotated

from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from engram.wiki.page_map import PageCard, PageMap

_ARTICLES = "articles"


@value
class ListedPage:
    """A page in a list."""

    target: str
    kind: str  # its folder
    title: str
    summary: str
    changed_at: datetime
    words: int
    links: int  # pages it links to, and pages that link to it


@value
class PageList:
    """Some pages of the wiki, and the totals."""

    pages: tuple[ListedPage, ...]
    found: int  # matching pages, including those cut by the limit
    counts: dict[str, int]  # number of all pages by folder


@operation()
def list_pages(
    hub: Hub,
    folder: Annotated[
        str | None, Help("only pages in daily, concepts, connections or qa; `articles` for all but daily")
    ] = None,
    words: Annotated[str | None, Help("only pages with all these words in their title or name")] = None,
    by_name: Annotated[bool, Help("sort by name instead of the latest change")] = False,
    limit: Annotated[int, Help("maximum number of pages")] = 100,
) -> PageList:
    """List wiki pages with title, first line and time of the last change."""
    from engram.platform.text import validate_text
    from engram.sessions.lifecycle import require_positive
    from engram.wiki.page_map import load_page_map
    from engram.wiki.vault import vault

    folder_filter = _parse_folder(folder)
    search_words = validate_text("words", words or "").casefold().split()
    all_pages = load_page_map(vault.open_vault(hub))
    cards = [
        card for card in all_pages.cards.values()
        if _is_in_folder(card, folder_filter) and all(word in _join_names(card) for word in search_words)
    ]  # fmt: skip
    if not by_name:
        cards.sort(key=lambda card: card.page.target if folder_filter == "daily" else card.changed_at, reverse=True)
    kinds = [card.kind for card in all_pages.cards.values()]
    return PageList(
        pages=tuple(_build_listed_page(item, all_pages) for item in cards[: require_positive("limit", limit)]),
        found=len(cards),
        counts={item: kinds.count(item) for item in vault.FOLDERS},
    )


def _is_in_folder(card: PageCard, folder_filter: str | None) -> bool:
    return folder_filter in (None, card.kind) or (folder_filter == _ARTICLES and card.kind != "daily")


def _parse_folder(folder_name: str | None) -> str | None:
    from engram.errors import InvalidInput
    from engram.platform.text import validate_optional_name
    from engram.wiki.vault.vault import FOLDERS

    folder = validate_optional_name("folder", folder_name)
    known_folders = (*FOLDERS, _ARTICLES)
    if folder is not None and folder not in known_folders:
        raise InvalidInput(
            field="folder", reason=f"{folder!r} is not a folder. Choose one of: {', '.join(known_folders)}."
        )
    return folder


def _join_names(card: PageCard) -> str:
    return " ".join((card.page.title, card.page.target, *card.page.names)).casefold()


def _build_listed_page(card: PageCard, page_map: PageMap) -> ListedPage:
    from engram.clock import to_datetime

    return ListedPage(
        target=card.page.target, kind=card.kind, title=card.page.title, summary=card.summary,
        changed_at=to_datetime(card.changed_at), words=card.page.words,
        links=len(page_map.find_neighbors(card.page.target)),
    )  # fmt: skip
