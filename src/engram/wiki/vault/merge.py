"""Merge our new version of a page with the page on disk without losing what people wrote. Pure.

A section or key that is as we last wrote it is ours and is replaced; one that differs was edited by a person and stays.
What a person removed is not added again.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from engram.platform.value import value
from engram.wiki.vault import article
from engram.wiki.vault.article import Article, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    FrontValue = str | tuple[str, ...]

_STAMP = "updated"  # keys with the time of our write: always ours
_Key = tuple[str, int]  # a heading, and its number among equal headings


@value
class LastWrite:
    """What we last wrote to a page."""

    sections: dict[str, str]  # headings and the fingerprint of the text under each
    front: dict[str, Any]  # keys and their values

    @staticmethod
    def empty() -> LastWrite:
        """Return an empty record: all of the page belongs to people."""
        return LastWrite(sections={}, front={})


@value
class MergeResult:
    """The merged page."""

    text: str
    known: LastWrite
    kept: tuple[str, ...]  # headings of sections left as people edited them


def merge(ours: str, disk: str | None, last_write: LastWrite) -> MergeResult:
    """Merge what is new in ours with everything people wrote."""
    new = article.parse_article(ours)
    if disk is None:
        return MergeResult(text=ours, known=_last_write_from_page(new), kept=())
    old = article.parse_article(disk)
    sections, kept_headings, dropped = _merge_sections(new, old, last_write)
    page = Article(front=old.front, raw=old.raw, sections=tuple(sections))
    page = article.update_front(page, **dict(_merge_front(new, old, last_write)))
    written = _last_write_from_page(new)
    not_written = {heading: last_write.sections.get(heading) for heading in kept_headings}  # it was edited
    all_sections = {**last_write.sections, **written.sections, **not_written, **dict.fromkeys(dropped)}
    new_last_write = LastWrite(
        sections={name: section_print for name, section_print in all_sections.items() if section_print},
        front={**last_write.front, **written.front},
    )
    return MergeResult(
        text=match_line_ends(disk, article.to_markdown(page)), known=new_last_write, kept=tuple(kept_headings)
    )


def fingerprint_text(text: str) -> str:
    """Return a fingerprint of a text, ignoring blank lines around it."""
    return blake2b(text.strip().encode(), digest_size=8).hexdigest()


def match_line_ends(disk: str, text: str) -> str:
    """Give a page the line endings and byte order mark it has on disk."""
    mark = "\ufeff" if disk.startswith("\ufeff") else ""
    return mark + (text.replace("\n", "\r\n") if "\r\n" in disk else text)


def _last_write_from_page(page: Article) -> LastWrite:
    front = {
        key: list(front_value) if isinstance(front_value, tuple) else front_value for key, front_value in page.front
    }
    return LastWrite(
        sections={_format_key(key): fingerprint_text(section.body) for key, section in _number_sections(page)},
        front=front,
    )


def _merge_sections(new: Article, old: Article, last_write: LastWrite) -> tuple[list[Section], list[str], list[str]]:
    """Return the merged sections, the names of those left to people, and of those we have no text for."""
    ours, theirs = dict(_number_sections(new)), dict(_number_sections(old))
    kept_names: list[str] = []
    dropped: list[str] = []
    merged: dict[_Key, Section] = {}
    for key, section in theirs.items():
        own_section, name = ours.get(key), _format_key(key)
        if own_section is not None and fingerprint_text(own_section.body) == fingerprint_text(section.body):
            merged[key] = section
        elif last_write.sections.get(name) == fingerprint_text(section.body):
            if own_section is None:
                dropped.append(name)
            else:
                merged[key] = Section(heading=section.heading, body=own_section.body, heading_line=section.heading_line)
        else:
            merged[key] = section
            kept_names += [name] if own_section is not None else []
    added = [key for key in ours if key not in theirs and _format_key(key) not in last_write.sections]
    return _space_sections(_order_sections(list(ours), merged, {key: ours[key] for key in added})), kept_names, dropped


def _order_sections(order: list[_Key], existing: dict[_Key, Section], added: dict[_Key, Section]) -> list[Section]:
    """Order the sections: keep the existing order, and put each new one after its predecessor in ours."""
    keys = list(existing)
    for position, key in enumerate(order):
        if key in added:
            before = [keys.index(earlier_key) for earlier_key in order[:position] if earlier_key in keys]
            keys.insert(before[-1] + 1 if before else (1 if keys and not keys[0][0] else 0), key)
    both = {**existing, **added}
    return [both[key] for key in keys]


def _space_sections(sections: list[Section]) -> list[Section]:
    """Separate sections, so that none runs into the next heading or swallows it with an open code fence."""
    return [*map(_close_section, sections[:-1]), *sections[-1:]]


def _close_section(section: Section) -> Section:
    fence = article.find_open_fence(section.body)
    if (section.body.endswith("\n") and not fence) or not (section.body or section.heading):
        return section
    body = section.body + ("" if section.body.endswith("\n") else "\n") + (f"{fence}\n" if fence else "\n")
    head = (
        section.heading_line
        if not section.heading_line or section.heading_line.endswith("\n")
        else f"{section.heading_line}\n"
    )
    return Section(heading=section.heading, body=body, heading_line=head)


def _merge_front(new: Article, old: Article, last_write: LastWrite) -> Iterator[tuple[str, FrontValue]]:
    """Yield the merged values of our keys; a list that a person edited gets the new items and keeps the rest."""
    theirs: dict[str, FrontValue] = dict(old.front)
    for key, front_value in new.front:
        previous = _to_front_value(last_write.front.get(key))
        if key not in theirs:
            if previous is None:
                yield key, front_value
        elif key == _STAMP or theirs[key] == previous:
            yield key, front_value
        elif isinstance(front_value, tuple):
            current = old.get_list(key)
            fresh = [item for item in front_value if item not in current and item not in (previous or ())]
            if fresh:
                yield key, (*current, *fresh)


def _to_front_value(stored: Any) -> FrontValue | None:
    return tuple(stored) if isinstance(stored, list) else stored


def _number_sections(page: Article) -> Iterator[tuple[_Key, Section]]:
    counts: dict[str, int] = {}
    for section in page.sections:
        number = counts[section.heading] = counts.get(section.heading, 0) + 1
        yield (section.heading, number), section


def _format_key(key: _Key) -> str:
    return key[0] if key[1] == 1 else f"{key[0]} #{key[1]}"
