"""One page of the wiki, with what it rests on, what it links to, who links to it and what it said before."""

from __future__ import annotations

from typing import Annotated

from engram.errors import Error
from engram.hub import Hub
from engram.operation import Help, operation
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from engram.vault.article import Article
    from engram.vault.daily_log import Entry
    from engram.vault.history import PageVersion
    from engram.vault.links import Link
    from engram.vault.vault import Vault
    from engram.wiki.atlas import Atlas

_NOW = "now"
_PAIRS = 4_000_000  # of lines that are compared one by one


class Unreadable(Error):
    """{target} cannot be read: {reason}. Look at the file in the wiki."""

    code, status = "unreadable", 409
    target: str
    reason: str


@value
class PageLink:
    """A link from a page or to it."""

    target: str  # the page; where there is none, as it is written
    title: str
    exists: bool
    name: str = ""  # as it is written
    heading: str = ""
    entry: str = ""  # the id of the entry the heading means, in a daily log


@value
class PageSource:
    """What a page rests on: a daily log, an entry of one, or a session."""

    target: str  # empty: a session that no log tells of
    title: str
    entry: str = ""
    session_id: str = ""


@value
class WikiPage:
    """A page of the wiki."""

    target: str
    kind: str  # the folder it lies in
    title: str
    content: str  # markdown, the frontmatter left out
    text: str  # the whole file
    whole: bool  # `text` is all that the file holds; else it can only be edited there
    version: str  # what edit_page expects: changes with every byte
    older: str  # the older version this is; empty: it is what the page says now
    changed_at: datetime
    tags: tuple[str, ...]
    made_by: str  # rules, a model; empty: people
    edited: tuple[str, ...]  # headings of what people changed since
    links: tuple[PageLink, ...]
    backlinks: tuple[PageLink, ...]
    sources: tuple[PageSource, ...]
    entries: tuple[Entry, ...]  # of a daily log
    notes: str  # of a daily log: what it says outside of its entries
    versions: tuple[PageVersion, ...]  # older ones, the newest first


@operation()
def get_page(
    hub: Hub,
    target: Annotated[str, Help("the page: daily/2026-11-16, concepts/redis, or what it is called")],
    version: Annotated[str | None, Help("an older version, as `versions` names it")] = None,
) -> WikiPage:
    """Show a page of the wiki with its sources, links, backlinks and older versions."""
    from engram.text import PAGE, clean, name_or_none
    from engram.vault import article, daily_log, gate, history, vault
    from engram.wiki.atlas import atlas

    home = vault.of(hub)
    name, now = found(home, target)
    older = name_or_none("version", version) or ""
    raw = history.read(home, name, older) if older else now
    text, known = clean("page", raw[:PAGE], 4 * PAGE), atlas(home)
    page = article.read(text)
    links = tuple(_links(text, known))
    whole = is_whole(raw, text) and (bool(older) or home.is_text(name))
    kind, _, day = name.partition("/")
    entries = tuple(daily_log.read(text, day)) if kind == "daily" else ()
    versions = tuple(history.versions(home, name))
    made_by, edited = _hands(home, name, page)
    return WikiPage(
        target=name, kind=kind, title=page.title or day, content=article.split(text)[1], text=text, whole=whole,
        version=gate.digest(raw), older=older, changed_at=_changed_at(home, name, versions, older),
        tags=page.list("tags"), made_by=made_by, edited=edited, links=links,
        backlinks=tuple(PageLink(target=each, title=known.title(each), exists=True) for each in _back(known, name)),
        sources=tuple(_sources(page, links, known)) if kind != "daily" else (), entries=entries,
        notes=daily_log.outside(text) if kind == "daily" else "", versions=versions,
    )  # fmt: skip


@operation()
def page_diff(
    hub: Hub,
    target: Annotated[str, Help("the page: daily/2026-11-16, concepts/redis, or what it is called")],
    since: Annotated[str, Help("the older version, as get_page names it")],
    until: Annotated[str | None, Help("the newer version; without it what the page says now")] = None,
) -> str:
    """Show what changed between two versions of a page, as a unified diff."""
    from engram.text import name, name_or_none
    from engram.vault import history, vault

    home = vault.of(hub)
    page, now = found(home, target)
    old, new = name("since", since), name_or_none("until", until) or _NOW
    said = [now if each == _NOW else history.read(home, page, each) for each in (old, new)]
    return unified(said[0], said[1], f"{page} {old}", f"{page} {new}")


def unified(old: str, new: str, old_name: str, new_name: str) -> str:
    """Return what two texts differ in."""
    import difflib

    from engram.text import PAGE, clean

    one, other = (clean("page", each[:PAGE], 4 * PAGE).split("\n") for each in (old, new))
    if len(one) * len(other) <= _PAIRS:
        return "\n".join(difflib.unified_diff(one, other, old_name, new_name, lineterm=""))
    return "\n".join([f"--- {old_name}", f"+++ {new_name}", *_coarse(one, other)])


