"""Checks of the wiki's health, over a view of the vault in memory. Pure; one pass, whatever its size."""

from __future__ import annotations

from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ERROR, WARNING, SUGGESTION = "error", "warning", "suggestion"
SPARSE = 200  # words of an article that says little
OVERSIZE = 100_000  # characters of a page nobody reads
BACKLINKS = 20  # that one page is asked for
_NAMED = 5  # others in one message
_FILES = (
    ".avif", ".base", ".bmp", ".canvas", ".csv", ".gif", ".jpeg", ".jpg", ".json", ".m4a", ".mov", ".mp3", ".mp4",
    ".ogg", ".pdf", ".png", ".svg", ".txt", ".wav", ".webm", ".webp",
)  # fmt: skip
_PREFIX = "knowledge/"


@value
class Page:
    """An article as the checks see it."""

    target: str
    title: str
    names: tuple[str, ...]  # what else it is called
    links: tuple[str, ...]  # targets as they are written
    sources: tuple[str, ...]  # pages and sessions the frontmatter rests on
    words: int
    size: int  # characters
    closed: bool = True  # its frontmatter ends


@value
class Log:
    """A daily log as the checks see it."""

    target: str
    hash: str
    compiled: str | None  # what it was when it was compiled; None: never
    links: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()  # its entries tell of


@value
class View:
    """A vault in memory."""

    pages: tuple[Page, ...]
    logs: tuple[Log, ...]
    rows: tuple[str, ...] = ()  # targets the index lists
    gone: frozenset[str] = frozenset()  # sessions that are named and no more in the store
    unreadable: tuple[tuple[str, str], ...] = ()  # files, and why


@value
class Finding:
    """Something a check found."""

    check: str
    severity: str
    page: str
    message: str
    others: tuple[str, ...] = ()  # the pages it has to do with
    fixable: bool = False


class Names:
    """Every name a page can be linked by: its path, its file name, its title and aliases, in any case."""

    def __init__(self, view: View) -> None:
        targets = [*(page.target for page in view.pages), *(log.target for log in view.logs), "index", "log"]
        self.exact = set(targets)
        self.folded: dict[str, str] = {}
        for page in view.pages:
            for name in (page.title, *page.names):
                self.folded.setdefault(name.casefold(), page.target)
        for target in reversed(targets):  # a path before a file name, a file name before an alias
            self.folded[target.rpartition("/")[2].casefold()] = target
        for target in targets:
            self.folded[target.casefold()] = target

    def page(self, name: str) -> str | None:
        """Return the page a link means; None if there is none."""
        plain = name.strip().removesuffix(".md").removeprefix(_PREFIX)
        return plain if plain in self.exact else self.folded.get(plain.casefold())


def check(view: View) -> list[Finding]:
    """Return what is wrong with a wiki, errors first."""
    names = Names(view)
    found = [finding for each in CHECKS for finding in each(view, names)]
    order = (ERROR, WARNING, SUGGESTION)
    return sorted(found, key=lambda each: (order.index(each.severity), each.check, each.page))


def _unreadable(view: View, _: Names) -> Iterator[Finding]:
    for target, why in view.unreadable:
        yield Finding(check="unreadable", severity=ERROR, page=target, message=why)


def _frontmatter(view: View, _: Names) -> Iterator[Finding]:
    for page in view.pages:
        if not page.closed:
            words = "its frontmatter has no end: a line that is `---` alone is missing"
            yield Finding(check="frontmatter", severity=ERROR, page=page.target, message=words)


def _broken(view: View, names: Names) -> Iterator[Finding]:
    for page in view.pages:
        for name in dict.fromkeys(page.links):
            if name and not name.lower().endswith(_FILES) and names.page(name) is None:
                words = f"it links to [[{name}]], which is not there"
                yield Finding(check="broken-link", severity=ERROR, page=page.target, message=words, others=(name,))


def _orphan_pages(view: View, names: Names) -> Iterator[Finding]:
    out = [(each.target, each.links) for each in view.pages] + [(each.target, each.links) for each in view.logs]
    known = {found for target, links in out for name in links if (found := names.page(name)) != target}
    for page in view.pages:
        if page.target not in known:
            yield Finding(check="orphan-page", severity=WARNING, page=page.target, message="no page links to it")


