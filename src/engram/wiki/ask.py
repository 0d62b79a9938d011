"""Answer questions from the wiki and everything remembered, with sources; say so if nothing is known."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Annotated

from engram.errors import Error, ModelOff
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.text import count_tokens, escape_inline, quote_as_data, require_text
from engram.sessions import lifecycle
from engram.wiki.answer import AnswerSource, WikiAnswer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from engram.types import Hit
    from engram.wiki.vault.vault import Vault

UNKNOWN = "No answer found in memory."
QUOTES = "quotes"
_MAX_HITS = 6  # hits of all tiers
_WIKI_HITS = 6  # wiki pages considered in addition, even if other hits score higher
_MAX_PASSAGE_CHARS = 1_800  # characters of a passage in the model's prompt
_BLOCKQUOTE = ">"  # people read an answer as Markdown
_WIKI_TIERS = ("article", "daily")
_LINK = re.compile(r"!?\[\[([^\[\]\n]*)\]\]")
_CITATION = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
_SCHEMA = {
    "type": "object", "additionalProperties": False, "required": ["known", "answer", "cited", "follow_up"],
    "properties": {
        "known": {"type": "boolean"}, "answer": {"type": "string", "maxLength": 8000},
        "cited": {"type": "array", "items": {"type": "integer"}},
        "follow_up": {"type": "array", "items": {"type": "string", "maxLength": 300}},
    },
}  # fmt: skip


@operation(writes=True)
def ask(
    hub: Hub,
    question: Annotated[str, Help("question in plain words")],
    file_back: Annotated[bool, Help("save the answer as a wiki page in qa/")] = False,
    project: Annotated[str | None, Help("only sessions in this project; articles are always searched")] = None,
    budget: Annotated[int, Help("maximum number of tokens of passages to use")] = 1500,
) -> WikiAnswer:
    """Answer a question from the wiki and everything remembered, with sources; say so if nothing is known."""
    from engram.wiki.vault import sync, vault

    query = require_text("question", question, "Example: engram ask why did we drop redis").strip()
    limit, project_filter = lifecycle.require_positive("budget", budget), lifecycle.parse_project_filter(project)
    wiki = vault.open_vault(hub)
    sync.sync_pages(hub, wiki)
    hits = _search_sources(hub, query, project_filter)
    if file_back:
        hits = _exclude_own_page(hits, wiki, query)
    sources_with_text = _fit_budget(hub, hits, limit)
    if not sources_with_text:
        return WikiAnswer(question=query, answer=UNKNOWN, known=False, sources=(), made_by="")
    answer = _compose_answer(hub, query, sources_with_text)
    if not (file_back and answer.known):
        return answer
    from engram.wiki.saved_answers import save_answer

    return WikiAnswer(**{**vars(answer), "filed": save_answer(hub, wiki, answer)})


def _search_sources(hub: Hub, query: str, project: str | None) -> list[Hit]:
    """Return hits for a question, best first, always including wiki pages."""
    from engram.index.doc_kinds import TIERS
    from engram.search.recall import recall

    other_tiers = [tier for tier in TIERS if tier not in ("event", "article")]
    hits = recall(hub, query, _MAX_HITS, project=project, tiers=other_tiers)
    hits += recall(hub, query, _WIKI_HITS, tiers=["article"])
    hits += recall(hub, query, _WIKI_HITS, project=project, tiers=["daily"]) if project else []
    return sorted({hit.id: hit for hit in hits}.values(), key=lambda hit: -hit.score)[:_MAX_HITS]


def _exclude_own_page(hits: list[Hit], wiki: Vault, query: str) -> list[Hit]:
    """Drop the page this answer will be saved to: an answer is not its own source."""
    from engram.wiki.saved_answers import find_answer_page

    own_page = find_answer_page(wiki, query)
    return [hit for hit in hits if hit.name != own_page] or hits


def _fit_budget(hub: Hub, hits: list[Hit], budget: int) -> list[tuple[AnswerSource, str]]:
    """Return the hits that fit a token budget with their sources; always at least the best, shortened if needed."""
    chosen: list[tuple[AnswerSource, str]] = []
    for hit in hits:
        text = _read_hit_text(hub, hit)
        cost = count_tokens(text) + 24  # its number, source and day
        if cost > budget and not chosen:
            text, cost = text[: max(budget, 1) * 3], budget
        if cost <= budget:
            chosen.append((_source_from_hit(hit), text))
            budget -= cost
    return chosen


def _read_hit_text(hub: Hub, hit: Hit) -> str:
    """Return the text of a hit, or the part around the searched words if it is too long."""
    from engram.search.get import get_hit

    with suppress(Error):  # deleted meanwhile
        content = get_hit(hub, hit.id, 0).content
        return content if len(content) <= _MAX_PASSAGE_CHARS else hit.snippet
    return hit.snippet


def _source_from_hit(hit: Hit) -> AnswerSource:
    target = (hit.name or "").partition("#")[0] if hit.tier in _WIKI_TIERS else ""
    day = hit.at.date().isoformat() if hit.at else ""
    return AnswerSource(
        id=hit.id, tier=hit.tier, target=target, session_id=hit.session_id, day=day, name=hit.name or ""
    )


def _compose_answer(hub: Hub, query: str, sources_with_text: list[tuple[AnswerSource, str]]) -> WikiAnswer:
    """Let the model answer, if one is configured; otherwise, or if it fails, quote the passages."""
    problem = ""
    try:
        return _ask_model(hub, query, sources_with_text)
    except ModelOff:
        pass
    except Error as error:
        problem = str(error)
    quotes = [
        f"- {_format_heading(source)}:\n{quote_as_data(unlink_unknown(text), _BLOCKQUOTE)}"
        for source, text in sources_with_text
    ]
    sources = _unique_sources([source for source, _ in sources_with_text])
    return WikiAnswer(
        question=query, answer="\n\n".join(quotes), known=True, sources=sources, made_by=QUOTES, problem=problem
    )  # fmt: skip


def _format_heading(source: AnswerSource) -> str:
    """Return a source with its tier, unless its name includes it, and its day."""
    if source.target or source.session_id:
        return f"{source.shown}, {source.tier}{_format_day(source)}"
    return ", ".join(filter(None, (source.shown, source.day)))


def _format_day(source: AnswerSource) -> str:
    return f" of {source.day}" if source.day and source.tier != "article" else ""


def _ask_model(hub: Hub, query: str, sources_with_text: list[tuple[AnswerSource, str]]) -> WikiAnswer:
    from engram.capture.batch import redact_nested
    from engram.models.complete import complete
    from engram.redaction.store_redactor import load_hub_redactor
    from engram.summaries.summary_model import load_prompt

    if hub.settings.model in ("", "none"):
        raise ModelOff(place="")
    passages = [
        f"[{n}] {source.tier}{_format_day(source)}\n{text}" for n, (source, text) in enumerate(sources_with_text, 1)
    ]
    template, version = load_prompt("ask")
    data = quote_as_data("\n\n".join([f"QUESTION\n{query}", "PASSAGES", *passages]))
    reply = complete(hub, template.replace("{data}", data), purpose="ask", schema=_SCHEMA)
    return verify_answer(
        query, redact_nested(reply.data, load_hub_redactor(hub)), [source for source, _ in sources_with_text],
        f"model:{reply.provider}/{reply.model}, prompt ask@{version}",
    )  # fmt: skip


def verify_answer(query: str, reply: dict[str, Any], candidates: list[AnswerSource], made_by: str) -> WikiAnswer:
    """Check the citations of a model's answer against its passages; return None without a valid one."""
    sources_by_number = dict(enumerate(candidates, 1))
    answer = reply["answer"].strip()
    numbers = [*reply["cited"], *(int(n) for mark in _CITATION.findall(answer) for n in mark.split(","))]
    cited = [number for number in dict.fromkeys(numbers) if number in sources_by_number]
    if not (reply["known"] and answer and cited):
        return WikiAnswer(question=query, answer=UNKNOWN, known=False, sources=(), made_by=made_by)
    pages = {source.target for source in candidates if source.target}
    text = _CITATION.sub(
        lambda mark: _format_citation(mark[1], sources_by_number), unlink_unknown(answer, pages.__contains__)
    )
    sources = _unique_sources([sources_by_number[number] for number in cited])
    follow_up = tuple(
        unlink_unknown(escape_inline(question, 300)) for question in reply["follow_up"][:5] if question.strip()
    )
    return WikiAnswer(question=query, answer=text, known=True, sources=sources, made_by=made_by, follow_up=follow_up)


def _unique_sources(sources: list[AnswerSource]) -> tuple[AnswerSource, ...]:
    """Remove sources that are cited in the same way."""
    return tuple({source.shown: source for source in reversed(sources)}.values())[::-1]


def _format_citation(numbers: str, sources_by_number: dict[int, AnswerSource]) -> str:
    cited = [sources_by_number[int(item)] for item in numbers.split(",") if int(item) in sources_by_number]
    return f"({', '.join(dict.fromkeys(item.shown for item in cited))})" if cited else ""


def unlink_unknown(text: str, is_known: Callable[[str], bool] = lambda _: False) -> str:
    """Turn links to unknown pages into plain text."""

    def replace_link(match: re.Match[str]) -> str:
        target = re.split(r"[|#]", match[1])[0].strip().removesuffix(".md")
        return match[0] if is_known(target) else f"⟦{match[1]}⟧"

    return _LINK.sub(replace_link, text)
