"""Compile one project: build its pages from evidence, and find those that changed or have nothing left to tell."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from engram.hub import Hub
from engram.platform.text import build_slug
from engram.wiki.project_pages.page_draft import ERROR, RULES, RULES_PREFIX, PageDraft
from engram.wiki.project_pages.page_set import build_pages
from engram.wiki.vault import history, state
from engram.wiki.vault.links import format_link
from engram.wiki.vault.merge import fingerprint_text
from engram.wiki.vault.page_text import escape_line, render_page
from engram.wiki.vault.vault import Vault
from engram.wiki.vault.write_batch import PageWrite

RELATED, SOURCES = "Related Concepts", "Sources"
_MODEL_PREFIX = "model:"
_FOLDER = "concepts"
_MOST_SOURCES, _MOST_RELATED = 30, 60  # lines of a page
_NAME_CHARS = 70  # characters of a file name


class ProjectCompilation:
    """The pages of one project, before anything is written."""

    def __init__(self, hub: Hub, vault: Vault, project: str, *, anew: bool) -> None:
        self.vault, self.project, self.anew = vault, project, anew
        self.before: dict[str, str] = read_targets(vault, project)
        self.taken: set[str] = set()
        drafts = build_pages(hub, project)
        self.targets = {draft.key: target for draft in drafts if (target := self._choose_target(draft))}
        self.titles = {draft.key: draft.title for draft in drafts}
        self.links = _link_both_ways(drafts)
        built = [self._build_write(draft) for draft in drafts if draft.key in self.targets]
        self.writes = [write for write in built if write is not None]
        self.writes += [self._remove_page(target) for target in self._list_stale()]

    def build_files(self) -> dict[str, Any]:
        """Return our own files that change with it."""
        return {_record_path(self.project): {"project": self.project, "pages": self.targets}}

    def _list_stale(self) -> list[str]:
        """Return the pages that the rules made of the project before and do not make any more."""
        stale = [target for target in self.before.values() if target not in self.targets.values()]
        return [target for target in stale if self._is_ours(state.read_page_record(self.vault, target))]

    def _is_ours(self, record: dict[str, Any] | None) -> bool:
        return bool(record) and is_made_by_rules(record) and (record or {}).get("project") == self.project

    def _remove_page(self, target: str) -> PageWrite:
        record = state.read_page_record(self.vault, target) or {}
        return PageWrite(target=target, text=None, made_by=RULES, record=record, gone=True)

    def _choose_target(self, draft: PageDraft) -> str:
        """Return the page of a draft: the one it has, else one that nothing else uses; empty if there is none."""
        name = _shorten_name(build_slug(draft.file_title))
        digest = blake2b(f"{self.project} {draft.key}".encode(), digest_size=3).hexdigest()
        natural = [self.vault.make_target(_FOLDER, title) for title in (name, f"{name}-{digest}") if build_slug(title)]
        for target in (*filter(None, [self.before.get(draft.key)]), *natural):
            record = state.read_page_record(self.vault, target) or {}
            if target in self.taken or not self._may_use(record, draft):
                continue
            self.taken.add(target)
            return target
        return ""

    def _may_use(self, record: dict[str, Any], draft: PageDraft) -> bool:
        """Return whether a page is free, is this one, or was made by older rules of which nothing is left."""
        if not record or (record.get("project") == self.project and record.get("key") == draft.key):
            return True
        if record.get("made_by", "").startswith(_MODEL_PREFIX):  # a model took over what rules had made
            return record.get("kind") == draft.kind and draft.kind != ERROR
        return is_made_by_rules(record) and record.get("made_by") != RULES

    def _build_write(self, draft: PageDraft) -> PageWrite | None:
        """Return the page to write; None if it is as it was, or a model keeps it."""
        target = self.targets[draft.key]
        saved = state.read_page_record(self.vault, target) or {}
        if saved.get("made_by", "").startswith(_MODEL_PREFIX):
            return None
        linked = {page: str(title) for page, title in (saved.get("linked_from") or {}).items()}
        text = self._render(draft, linked)
        print_of_text = fingerprint_text(text)
        is_same = saved.get("print") == print_of_text and not history.is_withdrawn(self.vault, target)
        if is_same and saved.get("made_by") == RULES and not self.anew:
            return None
        record = {
            "kind": draft.kind, "key": draft.key, "project": self.project, "title": draft.title,
            "summary": draft.summary, "print": print_of_text, "linked_from": linked,
            "last": draft.days[-1] if draft.days else "",
        }  # fmt: skip
        return PageWrite(
            target=target, text=text, made_by=RULES, summary=draft.summary, sources=draft.sources, record=record,
            anew=self.anew,
        )  # fmt: skip

    def _render(self, draft: PageDraft, linked: dict[str, str]) -> str:
        days = draft.days or ("", "")
        front = (
            ("title", draft.title), ("tags", (draft.kind,)), ("sources", draft.sources[:_MOST_SOURCES]),
            ("created", days[0]), ("updated", days[-1]),
        )  # fmt: skip
        sections = [(heading, list(lines)) for heading, lines in draft.sections]
        sections += [(RELATED, self._list_related(draft, linked)), (SOURCES, _list_sources(draft))]
        title = escape_line(draft.title, 120)
        return render_page(front, f"# {title}\n\n{draft.top}", sections)

    def _list_related(self, draft: PageDraft, linked: dict[str, str]) -> list[str]:
        """Return links to the related pages; a page that is linked to links back."""
        related = {self.targets[key]: self.titles[key] for key in self.links[draft.key] if key in self.targets}
        existing = {page: title for page, title in linked.items() if self.vault.read(page) is not None}
        return [f"- {format_link(target, escape_line(title, 120))}" for target, title in (related | existing).items()][
            :_MOST_RELATED
        ]


def _shorten_name(name: str) -> str:
    """Return a file name of limited length that ends with a whole word."""
    return name if len(name) <= _NAME_CHARS else name[: _NAME_CHARS + 1].rpartition("-")[0] or name[:_NAME_CHARS]


def _link_both_ways(drafts: list[PageDraft]) -> dict[str, list[str]]:
    """Return the keys of the pages that each page links to."""
    links = {draft.key: dict.fromkeys(draft.related) for draft in drafts}
    for draft in drafts:
        for key in draft.related:
            links.setdefault(key, {})[draft.key] = None
    return {key: [*related] for key, related in links.items()}


def _list_sources(draft: PageDraft) -> list[str]:
    logs = [name for name in draft.sources if name.startswith("daily/")][:_MOST_SOURCES]
    return [f"- {format_link(log, log.removeprefix('daily/'))}" for log in logs]


def is_made_by_rules(record: dict[str, Any] | None) -> bool:
    """Return whether rules made a page, of whatever version."""
    return str((record or {}).get("made_by", "")).startswith(RULES_PREFIX)


def read_targets(vault: Vault, project: str) -> dict[str, str]:
    """Return the pages that the rules made of a project, by key."""
    pages = state.read_file(vault, _record_path(project)).get("pages")
    return pages if isinstance(pages, dict) else {}


def _record_path(project: str) -> str:
    return f"projects/{blake2b(project.encode(), digest_size=8).hexdigest()}.json"
