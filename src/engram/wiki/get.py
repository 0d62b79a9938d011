"""Get a hit with its surroundings, or a wiki page."""

from __future__ import annotations

from typing import Annotated

from engram.hub import Hub
from engram.operation import Help, operation
from engram.types import Around


@operation()
def get(
    hub: Hub,
    id: Annotated[str, Help("hit id such as x12, p3 or e77, or page such as daily/2026-11-16 or concepts/redis")],  # noqa: A002  it is what everybody calls it
    around: Annotated[int, Help("number of exchanges to show before and after it")] = 2,
) -> Around:
    """Show a hit in full with the messages before and after it, or a wiki page."""
    from engram.search.get import get_hit
    from engram.wiki.vault.vault import FOLDERS

    target = id.strip().removeprefix("[[").removesuffix("]]").partition("|")[0] if isinstance(id, str) else ""
    if target.partition("/")[0] in FOLDERS and "/" in target:
        return _get_page(hub, target)
    return get_hit(hub, id, around)


def _get_page(hub: Hub, target: str) -> Around:
    import os

    from engram.clock import to_datetime
    from engram.errors import NotFound
    from engram.platform.text import PAGE, validate_text
    from engram.wiki.vault import article, vault

    wiki = vault.open_vault(hub)
    name, _, entry_part = target.removesuffix(".md").partition("#")
    text = wiki.read(name)
    if text is None:
        raise NotFound(kind="page", id=name, hint="Find pages with `engram recall --in article WORDS`.")
    is_daily = name.startswith("daily/")
    entry = _find_entry(text, name, entry_part) if is_daily and entry_part else None
    at = os.stat(wiki.resolve_path(name)).st_mtime_ns // 1000
    return Around(
        id=f"{name}#{entry_part}" if entry else name,
        tier="daily" if is_daily else "article",
        session_id=entry[0] if entry else None,
        title=article.parse_article(text).title or name,
        exchanges=(),
        content=validate_text("page", (entry[1] if entry else text)[: PAGE // 4], PAGE),
        at=to_datetime(at),
        source=f"{name}.md",
    )


def _find_entry(text: str, name: str, part: str) -> tuple[str | None, str] | None:
    """Return the session and the text of a log entry, by id or heading; None if there is none."""
    from engram.wiki.vault import daily_log

    for entry in daily_log.parse_entries(text, name.partition("/")[2]):
        if part in (entry.id, entry.title):
            return entry.session_id or None, f"### {entry.title}\n\n{entry.content}"
    return None