def _orphan_sources(view: View, _: Names) -> Iterator[Finding]:
    for log in view.logs:
        if log.compiled is None:
            words = "it was never compiled: `engram compile`"
            yield Finding(check="orphan-source", severity=WARNING, page=log.target, message=words)


def _stale(view: View, names: Names) -> Iterator[Finding]:
    changed = {log.target for log in view.logs if log.compiled is not None and log.compiled != log.hash}
    for page in view.pages if changed else ():
        logs = sorted({found for each in page.sources if (found := names.page(each)) in changed and found})
        if logs:
            words = f"changed since it was compiled: {_several(logs)}"
            yield Finding(check="stale-article", severity=WARNING, page=page.target, message=words, others=tuple(logs))


def _dead_sources(view: View, names: Names) -> Iterator[Finding]:
    for page in view.pages:
        dead = [each for each in page.sources if (each in view.gone if "/" not in each else names.page(each) is None)]
        if dead:
            words = f"it rests on what is gone: {_several(dead)}"
            yield Finding(check="dead-source", severity=WARNING, page=page.target, message=words, others=tuple(dead))
    for log in view.logs:
        gone = [each for each in dict.fromkeys(log.sessions) if each in view.gone]
        if gone:
            words = f"it has entries of sessions that are gone: {_several(gone)}"
            yield Finding(check="dead-source", severity=WARNING, page=log.target, message=words, others=tuple(gone))


def _oversize(view: View, _: Names) -> Iterator[Finding]:
    for page in view.pages:
        if page.size > OVERSIZE:
            words = f"it has {page.size:,} characters: divide it into pages of one thing each"
            yield Finding(check="oversize", severity=WARNING, page=page.target, message=words)


def _same_title(view: View, _: Names) -> Iterator[Finding]:
    titles: dict[str, list[str]] = {}
    for page in view.pages:
        titles.setdefault(page.title.casefold(), []).append(page.target)
    for title, targets in titles.items():
        if title and len(targets) > 1:
            words = f"others have the same title: {_several(targets[1:])}"
            yield Finding(
                check="duplicate-title", severity=WARNING, page=targets[0], message=words, others=tuple(targets[1:])
            )  # fmt: skip


def _backlinks(view: View, names: Names) -> Iterator[Finding]:
    pages = {page.target for page in view.pages}
    out = {page.target: {names.page(name) for name in page.links} & pages for page in view.pages}
    missing: dict[str, list[str]] = {}
    for one, others in out.items():
        for other in others:
            if other is not None and other != one and one not in out[other]:
                missing.setdefault(other, []).append(one)
    for target, who in missing.items():
        words = f"it does not link back to {_several(sorted(who))}"
        yield Finding(
            check="missing-backlink", severity=SUGGESTION, page=target, message=words,
            others=tuple(sorted(who)[:BACKLINKS]), fixable=True,
        )  # fmt: skip


def _sparse(view: View, _: Names) -> Iterator[Finding]:
    for page in view.pages:
        if page.words < SPARSE:
            words = f"it has {page.words} words, fewer than {SPARSE}"
            yield Finding(check="sparse", severity=SUGGESTION, page=page.target, message=words)


def _index(view: View, names: Names) -> Iterator[Finding]:
    listed = {names.page(row) for row in view.rows}
    for row in dict.fromkeys(view.rows):
        if names.page(row) is None:
            words = "the index lists it, and it is not there"
            yield Finding(check="dead-row", severity=WARNING, page=row, message=words, fixable=True)
    for page in view.pages:
        if page.target not in listed:
            words = "the index does not list it"
            yield Finding(check="unlisted", severity=SUGGESTION, page=page.target, message=words, fixable=True)


def _several(names: list[str]) -> str:
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + rest


CHECKS: tuple[Callable[[View, Names], Iterator[Finding]], ...] = (
    _unreadable, _frontmatter, _broken, _orphan_pages, _orphan_sources, _stale, _dead_sources, _oversize, _same_title,
    _backlinks, _sparse, _index,
)  # fmt: skip