def _coarse(one: list[str], other: list[str]) -> Iterator[str]:
    """Yield what lies between the lines that begin and end both: to compare many line by line takes minutes."""
    shorter = min(len(one), len(other))
    head = next((n for n in range(shorter) if one[n] != other[n]), shorter)
    tail = next((n for n in range(shorter - head) if one[-1 - n] != other[-1 - n]), shorter - head)
    old, new = one[head : len(one) - tail], other[head : len(other) - tail]
    yield f"@@ -{head + bool(old)},{len(old)} +{head + bool(new)},{len(new)} @@"
    yield from (f"-{line}" for line in old)
    yield from (f"+{line}" for line in new)


def found(home: Vault, given: str) -> tuple[str, str]:
    """Return the page that somebody names, and what it says as it stands; or refuse."""
    from engram.errors import NotFound
    from engram.wiki.atlas import atlas

    name = named(given)
    text = saved(home, name) if is_page(name) else None
    if text is None:
        known = atlas(home)
        other = known.names.page(name)
        if other is not None and other in known.cards:
            name, text = other, saved(home, other)
    if text is None:
        home.path(name)
        raise NotFound(kind="page", id=name, hint="`engram wiki list` has them all; `engram recall` looks inside.")
    return name, text


def named(given: str) -> str:
    """Return the page a link means, without its brackets, its heading and what is shown instead."""
    from engram.text import name

    inner = name("target", given).strip().removeprefix("[[").removesuffix("]]")
    return inner.partition("|")[0].partition("#")[0].strip().removesuffix(".md")


def is_whole(raw: str, shown: str) -> bool:
    """Tell whether all that a file says is shown, but for the form of its line ends and the mark at its beginning."""
    return raw.replace("\r\n", "\n").removeprefix("\ufeff") == shown.removeprefix("\ufeff")


def is_page(name: str) -> bool:
    """Tell whether a name has the form of a page in one of the folders."""
    from engram.vault.vault import FOLDERS

    folder, slash, rest = name.partition("/")
    return folder in FOLDERS and bool(slash and rest)


def saved(home: Vault, name: str) -> str | None:
    """Return what the file of a page says; None if there is none."""
    try:
        return home.read(name)
    except OSError as problem:
        raise Unreadable(target=name, reason=problem.strerror or type(problem).__name__) from problem


def _links(text: str, known: Atlas) -> Iterator[PageLink]:
    from engram.vault.article import split
    from engram.vault.links import links

    seen: set[tuple[str, str]] = set()
    for each in links(split(text)[1]):
        if each.target and (each.target, each.heading) not in seen:
            seen.add((each.target, each.heading))
            yield _link(each, known)


def _link(each: Link, known: Atlas) -> PageLink:
    there = known.names.page(each.target)
    card = known.cards.get(there) if there else None
    if there is None or card is None:
        return PageLink(
            target=each.target, title=each.shown or each.target, exists=False, name=each.target, heading=each.heading
        )
    entry = next((id_ for id_, title, _ in card.entries if each.heading in (id_, title)), "") if each.heading else ""
    return PageLink(
        target=there, title=card.page.title, exists=True, name=each.target, heading=each.heading, entry=entry
    )


def _back(known: Atlas, name: str) -> list[str]:
    return sorted(known.back.get(name, ()), key=lambda each: (each.startswith("daily/"), each))


def _sources(page: Article, links: tuple[PageLink, ...], known: Atlas) -> Iterator[PageSource]:
    """Yield the logs a page rests on, each followed by the entries that are named, then sessions without a log."""
    from engram.wiki.view import plain_source

    named = [plain_source(each) for key in ("sources", "consulted") for each in page.list(key)]
    linked = [each.target for each in links if each.exists]
    for log in dict.fromkeys(each for each in (*named, *linked) if each.startswith("daily/")):
        yield PageSource(target=log, title=known.title(log))
        card = known.cards.get(log)
        told = {each.entry for each in links if each.target == log and each.entry}
        for id_, title, session in card.entries if card else ():
            if id_ in told:
                yield PageSource(target=log, title=title, entry=id_, session_id=session)
    for each in dict.fromkeys(named):
        if each and "/" not in each:
            yield PageSource(target="", title=each, session_id=each)


def _hands(home: Vault, name: str, page: Article) -> tuple[str, tuple[str, ...]]:
    """Return who made a page, and which sections people changed since."""
    from engram.vault import state
    from engram.vault.merge import fingerprint

    kept = state.page(home, name)
    ours = (kept or {}).get("sections")
    if kept is None or not isinstance(ours, dict):
        return "", ()
    edited = [each.heading for each in page.sections if ours.get(each.heading) != fingerprint(each.body)]
    return str(kept.get("made_by") or ""), tuple(filter(None, dict.fromkeys(edited)))


def _changed_at(home: Vault, name: str, versions: tuple[PageVersion, ...], older: str) -> datetime:
    import os

    from engram.clock import moment

    for each in versions:
        if older and each.version == older:
            return each.at
    try:
        return moment(os.stat(home.path(name)).st_mtime_ns // 1000)
    except OSError:  # removed this very moment
        return moment(0)
