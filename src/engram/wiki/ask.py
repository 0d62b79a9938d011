"""Answer questions from the wiki and everything remembered, with sources; say so if nothing is known."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Annotated

from engram.errors import Error, ModelOff
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform import host
from engram.platform.text import count_tokens, escape_inline, quote_as_data, require_text, to_one_line
from engram.sessions import lifecycle
from engram.sessions.checkouts import find_git_project
from engram.sessions.project_names import name_projects
from engram.wiki.answer import AnswerSource, WikiAnswer
from engram.wiki.direct_answer import BLOCKQUOTE, compose_direct_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from engram.types import Hit
    from engram.wiki.vault.vault import Vault

UNKNOWN = "No answer found in memory."
QUOTES = "quotes"
NOT_DIRECT = "No direct answer. The nearest in memory:"
_QUOTED = 3  # sources named below an answer, and quoted if nothing answers directly
_MAX_HITS = 6  # hits of all tiers
_WIKI_HITS = 3  # wiki pages considered in addition
_LISTS = ("command", "session")  # hits that list all there is
_TITLED = ("episode", "commit")  # hits whose name is a title
_TITLE = 100  # characters
_MAX_PASSAGE_CHARS = 1_800  # characters of a passage in the model's prompt
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
    evidence = _find_evidence(hub, query, project_filter)
    hits = _add_wiki_pages(hub, query, project_filter, evidence)
    if file_back:
        hits = _exclude_own_page(hits, wiki, query)
    sources_with_text = _fit_budget(hub, hits, limit)
    if not sources_with_text:
        return WikiAnswer(question=query, answer=UNKNOWN, known=False, sources=(), made_by="")
    direct = _answer_directly(hub, query, evidence)
    answer = _compose_answer(hub, query, sources_with_text, direct)
    if not (file_back and answer.known):
        return answer
    from engram.wiki.saved_answers import save_answer

    return WikiAnswer(**{**vars(answer), "filed": save_answer(hub, wiki, answer)})


def _find_evidence(hub: Hub, query: str, project: str | None) -> list[Hit]:
    """Return what recall answers, best first; of commands of several projects, the current directory's if it is one."""
    from engram.search.recall import recall

    hits = recall(hub, query, project=project)
    if len(hits) > 1 and hits[0].tier == "command" and not hub.serving:
        here = find_git_project(hub, host.get_working_directory() or "")
        return [hit for hit in hits if hit.project == here] or hits
    return hits


def _answer_directly(hub: Hub, query: str, evidence: list[Hit]) -> str:
    from engram.search.named_project import find_named_project
    from engram.search.query import parse_question
    from engram.search.question_intent import find_file, find_purpose
    from engram.search.recall import parse_asking_time

    question = parse_question(query, parse_asking_time(hub, None))
    named = find_named_project(hub, query)[1]
    if find_purpose(question, (named,)) and evidence and evidence[0].tier != "command":
        return ""  # what was said about it is not the command
    asks_for_file = bool(find_file(question))
    asked = query.replace(named, " ") if named else query
    return compose_direct_answer(asked, evidence, name_projects(hub), _cite_hit, asks_for_file=asks_for_file)


def _cite_hit(hit: Hit) -> str:
    """Return the day and the source of a hit, and that it was superseded if so."""
    source = _source_from_hit(hit)
    day = source.day if hit.tier != "article" else ""
    return ", ".join(filter(None, (day, source.shown, "superseded since" if hit.state == "superseded" else "")))


def _add_wiki_pages(hub: Hub, query: str, project: str | None, evidence: list[Hit]) -> list[Hit]:
    """Return the hits with wiki pages and daily logs; an answer that is a list needs none."""
    from engram.search.recall import recall

    if evidence and evidence[0].tier in _LISTS:
        return evidence
    pages = recall(hub, query, _WIKI_HITS, tiers=["article"])
    pages += recall(hub, query, _WIKI_HITS, project=project, tiers=["daily"]) if project else []
    return list({(hit.tier, hit.id): hit for hit in [*evidence, *pages]}.values())[:_MAX_HITS]


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

    if hit.tier in _LISTS:
        return hit.snippet
    with suppress(Error):  # deleted meanwhile
        content = get_hit(hub, hit.id, 0).content
        return content if len(content) <= _MAX_PASSAGE_CHARS else hit.snippet
    return hit.snippet


def _source_from_hit(hit: Hit) -> AnswerSource:
    target = (hit.name or "").partition("#")[0] if hit.tier in _WIKI_TIERS else ""
    day = hit.at.date().isoformat() if hit.at else ""
    title = hit.name if hit.tier in _TITLED else hit.summary
    return AnswerSource(
        id=hit.id, tier=hit.tier, target=target, session_id=hit.session_id, day=day, name=hit.name or "",
        title="" if target else to_one_line(title, _TITLE),
    )  # fmt: skip


def _compose_answer(
    hub: Hub, query: str, sources_with_text: list[tuple[AnswerSource, str]], direct: str
) -> WikiAnswer:  # fmt: skip
    """Let the model answer, if one is configured; otherwise, or if it fails, answer directly or quote the passages."""
    problem = ""
    try:
        return _ask_model(hub, query, sources_with_text)
    except ModelOff:
        pass
    except Error as error:
        problem = str(error)
    is_list = sources_with_text[0][0].tier in _LISTS
    shown = sources_with_text if is_list else sources_with_text[:_QUOTED]
    quotes = [
        f"- {_format_heading(source)}:\n{quote_as_data(unlink_unknown(text), BLOCKQUOTE)}" for source, text in shown
    ]
    pages = {source.target for source, _ in shown if source.target}
    answer = unlink_unknown(direct, pages.__contains__) or "\n\n".join([NOT_DIRECT, *quotes])
    sources = _unique_sources([source for source, _ in shown])
    return WikiAnswer(
        question=query, answer=answer, known=True, sources=sources, made_by=QUOTES, problem=problem
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
    from engram.summaries.grounding import keep_grounded
    from engram.summaries.summary_model import load_prompt

    if hub.settings.model in ("", "none"):
        raise ModelOff(place="")
    passages = [
        f"[{n}] {source.tier}{_format_day(source)}\n{text}" for n, (source, text) in enumerate(sources_with_text, 1)
    ]
    template, version = load_prompt("ask")
    data = quote_as_data("\n\n".join([f"QUESTION\n{query}", "PASSAGES", *passages]))
    reply = complete(hub, template.replace("{data}", data), purpose="ask", schema=_SCHEMA)
    answer = redact_nested(reply.data, load_hub_redactor(hub))
    answer["answer"] = keep_grounded(answer["answer"], data).text
    return verify_answer(
        query, answer, [source for source, _ in sources_with_text],
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
