"""Get what a hit or a link points at: what was found with its surroundings, or a page of the wiki."""

from __future__ import annotations

from typing import Annotated

from engram.hub import Hub
from engram.model import Around
from engram.operation import Help, operation


@operation()
def get(
    hub: Hub,
    id: Annotated[str, Help("what recall calls it: x12, p3, e77; or a page: daily/2026-11-16, concepts/redis")],  # noqa: A002  it is what everybody calls it
    around: Annotated[int, Help("how many exchanges before and after it")] = 2,
) -> Around:
    """Show what was found, whole, with what was said before and after it; or a page of the wiki."""
    from engram.recall.get import found
    from engram.vault.vault import FOLDERS

    target = id.strip().removeprefix("[[").removesuffix("]]").partition("|")[0] if isinstance(id, str) else ""
    if target.partition("/")[0] in FOLDERS and "/" in target:
        return _page(hub, target)
    return found(hub, id, around)


def _page(hub: Hub, target: str) -> Around:
    import os

    from engram.clock import moment
    from engram.errors import NotFound
    from engram.text import PAGE, clean
    from engram.vault import article, vault

    home = vault.of(hub)
    name, _, part = target.removesuffix(".md").partition("#")
    text = home.read(name)
    if text is None:
        raise NotFound(kind="page", id=name, hint="`engram recall --in article WORDS` finds pages by what they say.")
    daily = name.startswith("daily/")
    shown = _entry(text, name, part) if daily and part else None
    at = os.stat(home.path(name)).st_mtime_ns // 1000
    return Around(
        id=f"{name}#{part}" if shown else name, tier="daily" if daily else "article",
        session_id=shown[0] if shown else None, title=article.read(text).title or name, exchanges=(),
        content=clean("page", (shown[1] if shown else text)[: PAGE // 4], PAGE), at=moment(at), source=f"{name}.md",
    )  # fmt: skip


def _entry(text: str, name: str, part: str) -> tuple[str | None, str] | None:
    """Return the session and the words of one entry of a log, by its id or its heading; None if it is not there."""
    from engram.vault import daily_log

    for each in daily_log.read(text, name.partition("/")[2]):
        if part in (each.id, each.title):
            return each.session_id or None, f"### {each.title}\n\n{each.content}"
    return None
