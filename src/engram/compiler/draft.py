"""What a model makes of entries: asked with what is relevant only, and checked until nothing but articles is left.

It sees the new entries, rows of the index and a few articles, never the whole vault, so that a log costs the same
whatever else was written. Its answer is data of a fixed shape; names, links and ids in it are checked against what is
there, and it can ask for nothing but pages.
"""

from __future__ import annotations

import re
from typing import Any

from engram import text
from engram.compiler.pages import laid_out
from engram.compiler.said import said
from engram.compiler.topics import goal, place
from engram.hub import Hub
from engram.value import value
from engram.vault import article, findable, state
from engram.vault.article import Section
from engram.vault.daily_log import Entry
from engram.vault.links import link, slug
from engram.vault.merge import Known, fingerprint
from engram.vault.vault import Vault
from engram.vault.writes import Write, known

_SHOWN = 8  # articles in full
_ROWS = 24  # rows of the index
_OF_ONE = 1_500  # tokens of one article
_ENTRIES = 12_000  # tokens of all entries of one question
_ASKED = 2_000  # characters recall is asked with
_MOST = 12  # articles of one answer
_OURS = ("Related Concepts", "Sources")  # sections we write ourselves

_TEXT = {"type": "string", "maxLength": 200}
_LIST = {"type": "array", "items": _TEXT}
_PARTS: dict[str, Any] = {
    "action": {"type": "string", "enum": ["create", "update"]}, "page": _TEXT,
    "folder": {"type": "string", "enum": ["concepts", "connections"]}, "title": _TEXT, "aliases": _LIST, "tags": _LIST,
    "summary": {"type": "string", "maxLength": 600},
    "sections": {"type": "array", "items": {
        "type": "object", "properties": {"heading": _TEXT, "body": {"type": "string", "maxLength": 12_000}},
        "required": ["heading", "body"], "additionalProperties": False,
    }},
    "links": _LIST, "entry_ids": _LIST,
}  # fmt: skip
SCHEMA: dict[str, Any] = {
    "type": "object", "required": ["articles"], "additionalProperties": False,
    "properties": {"articles": {"type": "array", "items": {
        "type": "object", "properties": _PARTS, "required": list(_PARTS), "additionalProperties": False,
    }}},
}  # fmt: skip


@value
class Drafted:
    """What a model proposed for a log, and what asking took."""

    writes: list[Write]
    dropped: int  # articles that could not be taken
    cost: float
    tokens: int


def drafted(hub: Hub, vault: Vault, entries: list[Entry], today: str, coming: dict[str, list[str]]) -> Drafted:
    """Ask the model what entries add to the wiki, as often as they need; every answer is checked.

    What is coming are pages that will be there as well, by the entries they are made of.
    """
    found: dict[str, Write] = {}
    dropped, cost, tokens = 0, 0.0, 0
    for some in _portions(entries):
        shown = findable.relevant(hub, _about(some), _ROWS)
        answer, made_by = _answer(hub, vault, some, shown)
        taken = _Answer(vault, some, shown[:_SHOWN], coming, made_by, today, answer.data)
        found |= {each.target: each for each in taken.writes()}
        dropped += taken.dropped
        cost, tokens = cost + (answer.cost or 0.0), tokens + _tokens(answer)
    return Drafted(writes=list(found.values()), dropped=dropped, cost=cost, tokens=tokens)


def _answer(hub: Hub, vault: Vault, entries: list[Entry], shown: list[str]) -> tuple[Any, str]:
    from engram.capture.batch import cleaned
    from engram.llm.complete import complete
    from engram.memory.thinker import prompt
    from engram.redaction.removal import redactor

    words, version = prompt("compile")
    asked = words.replace("{data}", text.quote(_data(vault, entries, shown)))
    answer = complete(hub, asked, purpose="compile", schema=SCHEMA)
    answer.data["articles"] = cleaned(answer.data["articles"], redactor(hub))
    return answer, f"model:{answer.provider}/{answer.model}, prompt compile@{version}"


def _tokens(answer: Any) -> int:
    return sum(getattr(answer, part) for part in ("input", "output", "cache_read", "cache_write"))


