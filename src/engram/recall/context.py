"""What an agent is given without asking: the most useful of all tiers, under a hard budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engram.coordination import sessions
from engram.hub import Hub
from engram.model import Hit
from engram.operation import Help, operation
from engram.recall.briefing import ASKED, Context, brief
from engram.recall.recall import session_named, shown, time_of
from engram.text import PAGE, clean, inline, quote, tokens
from engram.value import value

HITS = 6  # of which those are told that are to the point
# What comes unasked must be clearly to the point. Measured by `benchmarks/recall --only unasked`: of questions whose
# answer is remembered 66 % are told, each of the right session but one; of prompts of others 2 to 7 %, of "fix the
# failing test" and the like 1 %. Without the rarity of words it was every second of those.
_NEAR, _RARE = 0.8, 1.8
_TOLD = 0.4  # of the question's words one sentence must hold that an agent said: it narrates much that answers nothing
_NARRATED = 0.6  # what that is worth against a person's word, or what was made of a session
_WORDS = 3  # a prompt of fewer asks for nothing that could be remembered


@value
class Piece:
    """Something worth telling, and what that is worth."""

    title: str
    body: str
    worth: float
    source: str

    @property
    def text(self) -> str:
        """Return it as it is told."""
        return f"- {inline(self.title, 160)} [{inline(self.source, 80)}]\n{quote(self.body)}"

    @property
    def tokens(self) -> int:
        """Return what telling it costs."""
        return tokens(self.text) + 1


@operation()
def context(
    hub: Hub,
    prompt: Annotated[str | None, Help("what the agent was asked; left out, it is just starting")] = None,
    session_id: Annotated[str | None, Help("the session that is told")] = None,
    project: Annotated[str | None, Help("the project it works in")] = None,
    budget: Annotated[int, Help("at most so many tokens")] = 1500,
) -> Context:
    """Gather what helps a session now, from all that is remembered, best first, within a budget."""
    limit = sessions.positive("budget", budget)
    room = sessions.room(project)
    asked = clean("prompt", prompt, PAGE) if prompt else ""
    if prompt is None:
        return brief(hub, session_id, room, limit)
    hits = [*_asked(hub, asked, session_id, room)]
    told = _told([_piece(hit) for hit in hits], limit)
    shown(hub, [hit for hit in hits if hit.id in told.sources])
    return told


def _asked(hub: Hub, prompt: str, session_id: str | None, project: str | None) -> Iterator[Hit]:
    """Yield what answers a prompt, if it is clearly to the point."""
    asked = prompt[:4000]
    if not worth_asking(asked):
        return
    from engram.index.kinds import TIERS
    from engram.recall.answer import answer
    from engram.recall.filter import Filter

    row = sessions.known(hub, session_id) if session_id else None
    flavor = row["flavor"] if row else ""
    tiers = tuple(tier for tier in TIERS if tier != "event")  # what tools print is never told unasked
    wanted = Filter(exclude=session_named(hub, session_id), project=project, tiers=tiers)
    for hit in answer(hub, asked, wanted, time_of(hub, None), HITS, by_session=False, abstain=True):
        if to_the_point(asked, hit) and not _read_anyway(flavor, hit):
            yield hit


def _piece(hit: Hit) -> Piece:
    worth = hit.score * (_NARRATED if hit.role == "assistant" else 1.0)
    return Piece(title=_where(hit), body=hit.snippet, worth=worth, source=hit.id)


def worth_asking(prompt: str) -> bool:
    """Tell whether a prompt says enough to be remembered by."""
    from engram.index.words import ASKING, words

    return len({*words(prompt)} - ASKING) >= _WORDS


def to_the_point(prompt: str, hit: Hit) -> bool:
    """Tell whether a hit may be told unasked: near in meaning, by words that are rare here, and not an echo."""
    from engram.index.words import words

    sure = hit.why.get("near", 0.0) >= _NEAR and hit.why.get("rare", 0.0) >= _RARE
    said = hit.role != "assistant" or hit.why.get("sentence", 0.0) >= _TOLD
    return sure and said and hit.state == "current" and not {*words(hit.snippet)} <= {*words(prompt)}


def _read_anyway(flavor: str, hit: Hit) -> bool:
    """Tell whether a hit is from a file that the agent who asks reads by itself; one we do not know may read any."""
    from engram.capture.guide_places import reads

    return hit.tier == "guide" and (not flavor or reads(flavor, hit.name or ""))


def _where(hit: Hit) -> str:
    if hit.tier == "guide":
        return f"guide {hit.name}"
    day = hit.at.date().isoformat() if hit.at else ""
    return f"{hit.flavor or hit.tier} {day} {hit.role}".strip()


def _told(pieces: list[Piece], budget: int) -> Context:
    """Return the pieces that are worth most for their tokens and fit, in the order of their worth."""
    left = budget - tokens(ASKED) - tokens(_REST) - 10
    chosen: list[Piece] = []
    for piece in sorted(pieces, key=lambda each: -each.worth / (each.tokens + 60)):
        if piece.tokens <= left:
            chosen.append(piece)
            left -= piece.tokens
    if not chosen:
        return Context(text="", sources=(), tokens=0, left_out=len(pieces))
    chosen.sort(key=lambda each: -each.worth)
    text = "\n".join([ASKED, *(each.text for each in chosen), _REST])
    return Context(
        text=text, sources=tuple(each.source for each in chosen), tokens=tokens(text),
        left_out=len(pieces) - len(chosen),
    )  # fmt: skip


_REST = "More: `engram recall WORDS`, `engram get ID`."
