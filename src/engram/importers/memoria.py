"""Import a memoria wiki: logs, articles, index, build log, compile state and failed flushes.

None of our pages is overwritten: if both wikis have a different page with the same name, both are kept. What was
imported once is not imported again, whatever happened to it here.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Annotated, Any

from engram.errors import Error, ImportRefused, InvalidInput
from engram.hub import Hub
from engram.importers.memoria_tree import KNOWLEDGE, MemoriaDocument, MemoriaTree
from engram.operation import Help, operation
from engram.platform.text import PAGE, build_slug, to_one_line, validate_text
from engram.platform.value import value
from engram.wiki.vault import article, due_logs, index_page, state
from engram.wiki.vault.vault import FOLDERS, Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.redaction.redactor import Redactor

_TAKEN = "imports.json"
_OTHER = "memoria"  # suffix of an imported page if we have one with its name
_LARGEST = 4 * PAGE
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_LINK = re.compile(r"(?ms)^(?:```|~~~).*?^(?:```|~~~)[^\n]*$|`[^`\n]*`|\[\[([^\[\]\n|#]+)")
_ENTRY = re.compile(r"(?m)^### [^\n]*\n(?!\s*(?:<!-- engram |FLUSH_OK\b))")  # memoria's marker for nothing worth saving
_ROW = re.compile(r"(?m)^\|[ \t]*\[\[([^\[\]|#\\\n]+)(?:\\?\|[^\[\]\n]*)?\]\][ \t]*\|([^|\n]*)\|")


@value
class MemoriaImportReport:
    """The result of importing a wiki."""

    source: str
    logs: int
    articles: int
    already_here: int
    kept_both: dict[str, str]  # our pages, with the new name of theirs
    links: int  # links that were rewritten
    compiled: int  # logs that count as compiled, as they did there
    refused: tuple[str, ...]  # skipped files, and why
    redacted: dict[str, int]
    contexts: int = 0  # conversations it could not flush, now log entries
    last_flush: str = ""  # the session it flushed last
    dry_run: bool = False


@operation(writes=True, agent=False)
def import_memoria(
    hub: Hub,
    path: Annotated[str, Help("directory of memoria or claude-memory-compiler, with daily/ and knowledge/")],
    dry_run: Annotated[bool, Help("show what would be imported without importing it")] = False,
) -> MemoriaImportReport:
    """Import a wiki of memoria or claude-memory-compiler: logs, articles, index, log; repeat to import what is new."""
    from engram.redaction.store_redactor import load_hub_redactor
    from engram.wiki.vault import sync, vault

    home, tree = vault.open_vault(hub), MemoriaTree(validate_text("path", path))
    if tree.root == home.root:
        raise ImportRefused(path=path, reason="it is the wiki in use.")
    run = _MemoriaImport(home, tree, load_hub_redactor(hub, make=not dry_run), dry_run)
    if dry_run:
        return _import_contexts(hub, tree, run.run())
    with home.hold_lock():
        report = run.run()
    sync.sync_pages(hub, home)
    return _import_contexts(hub, tree, report)


def _import_contexts(hub: Hub, tree: MemoriaTree, report: MemoriaImportReport) -> MemoriaImportReport:
    """Import the conversations memoria could not flush, and return how many were new; their files stay."""
    from engram.importers.memoria_context import read_context_file, remember_context
    from engram.store import log_entries
    from engram.wiki.flush import flush_sessions

    imported, existing = 0, 0
    for path in tree.iter_contexts():
        context = read_context_file(path)
        session_id, new = remember_context(hub, context, context.session, dry_run=report.dry_run)
        imported, existing = imported + bool(new), existing + (not new)
        if new and not report.dry_run:
            flush_sessions(hub, log_entries.list_due_sessions(hub.engine, 1 << 62, session_id))
    return MemoriaImportReport(**{**vars(report), "contexts": imported, "already_here": report.already_here + existing})


class _MemoriaImport:
    """One import, from reading to the report."""

    def __init__(self, home: Vault, tree: MemoriaTree, redactor: Redactor, dry_run: bool) -> None:
        self.home, self.tree, self.redactor, self.dry_run = home, tree, redactor, dry_run
        taken_before = state.read_file(home, _TAKEN).get("taken", {})
        self.taken: dict[str, Any] = taken_before if isinstance(taken_before, dict) else {}
        self.names: dict[str, str] = {}  # names of pages there and here
        self.kept_both: dict[str, str] = {}
        self.logs = self.articles = self.already = self.links = 0
        self.written: dict[str, MemoriaDocument] = {}

    def run(self) -> MemoriaImportReport:
        """Import everything."""
        documents = list(self.tree.iter_documents())
        for document in documents:
            self._choose_name(document)
        for document in documents:
            if document.name in self.names:
                self._import_document(document)
        compiled = self._mark_compiled(documents)
        self._update_index(next((document.text for document in documents if document.name == index_page.INDEX), ""))
        last_flush = self.tree.read_state("last-flush.json")
        if not self.dry_run and self.written:
            state.write_file(self.home, _TAKEN, {"taken": self.taken, "last_flush": last_flush}, readable=True)
        return MemoriaImportReport(
            source=self.tree.root,
            logs=self.logs,
            articles=self.articles,
            already_here=self.already,
            kept_both=self.kept_both,
            links=self.links,
            compiled=compiled,
            refused=tuple(self.tree.refused),
            redacted=dict(self.redactor.rule_counts),
            last_flush=to_one_line(str(last_flush.get("session_id") or ""), 200),
            dry_run=self.dry_run,
        )

    def _choose_name(self, document: MemoriaDocument) -> None:
        """Choose the name of a page here."""
        if document.name == index_page.INDEX:
            return
        wanted_name = document.name if document.folder in (*FOLDERS, "") else f"concepts/{document.name}"
        try:
            target = self._make_allowed_name(wanted_name)
        except InvalidInput:
            self.tree.refused.append(f"{document.name}: the name cannot be used here")
            return
        earlier = self.taken.get(document.name)
        earlier_target = earlier.get("target") if isinstance(earlier, dict) else None
        self.names[document.name] = earlier_target if isinstance(earlier_target, str) else target

    def _make_allowed_name(self, name: str) -> str:
        """Return a name the vault accepts; invalid parts are replaced by plain characters."""
        try:
            self.home.resolve_path(name)
        except InvalidInput:
            name = "/".join(build_slug(part) for part in name.split("/"))
            self.home.resolve_path(name)
        return name

    def _import_document(self, document: MemoriaDocument) -> None:
        """Write one page here, unless it was imported before."""
        earlier = self.taken.get(document.name)
        if isinstance(earlier, dict) and earlier.get("hash") == document.hash:
            self.already += 1
            return
        try:
            text = self._prepare_text(document)
            target, current = self._find_target(self.names[document.name], text, earlier)
            if current != text and not self.dry_run and not self.home.write(target, text, current):
                raise InvalidInput(field=target, reason="the page was changed at this moment. Import again.")
        except (Error, OSError) as problem:
            self.tree.refused.append(f"{document.name}: {problem}")
            return
        self.already += current == text
        self.logs += current != text and document.folder == "daily"
        self.articles += current != text and document.folder not in ("daily", "")
        self.written[target] = document
        self.taken[document.name] = {"hash": document.hash, "target": target, "written": due_logs.hash_text(text)}

    def _prepare_text(self, document: MemoriaDocument) -> str:
        text = self.redactor.redact(validate_text(document.name[:80], document.text, _LARGEST))
        if document.folder == "daily":
            text = mark_entries(text, document.name.partition("/")[2])
        text, changed = rewrite_links(text, self._map_link)
        self.links += changed
        return text

    def _map_link(self, name: str) -> str:
        """Return the new target of one of their links."""
        plain = name.strip().removesuffix(".md").removeprefix(f"{KNOWLEDGE}/")
        return self.names.get(plain, plain if name.strip().startswith(f"{KNOWLEDGE}/") else name)

    def _find_target(self, target: str, text: str, earlier: Any) -> tuple[str, str | None]:
        """Return the target of one of their pages and what is there: nothing, the same, or an earlier import."""
        candidate, number = target, 1
        while (current := self.home.read(candidate)) is not None or candidate in self.written:
            if current == text:
                return candidate, current
            if (
                current is not None
                and isinstance(earlier, dict)
                and earlier.get("written") == due_logs.hash_text(current)
            ):
                return candidate, current
            number += 1
            candidate = f"{target}-{_OTHER}" if number == 2 else f"{target}-{_OTHER}-{number - 1}"
        if candidate != target:
            self.kept_both[target] = candidate
        return candidate, None

    def _mark_compiled(self, documents: list[MemoriaDocument]) -> int:
        """Mark unchanged logs as compiled if they were; return how many."""
        ingested = self.tree.read_state("state.json").get("ingested")
        compiled_logs = ingested if isinstance(ingested, dict) else {}
        wiki_state = state.load_state(self.home) if not self.dry_run else {"logs": {}}
        count = 0
        for document in documents:
            day = document.name.removeprefix("daily/")
            facts = compiled_logs.get(f"{day}.md")
            target = self.taken.get(document.name, {}).get("target")
            if target != f"daily/{day}" or not isinstance(facts, dict) or facts.get("hash") != document.hash:
                continue
            count += 1
            if not self.dry_run and day not in wiki_state["logs"] and _DAY.fullmatch(day):
                wiki_state["logs"][day] = self._build_log_state(day, facts)
        if count and not self.dry_run:
            state.write_file(self.home, state.STATE, wiki_state, readable=True)
        return count

    def _build_log_state(self, day: str, facts: dict[str, Any]) -> dict[str, Any]:
        cost = facts.get("cost_usd")
        return {
            "hash": due_logs.hash_text(self.home.read(f"daily/{day}") or ""),
            "compiled_at": str(facts.get("compiled_at", "")),
            "cost": float(cost) if isinstance(cost, int | float) else 0.0,
            "stamp": due_logs.read_stamp(self.home, day),
        }

    def _update_index(self, text: str) -> None:
        """Add the imported pages to the index, with their summaries."""
        summaries = {self._map_link(name): summary.strip() for name, summary in _ROW.findall(text[:_LARGEST])}
        rows = {}
        for target, document in self.written.items():
            if document.folder not in ("daily", "") and not self.dry_run:
                page = article.parse_article(self.home.read(target) or "")
                logs = [source.removesuffix(".md") for source in page.get_list("sources")]
                summary = summaries.get(self.names[document.name]) or page.title
                rows[target] = index_page.format_row(target, summary, logs, page.get("updated") or page.get("created"))
        index_page.write_rows(self.home, rows)


def rewrite_links(text: str, target: Any) -> tuple[str, int]:
    """Rewrite the links of a text, except in code; return it and the number of changes."""
    changed = 0

    def rename_link(match: re.Match[str]) -> str:
        nonlocal changed
        name = match[1]
        new = name if name is None else target(name)
        if new == name:
            return match[0]
        changed += 1
        return f"[[{new}"

    return _LINK.sub(rename_link, text), changed


def mark_entries(text: str, day: str) -> str:
    """Return one of their logs with an entry comment under each heading, as in ours."""

    def add_marker(head: re.Match[str]) -> str:
        number = blake2b(f"{_OTHER} {day} {head.start()} {head[0]}".encode(), digest_size=8).hexdigest()
        return f'{head[0]}<!-- engram entry="{number}" session="" flavor="{_OTHER}" project="" -->\n'

    return _ENTRY.sub(add_marker, text)
