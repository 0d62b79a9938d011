"""One wiki page, with its sources, links, backlinks and versions."""

from __future__ import annotations

from typing import Annotated

from engram.errors import Error
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from engram.wiki.page_map import PageMap
    from engram.wiki.vault.article import Article
    from engram.wiki.vault.daily_log import LogEntry
    from engram.wiki.vault.history import PageVersion
    from engram.wiki.vault.links import Link
    from engram.wiki.vault.vault import Vault

_NOW = "now"
_MAX_LINE_PAIRS = 4_000_000  # lines compared one by one


class PageUnreadable(Error):
    """{target} cannot be read: {reason}. Check the file in the wiki."""

    code, status = "unreadable", 409
    target: str
    reason: str


@value
class PageLink:
    """A link from or to a page."""

    target: str  # the page; if it does not exist, the link as written
    title: str
    exists: bool
    name: str = ""  # as written
    heading: str = ""
    entry: str = ""  # id of the log entry the heading refers to


@value
class PageSource:
    """A source of a page: a daily log, an entry of one, or a session."""

    target: str  # empty for a session without a log entry
    title: str
    entry: str = ""
    session_id: str = ""


@value
class WikiPage:
    """A wiki page."""

    target: str
    kind: str  # its folder
    title: str
    content: str  # markdown without the frontmatter
    text: str  # the whole file
    whole: bool  # `text` is the complete file; otherwise it can only be edited on disk
    version: str  # value for edit_page's `expected`; changes with every byte
    older: str  # the version shown; empty for the current one
    changed_at: datetime
    tags: tuple[str, ...]
    made_by: str  # rules or a model; empty for people
    edited: tuple[str, ...]  # headings of sections that people changed
    links: tuple[PageLink, ...]
    backlinks: tuple[PageLink, ...]
    sources: tuple[PageSource, ...]
    entries: tuple[LogEntry, ...]  # entries of a daily log
    notes: str  # text of a daily log outside its entries
    versions: tuple[PageVersion, ...]  # older versions, newest first


@operation()
def get_page(
    hub: Hub,
    target: Annotated[str, Help("page such as daily/2026-11-16 or concepts/redis, or its title")],
    version: Annotated[str | None, Help("older version, as listed in `versions`")] = None,
) -> WikiPage:
    """Show a wiki page with its sources, links, backlinks and older versions."""
    from engram.platform.text import PAGE, validate_optional_name, validate_text
    from engram.wiki.page_map import load_page_map
    from engram.wiki.vault import article, daily_log, due_logs, history, vault

    wiki = vault.open_vault(hub)
    name, current_text = resolve_page(wiki, target)
    older = validate_optional_name("version", version) or ""
    raw = history.read_version(wiki, name, older) if older else current_text
    text, page_map = validate_text("page", raw[:PAGE], 4 * PAGE), load_page_map(wiki)
    page = article.parse_article(text)
    links = tuple(_collect_links(text, page_map))
    is_complete = is_whole(raw, text) and (bool(older) or wiki.is_text(name))
    kind, _, day = name.partition("/")
    entries = tuple(daily_log.parse_entries(text, day)) if kind == "daily" else ()
    versions = tuple(history.list_versions(wiki, name))
    made_by, edited = _read_authorship(wiki, name, page)
    return WikiPage(
        target=name,
        kind=kind,
        title=page.title or day,
        content=article.split_frontmatter(text)[1],
        text=text,
        whole=is_complete,
        version=due_logs.hash_text(raw),
        older=older,
        changed_at=_find_change_time(wiki, name, versions, older),
        tags=page.get_list("tags"),
        made_by=made_by,
        edited=edited,
        links=links,
        backlinks=tuple(
            PageLink(target=backlink, title=page_map.find_title(backlink), exists=True)
            for backlink in _list_backlinks(page_map, name)
        ),
        sources=tuple(_collect_sources(page, links, page_map)) if kind != "daily" else (),
        entries=entries,
        notes=daily_log.text_outside_entries(text) if kind == "daily" else "",
        versions=versions,
    )


