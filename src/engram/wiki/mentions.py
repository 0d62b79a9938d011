"""Find where the wiki mentions a session: log entries, and the articles that quote them."""

from __future__ import annotations

from typing import Annotated

from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.value import value
from engram.sessions import lifecycle
from engram.store import log_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from engram.wiki.page_map import PageMap
    from engram.wiki.vault.vault import Vault


@value
class Mention:
    """A place in the wiki that mentions a session."""

    target: str  # the page
    part: str  # the entry in it; empty for the whole page
    title: str


@operation()
def get_mentions(
    hub: Hub, session_id: Annotated[str, Help("session id or a prefix of it")]
) -> list[Mention]:  # fmt: skip
    """Show where daily logs and articles mention a session."""
    from engram.wiki.page_map import load_page_map
    from engram.wiki.vault import vault

    session, wiki = lifecycle.get_session(hub, session_id).id, vault.open_vault(hub)
    page_map = load_page_map(wiki)
    days = [f"daily/{day}" for day in sorted(log_entries.list_days(hub.engine, session), reverse=True)]
    entry_mentions = list(_find_entries(page_map, days, session))
    return [*entry_mentions, *_find_articles(wiki, page_map, entry_mentions)]


def _find_entries(page_map: PageMap, days: list[str], session: str) -> Iterator[Mention]:
    for target in days:
        card = page_map.cards.get(target)
        for number, heading, owner in card.entries if card else ():
            if owner == session:
                yield Mention(target=target, part=number, title=heading)


def _find_articles(wiki: Vault, page_map: PageMap, entry_mentions: list[Mention]) -> list[Mention]:
    """Return the articles that quote one of these entries; articles link to entries by heading."""
    links = [f"[[{mention.target}#{mention.title}" for mention in entry_mentions]
    linking_pages = dict.fromkeys(
        page for mention in entry_mentions for page in page_map.incoming.get(mention.target, ())
    )
    quoting = (page for page in linking_pages if any(link in (wiki.read(page) or "") for link in links))
    return [
        Mention(target=page, part="", title=page_map.find_title(page))
        for page in quoting
        if not page.startswith("daily/")
    ]
