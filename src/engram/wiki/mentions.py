"""Where the wiki tells of a session: entries of daily logs, and the articles that quote them."""

from __future__ import annotations

from typing import Annotated

from engram.coordination import sessions
from engram.hub import Hub
from engram.operation import Help, operation
from engram.store import entries
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from engram.vault.vault import Vault
    from engram.wiki.atlas import Atlas


@value
class Mention:
    """A place in the wiki that tells of a session."""

    target: str  # the page
    part: str  # the entry in it; empty: the page as a whole
    title: str


@operation()
def get_mentions(
    hub: Hub, session_id: Annotated[str, Help("the session, or the beginning of its id")]
) -> list[Mention]:  # fmt: skip
    """Show where daily logs and articles tell of a session."""
    from engram.vault import vault
    from engram.wiki.atlas import atlas

    session, home = sessions.get_session(hub, session_id).id, vault.of(hub)
    known = atlas(home)
    days = [f"daily/{day}" for day in sorted(entries.days_of(hub.engine, session), reverse=True)]
    told = list(_entries(known, days, session))
    return [*told, *_articles(home, known, told)]


def _entries(known: Atlas, days: list[str], session: str) -> Iterator[Mention]:
    for target in days:
        card = known.cards.get(target)
        for number, heading, whose in card.entries if card else ():
            if whose == session:
                yield Mention(target=target, part=number, title=heading)


def _articles(home: Vault, known: Atlas, told: list[Mention]) -> list[Mention]:
    """Return the articles that quote one of these entries; an article links to an entry by its heading."""
    links = [f"[[{each.target}#{each.title}" for each in told]
    near = dict.fromkeys(page for each in told for page in known.back.get(each.target, ()))
    found = (page for page in near if any(link in (home.read(page) or "") for link in links))
    return [Mention(target=page, part="", title=known.title(page)) for page in found if not page.startswith("daily/")]