@operation()
def page_diff(
    hub: Hub,
    target: Annotated[str, Help("page such as daily/2026-11-16 or concepts/redis, or its title")],
    since: Annotated[str, Help("older version, as listed in the page's `versions`")],
    until: Annotated[str | None, Help("the newer version; defaults to the current text")] = None,
) -> str:
    """Show what changed between two versions of a page, as a unified diff."""
    from engram.platform.text import validate_name, validate_optional_name
    from engram.wiki.vault import history, vault

    wiki = vault.open_vault(hub)
    page, current_text = resolve_page(wiki, target)
    old, new = validate_name("since", since), validate_optional_name("until", until) or _NOW
    texts = [current_text if version == _NOW else history.read_version(wiki, page, version) for version in (old, new)]
    return format_unified_diff(texts[0], texts[1], f"{page} {old}", f"{page} {new}")


def format_unified_diff(old: str, new: str, old_name: str, new_name: str) -> str:
    """Return the differences of two texts."""
    import difflib

    from engram.platform.text import PAGE, validate_text

    old_lines, new_lines = (validate_text("page", text[:PAGE], 4 * PAGE).split("\n") for text in (old, new))
    if len(old_lines) * len(new_lines) <= _MAX_LINE_PAIRS:
        return "\n".join(difflib.unified_diff(old_lines, new_lines, old_name, new_name, lineterm=""))
    return "\n".join([f"--- {old_name}", f"+++ {new_name}", *_format_coarse_diff(old_lines, new_lines)])


def _format_coarse_diff(old_lines: list[str], new_lines: list[str]) -> Iterator[str]:
    """Yield the lines between the common beginning and end as one change: comparing many lines takes minutes."""
    shorter = min(len(old_lines), len(new_lines))
    head = next((n for n in range(shorter) if old_lines[n] != new_lines[n]), shorter)
    tail = next((n for n in range(shorter - head) if old_lines[-1 - n] != new_lines[-1 - n]), shorter - head)
    old_part, new_part = old_lines[head : len(old_lines) - tail], new_lines[head : len(new_lines) - tail]
    yield f"@@ -{head + bool(old_part)},{len(old_part)} +{head + bool(new_part)},{len(new_part)} @@"
    yield from (f"-{line}" for line in old_part)
    yield from (f"+{line}" for line in new_part)


def resolve_page(wiki: Vault, page_name: str) -> tuple[str, str]:
    """Return the page with this name and its text, or raise an error."""
    from engram.errors import NotFound
    from engram.wiki.page_map import load_page_map

    name = parse_page_name(page_name)
    text = read_saved_page(wiki, name) if is_page_name(name) else None
    if text is None:
        page_map = load_page_map(wiki)
        other = page_map.names.resolve_link(name)
        if other is not None and other in page_map.cards:
            name, text = other, read_saved_page(wiki, other)
    if text is None:
        wiki.resolve_path(name)
        raise NotFound(
            kind="page", id=name, hint="List pages with `engram wiki list` or search them with `engram recall`."
        )
    return name, text


def list_versions(hub: Hub, target: str) -> list[PageVersion]:
    """Return the older versions of a page, newest first, also of a page that was removed."""
    from engram.wiki.vault import history, vault

    wiki, name = vault.open_vault(hub), parse_page_name(target)
    if not is_page_name(name) or not (versions := history.list_versions(wiki, name)):
        return history.list_versions(wiki, resolve_page(wiki, target)[0])
    return versions


def parse_page_name(link_text: str) -> str:
    """Return the page a link refers to, without brackets, heading and label."""
    from engram.platform.text import validate_name

    inner = validate_name("target", link_text).strip().removeprefix("[[").removesuffix("]]")
    return inner.partition("|")[0].partition("#")[0].strip().removesuffix(".md")


def is_whole(raw: str, shown_text: str) -> bool:
    """Check whether the text shows the complete file, apart from line endings and the byte order mark."""
    return raw.replace("\r\n", "\n").removeprefix("\ufeff") == shown_text.removeprefix("\ufeff")


