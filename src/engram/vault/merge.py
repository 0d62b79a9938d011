"""Merge our new version of a page with the page on disk, so that nothing a person wrote is lost. Pure.

A section or key that still says what we last wrote is ours and replaced; one that says anything else was edited by
somebody and stays as it is. What somebody took out is not put back.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from engram.value import value
from engram.vault import article
from engram.vault.article import Article, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Said = str | tuple[str, ...]

_STAMP = "updated"  # when we last wrote: always ours
_Key = tuple[str, int]  # a heading, and the how manieth of that name it is


@value
class Known:
    """What we last wrote into a page."""

    sections: dict[str, str]  # headings and the fingerprint of what stood under each
    front: dict[str, Any]  # keys and what they said

    @staticmethod
    def nothing() -> Known:
        """Return what is known of a page that was never ours: all of it is somebody's."""
        return Known(sections={}, front={})


@value
class Merged:
    """A page as it is to be written."""

    text: str
    known: Known
    kept: tuple[str, ...]  # headings that were left to the person who edited them


def merge(ours: str, disk: str | None, known: Known) -> Merged:
    """Return the page that holds what is new of ours and all that people wrote."""
    new = article.read(ours)
    if disk is None:
        return Merged(text=ours, known=_known(new), kept=())
    old = article.read(disk)
    sections, kept, dropped = _sections(new, old, known)
    page = Article(front=old.front, raw=old.raw, sections=tuple(sections))
    page = article.with_front(page, **dict(_front(new, old, known)))
    written = _known(new)
    not_written = {heading: known.sections.get(heading) for heading in kept}  # something else stands there
    both = {**known.sections, **written.sections, **not_written, **dict.fromkeys(dropped)}
    now = Known(sections={name: each for name, each in both.items() if each}, front={**known.front, **written.front})
    return Merged(text=like(disk, article.written(page)), known=now, kept=tuple(kept))


def fingerprint(text: str) -> str:
    """Return what tells a text from others, blank lines around it aside."""
    return blake2b(text.strip().encode(), digest_size=8).hexdigest()


def like(disk: str, text: str) -> str:
    """Return a page with the line ends and the mark at the beginning that it has on disk."""
    mark = "\ufeff" if disk.startswith("\ufeff") else ""
    return mark + (text.replace("\n", "\r\n") if "\r\n" in disk else text)


def _known(page: Article) -> Known:
    front = {key: list(said) if isinstance(said, tuple) else said for key, said in page.front}
    return Known(sections={_name(key): fingerprint(each.body) for key, each in _numbered(page)}, front=front)


def _sections(new: Article, old: Article, known: Known) -> tuple[list[Section], list[str], list[str]]:
    """Return the sections of the page, the names of those left to people, and of those we have nothing to say in."""
    ours, theirs = dict(_numbered(new)), dict(_numbered(old))
    kept: list[str] = []
    dropped: list[str] = []
    found: dict[_Key, Section] = {}
    for key, section in theirs.items():
        mine, name = ours.get(key), _name(key)
        if mine is not None and fingerprint(mine.body) == fingerprint(section.body):
            found[key] = section
        elif known.sections.get(name) == fingerprint(section.body):
            if mine is None:
                dropped.append(name)
            else:
                found[key] = Section(heading=section.heading, body=mine.body, head=section.head)
        else:
            found[key] = section
            kept += [name] if mine is not None else []
    added = [key for key in ours if key not in theirs and _name(key) not in known.sections]
    return _spaced(_ordered(list(ours), found, {key: ours[key] for key in added})), kept, dropped


def _ordered(order: list[_Key], found: dict[_Key, Section], added: dict[_Key, Section]) -> list[Section]:
    """Return the sections as they stand, each new one after the section that stands before it in our own order."""
    keys = list(found)
    for place, key in enumerate(order):
        if key in added:
            before = [keys.index(each) for each in order[:place] if each in keys]
            keys.insert(before[-1] + 1 if before else (1 if keys and not keys[0][0] else 0), key)
    both = {**found, **added}
    return [both[key] for key in keys]


def _spaced(sections: list[Section]) -> list[Section]:
    """Return sections of which none runs into the heading of the next, or swallows it by a fence left open."""
    return [*map(_ended, sections[:-1]), *sections[-1:]]


def _ended(section: Section) -> Section:
    fence = article.unclosed(section.body)
    if (section.body.endswith("\n") and not fence) or not (section.body or section.heading):
        return section
    body = section.body + ("" if section.body.endswith("\n") else "\n") + (f"{fence}\n" if fence else "\n")
    head = section.head if not section.head or section.head.endswith("\n") else f"{section.head}\n"
    return Section(heading=section.heading, body=body, head=head)


def _front(new: Article, old: Article, known: Known) -> Iterator[tuple[str, Said]]:
    """Yield what our keys are to say; a list that somebody edited gets what is new and keeps the rest."""
    theirs: dict[str, Said] = dict(old.front)
    for key, said in new.front:
        before = _said(known.front.get(key))
        if key not in theirs:
            if before is None:
                yield key, said
        elif key == _STAMP or theirs[key] == before:
            yield key, said
        elif isinstance(said, tuple):
            held = old.list(key)
            fresh = [each for each in said if each not in held and each not in (before or ())]
            if fresh:
                yield key, (*held, *fresh)


def _said(given: Any) -> Said | None:
    return tuple(given) if isinstance(given, list) else given


def _numbered(page: Article) -> Iterator[tuple[_Key, Section]]:
    counts: dict[str, int] = {}
    for section in page.sections:
        number = counts[section.heading] = counts.get(section.heading, 0) + 1
        yield (section.heading, number), section


def _name(key: _Key) -> str:
    return key[0] if key[1] == 1 else f"{key[0]} #{key[1]}"
