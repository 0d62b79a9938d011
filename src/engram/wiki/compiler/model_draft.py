"""Ask a model to draft articles from entries, and validate its answer.

The model sees the new entries, rows of the index and a few articles, never the whole vault, so a log costs the same
however large the wiki is. Its answer has a fixed schema; names, links and ids in it are checked against what exists,
and it can request nothing but pages.
"""

from __future__ import annotations

import re
from typing import Any

from engram.hub import Hub
from engram.platform import text
from engram.platform.text import build_slug
from engram.platform.value import value
from engram.summaries.grounding import keep_grounded
from engram.wiki.compiler.entry_sections import find_goal, parse_sections
from engram.wiki.vault import article, article_passages, state
from engram.wiki.vault.article import Section
from engram.wiki.vault.daily_log import LogEntry, link_to_title
from engram.wiki.vault.links import format_link
from engram.wiki.vault.merge import LastWrite, fingerprint_text
from engram.wiki.vault.page_text import render_page
from engram.wiki.vault.vault import Vault
from engram.wiki.vault.write_batch import PageWrite, last_write_from_record

_MAX_ARTICLES_SHOWN = 8  # articles in full
_MAX_INDEX_ROWS = 24  # rows of the index
_ARTICLE_TOKENS = 1_500  # tokens of an article
_ENTRY_TOKENS = 12_000  # tokens of all entries of a prompt
_QUERY_CHARS = 2_000  # characters of the search query
_MAX_ARTICLES = 12  # articles of an answer
_OWN_SECTIONS = ("Related Concepts", "Sources")  # sections written by us

_TEXT_SCHEMA = {"type": "string", "maxLength": 200}
_LIST_SCHEMA = {"type": "array", "items": _TEXT_SCHEMA}
_ARTICLE_SCHEMA: dict[str, Any] = {
    "action": {"type": "string", "enum": ["create", "update"]},
    "page": _TEXT_SCHEMA,
    "folder": {"type": "string", "enum": ["concepts", "connections"]},
    "title": _TEXT_SCHEMA,
    "aliases": _LIST_SCHEMA,
    "tags": _LIST_SCHEMA,
    "summary": {"type": "string", "maxLength": 600},
    "sections": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"heading": _TEXT_SCHEMA, "body": {"type": "string", "maxLength": 12_000}},
            "required": ["heading", "body"],
            "additionalProperties": False,
        },
    },
    "links": _LIST_SCHEMA,
    "entry_ids": _LIST_SCHEMA,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["articles"],
    "additionalProperties": False,
    "properties": {
        "articles": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _ARTICLE_SCHEMA,
                "required": list(_ARTICLE_SCHEMA),
                "additionalProperties": False,
            },
        }
    },
}


@value
class DraftResult:
    """The articles a model drafted for a log, and their cost."""

    writes: list[PageWrite]
    dropped: int  # articles that were rejected
    cost: float
    tokens: int


def draft_pages(
    hub: Hub, vault: Vault, entries: list[LogEntry], today: str, upcoming_pages: dict[str, list[str]]
) -> DraftResult:
    """Ask the model what entries add to the wiki, in as many calls as needed; validate every answer.

    `upcoming_pages` maps entries to pages that will exist as well.
    """
    writes_by_target: dict[str, PageWrite] = {}
    dropped, cost, tokens = 0, 0.0, 0
    for batch in _split_batches(entries):
        relevant = article_passages.find_relevant(hub, _build_query(batch), _MAX_INDEX_ROWS)
        source = _format_prompt_data(vault, batch, relevant)
        answer, made_by = _ask_model(hub, source)
        articles = [_keep_supported(item, source) for item in answer.data["articles"]]
        checked_answer = _DraftAnswer(
            vault, batch, relevant[:_MAX_ARTICLES_SHOWN], upcoming_pages, made_by, today, articles
        )
        writes_by_target |= {write.target: write for write in checked_answer.build_writes()}
        dropped += checked_answer.dropped
        cost, tokens = cost + (answer.cost or 0.0), tokens + _count_tokens(answer)
    return DraftResult(writes=list(writes_by_target.values()), dropped=dropped, cost=cost, tokens=tokens)


