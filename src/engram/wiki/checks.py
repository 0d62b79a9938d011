"""Health checks of the wiki on an in-memory view of the vault. Pure; one pass each."""

from __future__ import annotations

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ERROR, WARNING, SUGGESTION = "error", "warning", "suggestion"
SPARSE = 200  # an article with fewer words is sparse
OVERSIZE = 100_000  # a page with more characters is too long
BACKLINKS = 20  # backlinks suggested per page
_MAX_NAMED = 5  # names listed in one message
_FILE_SUFFIXES = (
    ".avif", ".base", ".bmp", ".canvas", ".csv", ".gif", ".jpeg", ".jpg", ".json", ".m4a", ".mov", ".mp3", ".mp4",
    ".ogg", ".pdf", ".png", ".svg", ".txt", ".wav", ".webm", ".webp",
)  # fmt: skip
_PREFIX = "knowledge/"


@value
class PageFacts:
    """The facts about an article that checks use."""

    target: str
    title: str
    names: tuple[str, ...]  # other names of the page
    links: tuple[str, ...]  # link targets as written
    sources: tuple[str, ...]  # pages and sessions listed as sources in the frontmatter
    words: int
    size: int  # characters
    closed: bool = True  # its frontmatter is closed


@value
class LogFacts:
    """The facts about a daily log that checks use."""

    target: str
    hash: str
    compiled: str | None  # hash when it was compiled; None if never
    links: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()  # sessions of its entries


@value
class VaultView:
    """A vault in memory."""

    pages: tuple[PageFacts, ...]
    logs: tuple[LogFacts, ...]
    rows: tuple[str, ...] = ()  # targets listed in the index
    gone: frozenset[str] = frozenset()  # sessions that are referenced but no longer in the store
    unreadable: tuple[tuple[str, str], ...] = ()  # files, and why they cannot be read
    ruled: frozenset[str] = frozenset()  # short pages made by rules, which say all there is to say


@value
class LintFinding:
    """A finding of a check."""

    check: str
    severity: str
    page: str
    message: str
    others: tuple[str, ...] = ()  # related pages
    fixable: bool = False


class PageNames:
    """All names a page can be linked by: path, file name, title and aliases, case-insensitive."""

    def __init__(self, view: VaultView) -> None:
        targets = [*(page.target for page in view.pages), *(log.target for log in view.logs), "index", "log"]
        self.exact = set(targets)
        self.folded: dict[str, str] = {}
        for page in view.pages:
            for name in (page.title, *page.names):
                self.folded.setdefault(name.casefold(), page.target)
        for target in reversed(targets):  # a path wins over a file name, a file name over an alias
            self.folded[target.rpartition("/")[2].casefold()] = target
        for target in targets:
            self.folded[target.casefold()] = target

    def resolve_link(self, name: str) -> str | None:
        """Return the page a link refers to; None if there is none."""
        plain = name.strip().removesuffix(".md").removeprefix(_PREFIX)
        return plain if plain in self.exact else self.folded.get(plain.casefold())


def run_checks(view: VaultView) -> list[LintFinding]:
    """Run all checks; return findings, errors first."""
    names = PageNames(view)
    findings = [finding for check in CHECKS for finding in check(view, names)]
    order = (ERROR, WARNING, SUGGESTION)
    return sorted(findings, key=lambda finding: (order.index(finding.severity), finding.check, finding.page))


def _check_unreadable(view: VaultView, _: PageNames) -> Iterator[LintFinding]:
    for target, why in view.unreadable:
        yield LintFinding(check="unreadable", severity=ERROR, page=target, message=why)


def _check_frontmatter(view: VaultView, _: PageNames) -> Iterator[LintFinding]:
    for page in view.pages:
        if not page.closed:
            words = "frontmatter is not closed: add a line with only `---`"
            yield LintFinding(check="frontmatter", severity=ERROR, page=page.target, message=words)


def _check_broken_links(view: VaultView, names: PageNames) -> Iterator[LintFinding]:
    for page in view.pages:
        for name in dict.fromkeys(page.links):
            if name and not name.lower().endswith(_FILE_SUFFIXES) and names.resolve_link(name) is None:
                words = f"links to [[{name}]], which does not exist"
                yield LintFinding(check="broken-link", severity=ERROR, page=page.target, message=words, others=(name,))


def _check_orphan_pages(view: VaultView, names: PageNames) -> Iterator[LintFinding]:
    links_by_target = [(document.target, document.links) for document in view.pages] + [
        (document.target, document.links) for document in view.logs
    ]
    linked = {
        linked_page
        for target, links in links_by_target
        for name in links
        if (linked_page := names.resolve_link(name)) != target
    }
    for page in view.pages:
        if page.target not in linked:
            yield LintFinding(check="orphan-page", severity=WARNING, page=page.target, message="no page links to it")