def is_page_name(name: str) -> bool:
    """Check whether a name looks like a page in one of the folders."""
    from engram.wiki.vault.vault import FOLDERS

    folder, slash, rest = name.partition("/")
    return folder in FOLDERS and bool(slash and rest)


def read_saved_page(wiki: Vault, name: str) -> str | None:
    """Return the text of a page's file; None if there is none."""
    try:
        return wiki.read(name)
    except OSError as problem:
        raise PageUnreadable(target=name, reason=problem.strerror or type(problem).__name__) from problem


def _collect_links(text: str, page_map: PageMap) -> Iterator[PageLink]:
    from engram.wiki.vault.article import split_frontmatter
    from engram.wiki.vault.links import find_links

    seen: set[tuple[str, str]] = set()
    for wikilink in find_links(split_frontmatter(text)[1]):
        if wikilink.target and (wikilink.target, wikilink.heading) not in seen:
            seen.add((wikilink.target, wikilink.heading))
            yield _resolve_link(wikilink, page_map)


def _resolve_link(wikilink: Link, page_map: PageMap) -> PageLink:
    page = page_map.names.resolve_link(wikilink.target)
    card = page_map.cards.get(page) if page else None
    if page is None or card is None:
        return PageLink(
            target=wikilink.target,
            title=wikilink.shown or wikilink.target,
            exists=False,
            name=wikilink.target,
            heading=wikilink.heading,
        )
    entry = (
        next((id_ for id_, title, _ in card.entries if wikilink.heading in (id_, title)), "")
        if wikilink.heading
        else ""
    )
    return PageLink(
        target=page, title=card.page.title, exists=True, name=wikilink.target, heading=wikilink.heading, entry=entry
    )


def _list_backlinks(page_map: PageMap, name: str) -> list[str]:
    return sorted(page_map.incoming.get(name, ()), key=lambda target: (target.startswith("daily/"), target))


def _collect_sources(page: Article, links: tuple[PageLink, ...], page_map: PageMap) -> Iterator[PageSource]:
    """Yield the logs a page is based on, each followed by its entries, then sessions without a log."""
    from engram.wiki.lint_view import parse_source

    named_sources = [parse_source(item) for key in ("sources", "consulted") for item in page.get_list(key)]
    linked = [item.target for item in links if item.exists]
    for log in dict.fromkeys(item for item in (*named_sources, *linked) if item.startswith("daily/")):
        yield PageSource(target=log, title=page_map.find_title(log))
        card = page_map.cards.get(log)
        linked_entries = {item.entry for item in links if item.target == log and item.entry}
        for id_, title, session in card.entries if card else ():
            if id_ in linked_entries:
                yield PageSource(target=log, title=title, entry=id_, session_id=session)
    for item in dict.fromkeys(named_sources):
        if item and "/" not in item:
            yield PageSource(target="", title=item, session_id=item)


def _read_authorship(wiki: Vault, name: str, page: Article) -> tuple[str, tuple[str, ...]]:
    """Return who made a page, and which sections people changed since."""
    from engram.wiki.vault import state
    from engram.wiki.vault.merge import fingerprint_text

    saved = state.read_page_record(wiki, name)
    own_sections = (saved or {}).get("sections")
    if saved is None or not isinstance(own_sections, dict):
        return "", ()
    edited = [
        section.heading
        for section in page.sections
        if own_sections.get(section.heading) != fingerprint_text(section.body)
    ]
    return str(saved.get("made_by") or ""), tuple(filter(None, dict.fromkeys(edited)))


def _find_change_time(wiki: Vault, name: str, versions: tuple[PageVersion, ...], older_version: str) -> datetime:
    import os

    from engram.clock import to_datetime

    for page_version in versions:
        if older_version and page_version.version == older_version:
            return page_version.at
    try:
        return to_datetime(os.stat(wiki.resolve_path(name)).st_mtime_ns // 1000)
    except OSError:  # deleted at this moment
        return to_datetime(0)