def _ask_model(hub: Hub, source: str) -> tuple[Any, str]:
    from engram.capture.batch import redact_nested
    from engram.models.complete import complete
    from engram.redaction.store_redactor import load_hub_redactor
    from engram.summaries.summary_model import load_prompt

    template, version = load_prompt("compile")
    question = template.replace("{data}", text.quote_as_data(source))
    answer = complete(hub, question, purpose="compile", schema=SCHEMA)
    answer.data["articles"] = redact_nested(answer.data["articles"], load_hub_redactor(hub))
    return answer, f"model:{answer.provider}/{answer.model}, prompt compile@{version}"


def _keep_supported(draft: dict[str, Any], source: str) -> dict[str, Any]:
    """Return a drafted article without the sentences whose names or numbers the model was not shown."""
    sections = [{**item, "body": keep_grounded(item["body"], source).text} for item in draft["sections"]]
    return {
        **draft, "summary": keep_grounded(draft["summary"], source).text,
        "sections": [item for item in sections if item["body"].strip()],
    }  # fmt: skip


def _count_tokens(answer: Any) -> int:
    return sum(getattr(answer, part) for part in ("input", "output", "cache_read", "cache_write"))


def _split_batches(entries: list[LogEntry]) -> list[list[LogEntry]]:
    """Split entries into batches that fit a prompt."""
    batches: list[list[LogEntry]] = [[]]
    tokens_left = _ENTRY_TOKENS
    for item in entries:
        size = min(text.count_tokens(item.content), _ENTRY_TOKENS)
        if batches[-1] and size > tokens_left:
            batches.append([])
            tokens_left = _ENTRY_TOKENS
        batches[-1].append(item)
        tokens_left -= size
    return [item for item in batches if item]


def _build_query(entries: list[LogEntry]) -> str:
    """Return the words used to search for relevant articles."""
    lines = []
    for entry in entries:
        parts = parse_sections(entry.content)
        lines += [find_goal(parts), *parts.get("decided", ())[:2], *parts.get("changed", ())[:3]]
    share = _QUERY_CHARS // max(1, len(lines))
    return "\n".join(line[: max(share, 40)] for line in lines if line)[:_QUERY_CHARS]


def _format_prompt_data(vault: Vault, entries: list[LogEntry], relevant: list[str]) -> str:
    parts = ["ENTRIES"]
    parts += [f"entry {item.id} of {item.day}, {item.flavor} in {item.project or 'no project'}:\n"
              f"{text.cut_to_tokens(item.content, _ENTRY_TOKENS)}" for item in entries]  # fmt: skip
    parts += ["INDEX", *(_format_index_row(vault, item) for item in relevant)]
    for item in relevant[:_MAX_ARTICLES_SHOWN]:
        parts.append(f"ARTICLE {item}\n{text.cut_to_tokens(vault.read(item) or '', _ARTICLE_TOKENS)}")
    return "\n\n".join(parts)


def _format_index_row(vault: Vault, target: str) -> str:
    saved = state.read_page_record(vault, target) or {}
    title = saved.get("title") or article.parse_article(vault.read(target) or "").title
    return text.to_one_line(f"{target} | {title} | {saved.get('summary', '')}", 300)


