"""Context for an agent: the most useful memories of all tiers, within a token budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.text import PAGE, count_tokens, escape_inline, quote_as_data, validate_text
from engram.platform.value import value
from engram.search.briefing import ASKED, Context, build_briefing, choose_shell_command
from engram.search.recall import parse_asking_time, record_shown, resolve_session
from engram.sessions import lifecycle
from engram.types import Hit

HITS = 6  # hits searched for; the relevant ones are shown
# Memories injected without a request must be clearly relevant. Measured by `benchmarks/recall --only unasked`: 66 % of
# the questions with a remembered answer get one, all but one from the right session; 2 to 7 % of unrelated prompts get
# something, and 1 % of prompts such as "fix the failing test". Without word rarity it was every second one.
_NEAR, _RARE = 0.8, 1.8
_TOLD = 0.4  # share of the prompt's words in one sentence, for an agent's message: most of those answer nothing
_NARRATED = 0.6  # worth of an agent's message, relative to a user's message or a summary
_WORDS = 3  # shorter prompts are not searched


@value
class ContextPiece:
    """A memory that may be shown, with its worth."""

    title: str
    body: str
    worth: float
    source: str

    @property
    def text(self) -> str:
        """The rendered text."""
        return f"- {escape_inline(self.title, 160)} [{escape_inline(self.source, 80)}]\n{quote_as_data(self.body)}"

    @property
    def tokens(self) -> int:
        """The number of tokens it takes."""
        return count_tokens(self.text) + 1


@operation()
def context(
    hub: Hub,
    prompt: Annotated[
        str | None, Help("the prompt given to the agent; omit it for the briefing of a starting session")
    ] = None,
    session_id: Annotated[str | None, Help("the session that receives the context")] = None,
    project: Annotated[str | None, Help("project the session works in")] = None,
    budget: Annotated[int, Help("maximum number of tokens")] = 1500,
) -> Context:
    """Collect what helps a session now from everything remembered, best first, within a token budget."""
    limit = lifecycle.require_positive("budget", budget)
    project_filter = lifecycle.parse_project_filter(project)
    clean_prompt = validate_text("prompt", prompt, PAGE) if prompt else ""
    if prompt is None:
        return build_briefing(hub, session_id, project_filter, limit)
    hits = [*_find_hits(hub, clean_prompt, session_id, project_filter)]
    rest = _REST.format(command=choose_shell_command(hub))
    result = _build_context([_piece_from_hit(hit) for hit in hits], limit, rest)
    record_shown(hub, [hit for hit in hits if hit.id in result.sources])
    return result


def _find_hits(hub: Hub, prompt: str, session_id: str | None, project: str | None) -> Iterator[Hit]:
    """Yield hits that are clearly relevant to a prompt."""
    question = prompt[:4000]
    if not is_worth_asking(question):
        return
    from engram.index.doc_kinds import TIERS
    from engram.search.answer import answer_question
    from engram.search.filter import Filter

    row = lifecycle.find_session(hub, session_id) if session_id else None
    flavor = row["flavor"] if row else ""
    tiers = tuple(tier for tier in TIERS if tier != "event")  # tool output is never injected
    filters = Filter(exclude=resolve_session(hub, session_id), project=project, tiers=tiers)
    for hit in answer_question(
        hub, question, filters, parse_asking_time(hub, None), HITS, by_session=False, abstain=True
    ):
        if is_relevant(question, hit) and not _is_read_by_agent(flavor, hit):
            yield hit


def _piece_from_hit(hit: Hit) -> ContextPiece:
    worth = hit.score * (_NARRATED if hit.role == "assistant" else 1.0)
    return ContextPiece(title=_format_origin(hit), body=hit.snippet, worth=worth, source=hit.id)


def is_worth_asking(prompt: str) -> bool:
    """Check whether a prompt has enough words to search for."""
    from engram.index.tokenizer import QUESTION_WORDS, extract_terms

    return len({*extract_terms(prompt)} - QUESTION_WORDS) >= _WORDS


def is_relevant(prompt: str, hit: Hit) -> bool:
    """Check whether a hit is relevant enough to inject: similar in meaning, sharing rare words, and not an echo of the
    prompt.
    """
    from engram.index.tokenizer import extract_terms

    is_near = hit.why.get("near", 0.0) >= _NEAR and hit.why.get("rare", 0.0) >= _RARE
    is_spoken = hit.role != "assistant" or hit.why.get("sentence", 0.0) >= _TOLD
    return (
        is_near
        and is_spoken
        and hit.state == "current"
        and not {*extract_terms(hit.snippet)} <= {*extract_terms(prompt)}
    )


def _is_read_by_agent(flavor: str, hit: Hit) -> bool:
    """Check whether a hit comes from a file the agent reads by itself; assume so if the agent is unknown."""
    from engram.capture.guide_files import reads_guide

    return hit.tier == "guide" and (not flavor or reads_guide(flavor, hit.name or ""))


def _format_origin(hit: Hit) -> str:
    if hit.tier == "guide":
        return f"guide {hit.name}"
    day = hit.at.date().isoformat() if hit.at else ""
    return f"{hit.flavor or hit.tier} {day} {hit.role}".strip()


def _build_context(pieces: list[ContextPiece], budget: int, rest: str) -> Context:
    """Choose the pieces with the most worth per token that fit the budget, and sort them by worth."""
    remaining = budget - count_tokens(ASKED) - count_tokens(rest) - 10
    chosen: list[ContextPiece] = []
    for piece in sorted(pieces, key=lambda piece: -piece.worth / (piece.tokens + 60)):
        if piece.tokens <= remaining:
            chosen.append(piece)
            remaining -= piece.tokens
    if not chosen:
        return Context(text="", sources=(), tokens=0, left_out=len(pieces))
    chosen.sort(key=lambda piece: -piece.worth)
    text = "\n".join([ASKED, *(piece.text for piece in chosen), rest])
    return Context(
        text=text, sources=tuple(piece.source for piece in chosen), tokens=count_tokens(text),
        left_out=len(pieces) - len(chosen),
    )  # fmt: skip


_REST = "More: `{command} recall WORDS`, `{command} get ID`."