def _portions(entries: list[Entry]) -> list[list[Entry]]:
    """Return entries in portions that fit a question."""
    found: list[list[Entry]] = [[]]
    room = _ENTRIES
    for each in entries:
        size = min(text.tokens(each.content), _ENTRIES)
        if found[-1] and size > room:
            found.append([])
            room = _ENTRIES
        found[-1].append(each)
        room -= size
    return [each for each in found if each]


def _about(entries: list[Entry]) -> str:
    """Return the words by which articles are looked for."""
    lines = []
    for each in entries:
        parts = said(each.content)
        lines += [goal(parts), *parts.get("decided", ())[:2], *parts.get("changed", ())[:3]]
    share = _ASKED // max(1, len(lines))
    return "\n".join(line[: max(share, 40)] for line in lines if line)[:_ASKED]


def _data(vault: Vault, entries: list[Entry], shown: list[str]) -> str:
    parts = ["ENTRIES"]
    parts += [f"entry {each.id} of {each.day}, {each.flavor} in {each.project or 'no project'}:\n"
              f"{text.cut(each.content, _ENTRIES)}" for each in entries]  # fmt: skip
    parts += ["INDEX", *(_row(vault, each) for each in shown)]
    for each in shown[:_SHOWN]:
        parts.append(f"ARTICLE {each}\n{text.cut(vault.read(each) or '', _OF_ONE)}")
    return "\n\n".join(parts)


def _row(vault: Vault, target: str) -> str:
    kept = state.page(vault, target) or {}
    title = kept.get("title") or article.read(vault.read(target) or "").title
    return text.one_line(f"{target} | {title} | {kept.get('summary', '')}", 300)