class _DraftAnswer:
    """The articles of one answer, as far as they are valid."""

    def __init__(
        self,
        vault: Vault,
        entries: list[LogEntry],
        shown: list[str],
        upcoming_pages: dict[str, list[str]],
        made_by: str,
        today: str,
        articles: list[dict[str, Any]],
    ) -> None:
        self.vault, self.shown, self.made_by, self.today = vault, set(shown), made_by, today
        self.entries = {item.id: item for item in entries}
        self.upcoming_pages = upcoming_pages
        self.articles = articles
        self.targets = {place: self._choose_target(item) for place, item in enumerate(self.articles[:_MAX_ARTICLES])}
        self.dropped = len(self.articles) - len(set(self.targets.values()) - {""})

    def build_writes(self) -> list[PageWrite]:
        """Return the pages that can be written."""
        writes_by_target = {
            target: self._build_write(target, self.articles[position])
            for position, target in self.targets.items()
            if target
        }
        return list(writes_by_target.values())

    def _choose_target(self, draft: dict[str, Any]) -> str:
        """Return the page an article is meant for; empty if it has no valid entry or no name."""
        if not any(entry_id in self.entries for entry_id in draft["entry_ids"]) or not (
            draft["sections"] or draft["summary"]
        ):
            return ""
        page_name: str = draft["page"].strip().removesuffix(".md")
        if draft["action"] == "update" and page_name in self.shown:
            return page_name
        name = build_slug(draft["title"])
        return self.vault.make_target(draft["folder"], name) if name else ""

    def _build_write(self, target: str, draft: dict[str, Any]) -> PageWrite:
        saved, disk = state.read_page_record(self.vault, target), self.vault.read(target)
        before = article.parse_article(disk or "")
        replaces = target in self.shown and not (saved or {}).get("made_by", "").startswith("model:")
        own_sections = [] if replaces else _find_own_sections(before, last_write_from_record(saved))
        sources = [self.entries[item] for item in dict.fromkeys(draft["entry_ids"]) if item in self.entries]
        logs = tuple(dict.fromkeys([*(f"daily/{item.day}" for item in sources), *before.get_list("sources")]))
        title = _clean_line(draft["title"]) if not before.title else before.title
        summary = self._clean_prose(draft["summary"]).replace("\n", " ")
        page = render_page(
            self._build_front(target, draft, before, title, logs),
            f"# {text.escape_inline(title, 120)}\n\n{summary}",
            self._build_sections(target, draft, own_sections, before, sources),
        )
        record = {
            "kind": "model", "key": f"model {target}", "project": "",
            **(saved or {}), "title": title, "summary": text.to_one_line(summary, 200), "last": self.today,
        }  # fmt: skip
        return PageWrite(
            target=target,
            text=page,
            made_by=self.made_by,
            summary=text.to_one_line(summary, 200),
            sources=logs,
            record=record,
        )

    def _build_front(self, target: str, draft: dict[str, Any], before: Any, title: str, logs: tuple[str, ...]) -> Any:
        lists = {
            name: tuple(dict.fromkeys([*before.get_list(name), *filter(None, map(_clean_line, draft[name][:8]))]))
            for name in ("aliases", "tags")
        }  # fmt: skip
        linked_pages = (
            [page for page in map(self._resolve_page, draft["links"]) if page]
            if target.startswith("connections/")
            else []
        )
        connects = (("connects", tuple(dict.fromkeys(linked_pages))),) if linked_pages else ()
        return (
            ("title", title), *lists.items(), *connects, ("sources", logs),
            ("created", before.get("created") or self.today), ("updated", self.today),
        )  # fmt: skip

    def _build_sections(
        self, target: str, draft: dict[str, Any], base: list[Section], before: Any, sources: list[LogEntry]
    ) -> list[tuple[str, list[str]]]:  # fmt: skip
        lines_by_heading = {
            item.heading: item.body.strip("\n").split("\n") for item in base if item.heading not in ("", *_OWN_SECTIONS)
        }
        for item in draft["sections"]:
            heading = _clean_line(item["heading"]).lstrip("# ")
            if heading and heading not in _OWN_SECTIONS:
                lines_by_heading[heading] = self._clean_prose(item["body"]).split("\n")
        related = [*self._format_related(target, draft), *_read_list_lines(before, _OWN_SECTIONS[0])]
        source_lines = [
            f"- {format_link(link_to_title(item.day, item.title), f'{item.day} {item.flavor}')}: {_format_claim(item)}"
            for item in sources
        ]
        lists = (
            (_OWN_SECTIONS[0], related),
            (_OWN_SECTIONS[1], [*source_lines, *_read_list_lines(before, _OWN_SECTIONS[1])]),
        )
        return [*lines_by_heading.items(), *((name, list(dict.fromkeys(lines))[:40]) for name, lines in lists)]

    def _format_related(self, target: str, draft: dict[str, Any]) -> list[str]:
        of_entries = [page for item in draft["entry_ids"] for page in self.upcoming_pages.get(item, ())]
        targets = [item for item in (*map(self._resolve_page, draft["links"]), *of_entries) if item and item != target]
        return [f"- {format_link(item)}" for item in dict.fromkeys(targets)]

    def _resolve_page(self, page_name: str) -> str:
        """Return the page a model refers to, if it exists or will exist; nothing else is linked."""
        plain = re.sub(r"^\[\[|\]\]$", "", page_name.strip()).partition("|")[0].partition("#")[0].removesuffix(".md")
        options = [plain, *(f"{folder}/{build_slug(plain)}" for folder in ("concepts", "connections", "qa"))]
        for target in options:
            if (
                target in self.targets.values()
                or any(target in pages for pages in self.upcoming_pages.values())
                or (_is_page_target(target) and self._page_exists(target))
            ):
                return target
        return ""

    def _page_exists(self, target: str) -> bool:
        from engram.errors import InvalidInput

        try:
            return self.vault.read(target) is not None
        except InvalidInput:
            return False

    def _clean_prose(self, prose: str) -> str:
        """Clean a model's text: it stays within its section and links only to existing pages."""
        plain = text.validate_text("answer", prose, text.PAGE).replace("<!--", "‹!--").replace("\t", "    ").strip()
        plain = re.sub(r"(?m)^(\s*)#{1,2}(?= )", r"\1###", plain)
        plain = re.sub(r"(?m)^(---|\.\.\.)\s*$", "***", plain)
        plain = re.sub(r"!(?=\[)", "", plain)  # nothing is fetched when a page is opened
        plain = re.sub(r"(?i)<(?=/?(?:script|iframe|img|object|embed|style|link|meta|svg)\b)", "‹", plain)
        return re.sub(r"\[\[([^\]\n]*)\]\]", lambda match: self._rewrite_link(match[1]), plain)

    def _rewrite_link(self, inner: str) -> str:
        target, _, label = inner.partition("|")
        page = self._resolve_page(target)
        if page or (target.startswith("daily/") and target.partition("#")[0] in self._list_logs()):
            return format_link(page or target.partition("#")[0], label)
        return text.escape_inline(label or target, 120).replace("[", "").replace("]", "")

    def _list_logs(self) -> set[str]:
        return {f"daily/{entry.day}" for entry in self.entries.values()}


def _find_own_sections(page: Any, last_write: LastWrite) -> list[Section]:
    """Return the sections that are as we last wrote them; only these may be replaced."""
    return [
        section
        for section in page.sections
        if last_write.sections.get(section.heading) == fingerprint_text(section.body)
    ]


def _read_list_lines(page: Any, heading: str) -> list[str]:
    return [line for line in page.get_section(heading).splitlines() if line.startswith("- ")]


def _format_claim(entry: LogEntry) -> str:
    return f"“{text.escape_inline(find_goal(parse_sections(entry.content)), 160)}”"


def _clean_line(words: str) -> str:
    return text.escape_inline(text.validate_text("answer", words), 120).replace("[", "(").replace("]", ")").strip()


def _is_page_target(target: str) -> bool:
    return target.partition("/")[0] in ("concepts", "connections", "qa")
