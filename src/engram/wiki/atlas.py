"""The vault at a glance: every page with its title, its first line and its links, and who links to whom.

It is kept between calls in one process. Each time the directories are looked through; only files with another stamp are
read again, and links are followed anew only where a page or a name changed.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress

from engram.errors import InvalidInput
from engram.text import counted, one_line
from engram.value import value
from engram.vault import article, daily_log
from engram.vault.links import plain
from engram.vault.vault import FOLDERS, Vault, is_name
from engram.wiki.checks import Log, Names, Page, View
from engram.wiki.view import page as checked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DAILY = "daily"
_SUMMARY = 200  # characters
_VAULTS = 8  # held in one process
_Stamp = tuple[int, int, int]  # when it was changed, its size, which file it is


@value
class Card:
    """A page as a list shows it."""

    page: Page
    summary: str
    changed_at: int
    stamp: _Stamp
    entries: tuple[tuple[str, str, str], ...] = ()  # of a daily log: id, heading and session of each

    @property
    def kind(self) -> str:
        """Return the folder it lies in."""
        return self.page.target.partition("/")[0]


@value
class Atlas:
    """All pages of a vault as they stood a moment ago."""

    cards: Mapping[str, Card]
    names: Names
    out: Mapping[str, tuple[str, ...]]  # the pages a page links to, itself left out
    back: Mapping[str, tuple[str, ...]]  # the pages that link to it

    def around(self, target: str) -> set[str]:
        """Return the pages that a page has a link to or from."""
        return {*self.out.get(target, ()), *self.back.get(target, ())}

    def title(self, target: str) -> str:
        """Return what a page is called."""
        found = self.cards.get(target)
        return found.page.title if found else target.rpartition("/")[2]


_guard = threading.Lock()
_held: dict[str, Atlas] = {}


def atlas(vault: Vault) -> Atlas:
    """Return all pages of a vault as they stand."""
    with _guard:
        before = _held.pop(vault.root, None)
        found = _held[vault.root] = _renewed(vault, before or Atlas(cards={}, names=_names({}), out={}, back={}))
        while len(_held) > _VAULTS:
            del _held[next(iter(_held))]
    return found


def _renewed(vault: Vault, before: Atlas) -> Atlas:
    stamps = dict(_stamps(vault))
    same = {target: card for target, card in before.cards.items() if stamps.get(target) == card.stamp}
    fresh = {target: card for target in stamps.keys() - same.keys() if (card := _card(vault, target, stamps[target]))}
    if not fresh and len(same) == len(before.cards):
        return before
    cards = {target: fresh.get(target) or same[target] for target in stamps if target in fresh or target in same}
    if _called(cards) == _called(before.cards):
        names, known = before.names, {target: before.out[target] for target in same}
    else:
        names, known = _names(cards), {}
    out = {target: known.get(target) or _followed(card.page, names) for target, card in cards.items()}
    return Atlas(cards=cards, names=names, out=out, back=_turned(out))


def _stamps(vault: Vault) -> Iterator[tuple[str, _Stamp]]:
    """Yield every page with what changes whenever it is written, in order of their names."""
    for folder in FOLDERS:
        yield from sorted(_within(vault, folder))


def _within(vault: Vault, folder: str) -> Iterator[tuple[str, _Stamp]]:
    with suppress(OSError), os.scandir(os.path.join(vault.root, folder)) as there:
        for each in there:
            if each.name.startswith(".") or not is_name(each.name):
                continue
            if each.is_dir(follow_symlinks=False):
                yield from _within(vault, f"{folder}/{each.name}")
            elif each.name.endswith(".md"):
                target = f"{folder}/{each.name[:-3]}"
                with suppress(OSError, InvalidInput):  # gone meanwhile, or a link that leads out of the vault
                    seen = os.stat(vault.path(target)) if each.is_symlink() else each.stat()
                    yield target, (seen.st_mtime_ns, seen.st_size, seen.st_ino)


def _card(vault: Vault, target: str, stamp: _Stamp) -> Card | None:
    try:
        text = vault.read(target)
    except (OSError, InvalidInput):  # a name that is none of ours, or nobody may read it
        return None
    if text is None:
        return None
    entries: tuple[tuple[str, str, str], ...] = ()
    if target.startswith(f"{DAILY}/"):
        found = list(daily_log.read(text, target.partition("/")[2]))
        entries = tuple((each.id, each.title, each.session_id) for each in found)
        summary = _day(found)
    else:
        summary = plain(article.read(text).opening).replace("`", "").replace("**", "")
    return Card(
        page=checked(target, text), summary=one_line(summary, _SUMMARY), changed_at=stamp[0] // 1000, stamp=stamp,
        entries=entries,
    )  # fmt: skip


def _day(entries: list[daily_log.Entry]) -> str:
    """Return what a daily log is about, in a line."""
    where = dict.fromkeys(os.path.basename(each.project.rstrip("/")) for each in entries if each.project)
    told = counted(len(entries), "entry", "entries")
    return f"{told}: {', '.join(where)}" if where else told


def _names(cards: Mapping[str, Card]) -> Names:
    pages = tuple(card.page for card in cards.values() if card.kind != DAILY)
    logs = tuple(Log(target=target, hash="", compiled=None) for target, card in cards.items() if card.kind == DAILY)
    return Names(View(pages=pages, logs=logs))


def _called(cards: Mapping[str, Card]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(target, card.page.title, card.page.names) for target, card in cards.items()]


def _followed(page: Page, names: Names) -> tuple[str, ...]:
    found = (names.page(name) for name in dict.fromkeys(page.links))
    return tuple(dict.fromkeys(each for each in found if each and each != page.target))


def _turned(out: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    back: dict[str, list[str]] = {}
    for source, targets in out.items():
        for target in targets:
            back.setdefault(target, []).append(source)
    return {target: tuple(sources) for target, sources in back.items()}