def _check_orphan_sources(view: VaultView, _: PageNames) -> Iterator[LintFinding]:
    for log in view.logs:
        if log.compiled is None:
            words = "never compiled; run `engram compile`"
            yield LintFinding(check="orphan-source", severity=WARNING, page=log.target, message=words)


def _check_stale(view: VaultView, names: PageNames) -> Iterator[LintFinding]:
    changed = {log.target for log in view.logs if log.compiled is not None and log.compiled != log.hash}
    for page in view.pages if changed else ():
        logs = sorted(
            {
                changed_log
                for source in page.sources
                if (changed_log := names.resolve_link(source)) in changed and changed_log
            }
        )
        if logs:
            words = f"sources changed since it was compiled: {_format_names(logs)}"
            yield LintFinding(
                check="stale-article", severity=WARNING, page=page.target, message=words, others=tuple(logs)
            )


def _check_dead_sources(view: VaultView, names: PageNames) -> Iterator[LintFinding]:
    for page in view.pages:
        dead = [
            source
            for source in page.sources
            if (source in view.gone if "/" not in source else names.resolve_link(source) is None)
        ]
        if dead:
            words = f"sources no longer exist: {_format_names(dead)}"
            yield LintFinding(
                check="dead-source", severity=WARNING, page=page.target, message=words, others=tuple(dead)
            )
    for log in view.logs:
        gone = [source for source in dict.fromkeys(log.sessions) if source in view.gone]
        if gone:
            words = f"has entries of deleted sessions: {_format_names(gone)}"
            yield LintFinding(check="dead-source", severity=WARNING, page=log.target, message=words, others=tuple(gone))


def _check_oversize(view: VaultView, _: PageNames) -> Iterator[LintFinding]:
    for page in view.pages:
        if page.size > OVERSIZE:
            words = f"has {page.size:,} characters; split it into smaller pages"
            yield LintFinding(check="oversize", severity=WARNING, page=page.target, message=words)


def _check_same_title(view: VaultView, _: PageNames) -> Iterator[LintFinding]:
    titles: dict[str, list[str]] = {}
    for page in view.pages:
        titles.setdefault(page.title.casefold(), []).append(page.target)
    for title, targets in titles.items():
        if title and len(targets) > 1:
            words = f"has the same title as {_format_names(targets[1:])}"
            yield LintFinding(
                check="duplicate-title", severity=WARNING, page=targets[0], message=words, others=tuple(targets[1:])
            )  # fmt: skip


def _check_backlinks(view: VaultView, names: PageNames) -> Iterator[LintFinding]:
    pages = {page.target for page in view.pages}
    outgoing = {page.target: {names.resolve_link(name) for name in page.links} & pages for page in view.pages}
    missing: dict[str, list[str]] = {}
    for page_target, others in outgoing.items():
        for other in others:
            if other is not None and other != page_target and page_target not in outgoing[other]:
                missing.setdefault(other, []).append(page_target)
    for target, linking_pages in missing.items():
        words = f"does not link back to {_format_names(sorted(linking_pages))}"
        yield LintFinding(
            check="missing-backlink", severity=SUGGESTION, page=target, message=words,
            others=tuple(sorted(linking_pages)[:BACKLINKS]), fixable=True,
        )  # fmt: skip


def _check_sparse(view: VaultView, _: PageNames) -> Iterator[LintFinding]:
    for page in view.pages:
        if page.words < SPARSE and page.target not in view.ruled:
            words = f"has only {page.words} words (minimum {SPARSE})"
            yield LintFinding(check="sparse", severity=SUGGESTION, page=page.target, message=words)


def _check_index(view: VaultView, names: PageNames) -> Iterator[LintFinding]:
    listed_pages = {names.resolve_link(row) for row in view.rows}
    for row in dict.fromkeys(view.rows):
        if names.resolve_link(row) is None:
            words = "listed in the index but does not exist"
            yield LintFinding(check="dead-row", severity=WARNING, page=row, message=words, fixable=True)
    for page in view.pages:
        if page.target not in listed_pages:
            words = "not listed in the index"
            yield LintFinding(check="unlisted", severity=SUGGESTION, page=page.target, message=words, fixable=True)


def _format_names(names: list[str]) -> str:
    rest = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + rest


CHECKS: tuple[Callable[[VaultView, PageNames], Iterator[LintFinding]], ...] = (
    _check_unreadable,
    _check_frontmatter,
    _check_broken_links,
    _check_orphan_pages,
    _check_orphan_sources,
    _check_stale,
    _check_dead_sources,
    _check_oversize,
    _check_same_title,
    _check_backlinks,
    _check_sparse,
    _check_index,
)
