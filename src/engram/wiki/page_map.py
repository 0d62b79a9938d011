"""A map of the vault: every page with its title, first line and links.

It is cached within a process. Each call scans the directories, reads only files whose stamp changed, and resolves links
again only if a page or a name changed.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress

from engram.errors import InvalidInput
from engram.platform.text import format_count, to_one_line
from engram.platform.value import value
from engram.wiki.checks import LogFacts, PageFacts, PageNames, VaultView
from engram.wiki.lint_view import parse_page as checked
from engram.wiki.vault import article, daily_log
from engram.wiki.vault.links import strip_links
from engram.wiki.vault.vault import FOLDERS, Vault, is_text_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DAILY = "daily"
_SUMMARY_CHARS = 200  # characters
_MAX_VAULTS = 8  # maps cached in one process
_Stamp = tuple[int, int, int]  # modification time, size and file id


@value
class PageCard:
    """A page as shown in a list."""

    page: PageFacts
    summary: str
    changed_at: int
    stamp: _Stamp
    entries: tuple[tuple[str, str, str], ...] = ()  # id, heading and session of each entry of a daily log

    @property
    def kind(self) -> str:
        """The folder of the page."""
        return self.page.target.partition("/")[0]


@value
class PageMap:
    """All pages of a vault."""

    cards: Mapping[str, PageCard]
    names: PageNames
    outgoing: Mapping[str, tuple[str, ...]]  # pages each page links to, without itself
    incoming: Mapping[str, tuple[str, ...]]  # pages that link to each page

    def find_neighbors(self, target: str) -> set[str]:
        """Return the pages that a page links to or is linked from."""
        return {*self.outgoing.get(target, ()), *self.incoming.get(target, ())}

    def find_title(self, target: str) -> str:
        """Return the title of a page."""
        card = self.cards.get(target)
        return card.page.title if card else target.rpartition("/")[2]


_maps_lock = threading.Lock()
_loaded_maps: dict[str, PageMap] = {}


def load_page_map(vault: Vault) -> PageMap:
    """Return a map of all pages of a vault."""
    with _maps_lock:
        before = _loaded_maps.pop(vault.root, None)
        page_map = _loaded_maps[vault.root] = _refresh_map(
            vault, before or PageMap(cards={}, names=_build_names({}), outgoing={}, incoming={})
        )
        while len(_loaded_maps) > _MAX_VAULTS:
            del _loaded_maps[next(iter(_loaded_maps))]
    return page_map


def _refresh_map(vault: Vault, previous: PageMap) -> PageMap:
    stamps = dict(_scan_stamps(vault))
    unchanged = {target: card for target, card in previous.cards.items() if stamps.get(target) == card.stamp}
    fresh = {
        target: card
        for target in stamps.keys() - unchanged.keys()
        if (card := _build_card(vault, target, stamps[target]))
    }
    if not fresh and len(unchanged) == len(previous.cards):
        return previous
    cards = {
        target: fresh.get(target) or unchanged[target] for target in stamps if target in fresh or target in unchanged
    }
    if _list_names(cards) == _list_names(previous.cards):
        names, kept_links = previous.names, {target: previous.outgoing[target] for target in unchanged}
    else:
        names, kept_links = _build_names(cards), {}
    out = {target: kept_links.get(target) or _resolve_links(card.page, names) for target, card in cards.items()}
    return PageMap(cards=cards, names=names, outgoing=out, incoming=_invert_links(out))


def _scan_stamps(vault: Vault) -> Iterator[tuple[str, _Stamp]]:
    """Yield every page with a stamp that changes on each write, sorted by name."""
    for folder in FOLDERS:
        yield from sorted(_scan_folder(vault, folder))


def _scan_folder(vault: Vault, folder: str) -> Iterator[tuple[str, _Stamp]]:
    with suppress(OSError), os.scandir(os.path.join(vault.root, folder)) as dir_entries:
        for dir_entry in dir_entries:
            if dir_entry.name.startswith(".") or not is_text_name(dir_entry.name):
                continue
            if dir_entry.is_dir(follow_symlinks=False):
                yield from _scan_folder(vault, f"{folder}/{dir_entry.name}")
            elif dir_entry.name.endswith(".md"):
                target = f"{folder}/{dir_entry.name[:-3]}"
                with suppress(OSError, InvalidInput):  # deleted meanwhile, or a link out of the vault
                    file_stat = os.stat(vault.resolve_path(target)) if dir_entry.is_symlink() else dir_entry.stat()
                    yield target, (file_stat.st_mtime_ns, file_stat.st_size, file_stat.st_ino)


def _build_card(vault: Vault, target: str, stamp: _Stamp) -> PageCard | None:
    try:
        text = vault.read(target)
    except (OSError, InvalidInput):  # not one of our names, or not readable
        return None
    if text is None:
        return None
    entries: tuple[tuple[str, str, str], ...] = ()
    if target.startswith(f"{DAILY}/"):
        log_entries = list(daily_log.parse_entries(text, target.partition("/")[2]))
        entries = tuple((log_entry.id, log_entry.title, log_entry.session_id) for log_entry in log_entries)
        summary = _summarize_day(log_entries)
    else:
        summary = strip_links(article.parse_article(text).opening).replace("`", "").replace("**", "")
    return PageCard(
        page=checked(target, text),
        summary=to_one_line(summary, _SUMMARY_CHARS),
        changed_at=stamp[0] // 1000,
        stamp=stamp,
        entries=entries,
    )


def _summarize_day(entries: list[daily_log.LogEntry]) -> str:
    """Return a one-line summary of a daily log."""
    project_names = dict.fromkeys(os.path.basename(entry.project.rstrip("/")) for entry in entries if entry.project)
    entry_count = format_count(len(entries), "entry", "entries")
    return f"{entry_count}: {', '.join(project_names)}" if project_names else entry_count


def _build_names(cards: Mapping[str, PageCard]) -> PageNames:
    pages = tuple(card.page for card in cards.values() if card.kind != DAILY)
    logs = tuple(
        LogFacts(target=target, hash="", compiled=None) for target, card in cards.items() if card.kind == DAILY
    )
    return PageNames(VaultView(pages=pages, logs=logs))


def _list_names(cards: Mapping[str, PageCard]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(target, card.page.title, card.page.names) for target, card in cards.items()]


def _resolve_links(page: PageFacts, names: PageNames) -> tuple[str, ...]:
    targets = (names.resolve_link(name) for name in dict.fromkeys(page.links))
    return tuple(dict.fromkeys(target for target in targets if target and target != page.target))


def _invert_links(out: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    back: dict[str, list[str]] = {}
    for source, targets in out.items():
        for target in targets:
            back.setdefault(target, []).append(source)
    return {target: tuple(sources) for target, sources in back.items()}
