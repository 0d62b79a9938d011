"""Take over a wiki of memoria: logs, articles, index, build log, what it had compiled and could not flush.

Nothing of ours is overwritten: where both have a page of one name and say different things, both are kept. What was
taken over once is not taken again, whatever became of it here.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Annotated, Any

from engram.errors import Error, ImportRefused, InvalidInput
from engram.hub import Hub
from engram.operation import Help, operation
from engram.text import PAGE, clean, one_line
from engram.value import value
from engram.vault import article, gate, index, state
from engram.vault.links import slug
from engram.vault.vault import FOLDERS, Vault
from engram.wiki.memoria_tree import KNOWLEDGE, Document, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.redaction.redactor import Redactor

_TAKEN = "imports.json"
_OTHER = "memoria"  # what a page of theirs is called besides, where ours has its name
_LARGEST = 4 * PAGE
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_LINK = re.compile(r"(?ms)^(?:```|~~~).*?^(?:```|~~~)[^\n]*$|`[^`\n]*`|\[\[([^\[\]\n|#]+)")
_ENTRY = re.compile(r"(?m)^### [^\n]*\n(?!\s*(?:<!-- engram |FLUSH_OK\b))")  # that word: nothing was worth saving
_ROW = re.compile(r"(?m)^\|[ \t]*\[\[([^\[\]|#\\\n]+)(?:\\?\|[^\[\]\n]*)?\]\][ \t]*\|([^|\n]*)\|")


@value
class Adopted:
    """What the import of a wiki took over."""

    source: str
    logs: int
    articles: int
    already_here: int
    kept_both: dict[str, str]  # pages of ours, and what theirs of the same name is called now
    links: int  # that were rewritten to fit
    compiled: int  # logs that count as compiled, as they did there
    refused: tuple[str, ...]  # files that were left, and why
    redacted: dict[str, int]
    contexts: int = 0  # conversations it could not flush, which are entries now
    last_flush: str = ""  # the session it flushed last
    dry_run: bool = False


@operation(writes=True, agent=False)
def import_memoria(
    hub: Hub,
    path: Annotated[str, Help("the directory of memoria or claude-memory-compiler: with daily/ and knowledge/")],
    dry_run: Annotated[bool, Help("only tell what would be taken over")] = False,
) -> Adopted:
    """Take over a wiki of memoria or claude-memory-compiler: logs, articles, index, log; again for what is new."""
    from engram.redaction.removal import redactor
    from engram.vault import sync, vault

    home, tree = vault.of(hub), Tree(clean("path", path))
    if tree.root == home.root:
        raise ImportRefused(path=path, reason="it is the wiki itself.")
    run = _Import(home, tree, redactor(hub, make=not dry_run), dry_run)
    if dry_run:
        return _with_contexts(hub, tree, run.carried_out())
    with home.alone():
        found = run.carried_out()
    sync.sync(hub, home)
    return _with_contexts(hub, tree, found)


def _with_contexts(hub: Hub, tree: Tree, found: Adopted) -> Adopted:
    """Take in the conversations memoria could not flush, and say how many were new; their files stay."""
    from engram.store import entries
    from engram.wiki.context_file import read_context_file, remember_context
    from engram.wiki.flush import flush_these

    counts, known = 0, 0
    for path in tree.contexts():
        each = read_context_file(path)
        session_id, new = remember_context(hub, each, each.session, dry_run=found.dry_run)
        counts, known = counts + bool(new), known + (not new)
        if new and not found.dry_run:
            flush_these(hub, entries.due(hub.engine, 1 << 62, session_id))
    return Adopted(**{**vars(found), "contexts": counts, "already_here": found.already_here + known})


class _Import:
    """One import, from reading to the report."""

    def __init__(self, home: Vault, tree: Tree, redactor: Redactor, dry_run: bool) -> None:
        self.home, self.tree, self.redactor, self.dry_run = home, tree, redactor, dry_run
        kept = state.read(home, _TAKEN).get("taken", {})
        self.taken: dict[str, Any] = kept if isinstance(kept, dict) else {}
        self.names: dict[str, str] = {}  # what a page was called there, and is called here
        self.kept_both: dict[str, str] = {}
        self.logs = self.articles = self.already = self.links = 0
        self.written: dict[str, Document] = {}

    def carried_out(self) -> Adopted:
        """Take over all there is."""
        documents = list(self.tree.documents())
        for each in documents:
            self._name(each)
        for each in documents:
            if each.name in self.names:
                self._take(each)
        compiled = self._compiled(documents)
        self._list(next((each.text for each in documents if each.name == index.INDEX), ""))
        flushed = self.tree.state("last-flush.json")
        if not self.dry_run and self.written:
            state.write(self.home, _TAKEN, {"taken": self.taken, "last_flush": flushed}, readable=True)
        return Adopted(
            source=self.tree.root, logs=self.logs, articles=self.articles, already_here=self.already,
            kept_both=self.kept_both, links=self.links, compiled=compiled, refused=tuple(self.tree.refused),
            redacted=dict(self.redactor.found), last_flush=one_line(str(flushed.get("session_id") or ""), 200),
            dry_run=self.dry_run,
        )  # fmt: skip

    def _name(self, each: Document) -> None:
        """Find out what a page is to be called here."""
        if each.name == index.INDEX:
            return
        wanted = each.name if each.folder in (*FOLDERS, "") else f"concepts/{each.name}"
        try:
            target = self._allowed(wanted)
        except InvalidInput:
            self.tree.refused.append(f"{each.name}: its name can be none of ours")
            return
        before = self.taken.get(each.name)
        taken = before.get("target") if isinstance(before, dict) else None
        self.names[each.name] = taken if isinstance(taken, str) else target

    def _allowed(self, name: str) -> str:
        """Return a name the vault takes; parts it does not take are spelt plainly."""
        try:
            self.home.path(name)
        except InvalidInput:
            name = "/".join(slug(part) for part in name.split("/"))
            self.home.path(name)
        return name

    def _take(self, each: Document) -> None:
        """Write one page here, unless it was before."""
        before = self.taken.get(each.name)
        if isinstance(before, dict) and before.get("hash") == each.hash:
            self.already += 1
            return
        try:
            text = self._text(each)
            target, seen = self._place(self.names[each.name], text, before)
            if seen != text and not self.dry_run and not self.home.write(target, text, seen):
                raise InvalidInput(field=target, reason="somebody wrote it this very moment; import again.")
        except (Error, OSError) as problem:
            self.tree.refused.append(f"{each.name}: {problem}")
            return
        self.already += seen == text
        self.logs += seen != text and each.folder == "daily"
        self.articles += seen != text and each.folder not in ("daily", "")
        self.written[target] = each
        self.taken[each.name] = {"hash": each.hash, "target": target, "written": gate.digest(text)}

    def _text(self, each: Document) -> str:
        text = self.redactor.clean(clean(each.name[:80], each.text, _LARGEST))
        if each.folder == "daily":
            text = known_entries(text, each.name.partition("/")[2])
        text, changed = relinked(text, self._target)
        self.links += changed
        return text

    def _target(self, name: str) -> str:
        """Return what a link of theirs is to say here."""
        plain = name.strip().removesuffix(".md").removeprefix(f"{KNOWLEDGE}/")
        return self.names.get(plain, plain if name.strip().startswith(f"{KNOWLEDGE}/") else name)

    def _place(self, target: str, text: str, before: Any) -> tuple[str, str | None]:
        """Return where a page of theirs goes and what is there: nothing, the same, or what an earlier import wrote."""
        wanted, number = target, 1
        while (held := self.home.read(wanted)) is not None or wanted in self.written:
            if held == text:
                return wanted, held
            if held is not None and isinstance(before, dict) and before.get("written") == gate.digest(held):
                return wanted, held
            number += 1
            wanted = f"{target}-{_OTHER}" if number == 2 else f"{target}-{_OTHER}-{number - 1}"
        if wanted != target:
            self.kept_both[target] = wanted
        return wanted, None

    def _compiled(self, documents: list[Document]) -> int:
        """Let those logs count as compiled that were, as they are; return how many."""
        ingested = self.tree.state("state.json").get("ingested")
        known = ingested if isinstance(ingested, dict) else {}
        held = state.load(self.home) if not self.dry_run else {"logs": {}}
        count = 0
        for each in documents:
            day = each.name.removeprefix("daily/")
            facts = known.get(f"{day}.md")
            target = self.taken.get(each.name, {}).get("target")
            if target != f"daily/{day}" or not isinstance(facts, dict) or facts.get("hash") != each.hash:
                continue
            count += 1
            if not self.dry_run and day not in held["logs"] and _DAY.fullmatch(day):
                held["logs"][day] = self._log(day, facts)
        if count and not self.dry_run:
            state.write(self.home, state.STATE, held, readable=True)
        return count

    def _log(self, day: str, facts: dict[str, Any]) -> dict[str, Any]:
        cost = facts.get("cost_usd")
        return {
            "hash": gate.digest(self.home.read(f"daily/{day}") or ""), "compiled_at": str(facts.get("compiled_at", "")),
            "cost": float(cost) if isinstance(cost, int | float) else 0.0, "stamp": gate.stamp(self.home, day),
        }  # fmt: skip

    def _list(self, text: str) -> None:
        """Let the index list what was taken over, with what theirs said of it."""
        told = {self._target(name): said.strip() for name, said in _ROW.findall(text[:_LARGEST])}
        rows = {}
        for target, each in self.written.items():
            if each.folder not in ("daily", "") and not self.dry_run:
                page = article.read(self.home.read(target) or "")
                logs = [source.removesuffix(".md") for source in page.list("sources")]
                said = told.get(self.names[each.name]) or page.title
                rows[target] = index.row(target, said, logs, page.get("updated") or page.get("created"))
        index.add_rows(self.home, rows)


def relinked(text: str, target: Any) -> tuple[str, int]:
    """Return a text whose links say what they are to say here, and how many changed; code stays as it is."""
    changed = 0

    def renamed(found: re.Match[str]) -> str:
        nonlocal changed
        name = found[1]
        new = name if name is None else target(name)
        if new == name:
            return found[0]
        changed += 1
        return f"[[{new}"

    return _LINK.sub(renamed, text), changed


def known_entries(text: str, day: str) -> str:
    """Return a log of theirs whose entries are known by a comment, as ours are."""

    def marked(head: re.Match[str]) -> str:
        number = blake2b(f"{_OTHER} {day} {head.start()} {head[0]}".encode(), digest_size=8).hexdigest()
        return f'{head[0]}<!-- engram entry="{number}" session="" flavor="{_OTHER}" project="" -->\n'

    return _ENTRY.sub(marked, text)