class _Answer:
    """The articles of one answer, taken as far as they hold."""

    def __init__(
        self, vault: Vault, entries: list[Entry], shown: list[str], coming: dict[str, list[str]], made_by: str,
        today: str, data: Any,
    ) -> None:  # fmt: skip
        self.vault, self.shown, self.made_by, self.today = vault, set(shown), made_by, today
        self.entries = {each.id: each for each in entries}
        self.coming = coming
        self.articles: list[dict[str, Any]] = data["articles"]
        self.targets = {place: self._target(each) for place, each in enumerate(self.articles[:_MOST])}
        self.dropped = len(self.articles) - len(set(self.targets.values()) - {""})

    def writes(self) -> list[Write]:
        """Return the pages that can be written."""
        found = {target: self._write(target, self.articles[place]) for place, target in self.targets.items() if target}
        return list(found.values())

    def _target(self, given: dict[str, Any]) -> str:
        """Return the page an article is meant for, or nothing if it rests on no entry or has no name."""
        if not any(each in self.entries for each in given["entry_ids"]) or not (given["sections"] or given["summary"]):
            return ""
        named: str = given["page"].strip().removesuffix(".md")
        if given["action"] == "update" and named in self.shown:
            return named
        name = slug(given["title"])
        return self.vault.named(given["folder"], name) if name else ""

    def _write(self, target: str, given: dict[str, Any]) -> Write:
        kept, disk = state.page(self.vault, target), self.vault.read(target)
        before = article.read(disk or "")
        replaces = target in self.shown and not (kept or {}).get("made_by", "").startswith("model:")
        base = [] if replaces else _still_ours(before, known(kept))
        sources = [self.entries[each] for each in dict.fromkeys(given["entry_ids"]) if each in self.entries]
        logs = tuple(dict.fromkeys([*(f"daily/{each.day}" for each in sources), *before.list("sources")]))
        title = _line(given["title"]) if not before.title else before.title
        summary = self._prose(given["summary"]).replace("\n", " ")
        page = laid_out(
            self._front(target, given, before, title, logs),
            f"# {text.inline(title, 120)}\n\n{summary}", self._sections(target, given, base, before, sources),
        )  # fmt: skip
        record = {
            "kind": "model", "key": f"model {target}", "evidence": [], "older": {}, "related": {}, "project": "",
            **(kept or {}), "title": title, "summary": text.one_line(summary, 200), "last": self.today,
        }  # fmt: skip
        return Write(
            target=target, text=page, made_by=self.made_by, summary=text.one_line(summary, 200), sources=logs,
            record=record,
        )  # fmt: skip

    def _front(self, target: str, given: dict[str, Any], before: Any, title: str, logs: tuple[str, ...]) -> Any:
        lists = {
            name: tuple(dict.fromkeys([*before.list(name), *filter(None, map(_line, given[name][:8]))]))
            for name in ("aliases", "tags")
        }  # fmt: skip
        ends = [each for each in map(self._page, given["links"]) if each] if target.startswith("connections/") else []
        connects = (("connects", tuple(dict.fromkeys(ends))),) if ends else ()
        return (
            ("title", title), *lists.items(), *connects, ("sources", logs),
            ("created", before.get("created") or self.today), ("updated", self.today),
        )  # fmt: skip

    def _sections(
        self, target: str, given: dict[str, Any], base: list[Section], before: Any, sources: list[Entry]
    ) -> list[tuple[str, list[str]]]:  # fmt: skip
        found = {each.heading: each.body.strip("\n").split("\n") for each in base if each.heading not in ("", *_OURS)}
        for each in given["sections"]:
            heading = _line(each["heading"]).lstrip("# ")
            if heading and heading not in _OURS:
                found[heading] = self._prose(each["body"]).split("\n")
        related = [*self._related(target, given), *_lines_of(before, _OURS[0])]
        rests = [f"- {link(place(each), f'{each.day} {each.flavor}')}: {_claim(each)}" for each in sources]
        lists = ((_OURS[0], related), (_OURS[1], [*rests, *_lines_of(before, _OURS[1])]))
        return [*found.items(), *((name, list(dict.fromkeys(lines))[:40]) for name, lines in lists)]

    def _related(self, target: str, given: dict[str, Any]) -> list[str]:
        of_entries = [page for each in given["entry_ids"] for page in self.coming.get(each, ())]
        found = [each for each in (*map(self._page, given["links"]), *of_entries) if each and each != target]
        return [f"- {link(each)}" for each in dict.fromkeys(found)]

    def _page(self, named: str) -> str:
        """Return the page a model means by a name, if there is one or will be; nothing else is linked."""
        plain = re.sub(r"^\[\[|\]\]$", "", named.strip()).partition("|")[0].partition("#")[0].removesuffix(".md")
        options = [plain, *(f"{folder}/{slug(plain)}" for folder in ("concepts", "connections", "qa"))]
        for each in options:
            if (
                each in self.targets.values()
                or any(each in pages for pages in self.coming.values())
                or (_is_page(each) and self._exists(each))
            ):
                return each
        return ""

    def _exists(self, target: str) -> bool:
        from engram.errors import InvalidInput

        try:
            return self.vault.read(target) is not None
        except InvalidInput:
            return False

    def _prose(self, given: str) -> str:
        """Return a text of a model that stays within its section and leads nowhere but to pages that are there."""
        plain = text.clean("answer", given, text.PAGE).replace("<!--", "‹!--").replace("\t", "    ").strip()
        plain = re.sub(r"(?m)^(\s*)#{1,2}(?= )", r"\1###", plain)
        plain = re.sub(r"(?m)^(---|\.\.\.)\s*$", "***", plain)
        plain = re.sub(r"!(?=\[)", "", plain)  # nothing is fetched when a page is opened
        plain = re.sub(r"(?i)<(?=/?(?:script|iframe|img|object|embed|style|link|meta|svg)\b)", "‹", plain)
        return re.sub(r"\[\[([^\]\n]*)\]\]", lambda found: self._linked(found[1]), plain)

    def _linked(self, inner: str) -> str:
        target, _, shown = inner.partition("|")
        page = self._page(target)
        if page or (target.startswith("daily/") and target.partition("#")[0] in self._logs()):
            return link(page or target.partition("#")[0], shown)
        return text.inline(shown or target, 120).replace("[", "").replace("]", "")

    def _logs(self) -> set[str]:
        return {f"daily/{each.day}" for each in self.entries.values()}


def _still_ours(page: Any, ours: Known) -> list[Section]:
    """Return the sections that say what we last wrote: only these can be ours again."""
    return [each for each in page.sections if ours.sections.get(each.heading) == fingerprint(each.body)]


def _lines_of(page: Any, heading: str) -> list[str]:
    return [line for line in page.section(heading).splitlines() if line.startswith("- ")]


def _claim(entry: Entry) -> str:
    return f"“{text.inline(goal(said(entry.content)), 160)}”"


def _line(given: str) -> str:
    return text.inline(text.clean("answer", given), 120).replace("[", "(").replace("]", ")").strip()


def _is_page(target: str) -> bool:
    return target.partition("/")[0] in ("concepts", "connections", "qa")
