"""Ask the wiki and all that is remembered: an answer with its sources, or an honest "not known"."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Annotated

from engram.coordination import sessions
from engram.errors import Error, ModelOff
from engram.hub import Hub
from engram.operation import Help, operation
from engram.text import inline, quote, required, tokens
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from engram.model import Hit
    from engram.vault.vault import Vault

UNKNOWN = "Nothing is known of that."
QUOTES = "quotes"
_HITS = 6  # of all tiers
_OF_WIKI = 6  # pages that are looked at besides, whatever else scores more
_LONGEST = 1_800  # characters of one passage a model is shown
_WIKI = ("article", "daily")
_LINK = re.compile(r"!?\[\[([^\[\]\n]*)\]\]")
_MARK = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
_SCHEMA = {
    "type": "object", "additionalProperties": False, "required": ["known", "answer", "cited", "follow_up"],
    "properties": {
        "known": {"type": "boolean"}, "answer": {"type": "string", "maxLength": 8000},
        "cited": {"type": "array", "items": {"type": "integer"}},
        "follow_up": {"type": "array", "items": {"type": "string", "maxLength": 300}},
    },
}  # fmt: skip


@value
class Source:
    """Where a part of an answer comes from."""

    id: str  # what `get` takes
    tier: str
    target: str  # the page of the wiki; empty: what was said in a session
    session_id: str | None
    day: str

    @property
    def shown(self) -> str:
        """Return it as an answer cites it."""
        from engram.vault.links import link

        return link(self.target) if self.target else f"session `{inline(self.session_id or self.id, 80)}`"


@value
class Asked:
    """An answer, and what it rests on."""

    question: str
    answer: str
    known: bool
    sources: tuple[Source, ...]
    made_by: str  # a model and its prompt, or "quotes"; empty where nothing is known
    filed: str = ""  # the page that keeps it
    follow_up: tuple[str, ...] = ()
    problem: str = ""  # why the model could not answer


@operation(writes=True)
def ask(
    hub: Hub,
    question: Annotated[str, Help("what you want to know, in plain words")],
    file_back: Annotated[bool, Help("keep the answer as a page of the wiki, in qa/")] = False,
    project: Annotated[str | None, Help("of sessions only those of this project; articles are for all")] = None,
    budget: Annotated[int, Help("at most so many tokens of passages")] = 1500,
) -> Asked:
    """Answer from the wiki and all that is remembered, with sources; say so where nothing is known."""
    from engram.vault import sync, vault

    asked = required("question", question, "Ask something: engram ask why did we drop redis").strip()
    limit, room = sessions.positive("budget", budget), sessions.room(project)
    home = vault.of(hub)
    sync.sync(hub, home)
    hits = _hits(hub, asked, room)
    if file_back:
        hits = _of_others(hits, home, asked)
    given = _within(hub, hits, limit)
    if not given:
        return Asked(question=asked, answer=UNKNOWN, known=False, sources=(), made_by="")
    found = _answered(hub, asked, given)
    if not (file_back and found.known):
        return found
    from engram.wiki.filed import filed

    return Asked(**{**vars(found), "filed": filed(hub, home, found)})


def _hits(hub: Hub, asked: str, project: str | None) -> list[Hit]:
    """Return what answers, best first; pages of the wiki also where other things score more."""
    from engram.index.kinds import TIERS
    from engram.recall.recall import recall

    rest = [tier for tier in TIERS if tier not in ("event", "article")]
    hits = recall(hub, asked, _HITS, project=project, tiers=rest)
    hits += recall(hub, asked, _OF_WIKI, tiers=["article"])
    hits += recall(hub, asked, _OF_WIKI, project=project, tiers=["daily"]) if project else []
    return sorted({hit.id: hit for hit in hits}.values(), key=lambda hit: -hit.score)[:_HITS]


def _of_others(hits: list[Hit], home: Vault, asked: str) -> list[Hit]:
    """Return what answers besides the page this answer goes to: that is no source of its own."""
    from engram.wiki.filed import named

    own = named(home, asked)
    return [hit for hit in hits if hit.name != own] or hits


def _within(hub: Hub, hits: list[Hit], budget: int) -> list[tuple[Source, str]]:
    """Return what answers with its sources, as much as a budget allows; the best in any case, if need be in part."""
    kept: list[tuple[Source, str]] = []
    for hit in hits:
        said = _said(hub, hit)
        cost = tokens(said) + 24  # its number, source and day
        if cost > budget and not kept:
            said, cost = said[: max(budget, 1) * 3], budget
        if cost <= budget:
            kept.append((_source(hit), said))
            budget -= cost
    return kept


def _said(hub: Hub, hit: Hit) -> str:
    """Return what a hit says: all of it, or where that is too long, what stands around the words asked for."""
    from engram.recall.get import found

    with suppress(Error):  # deleted meanwhile
        whole = found(hub, hit.id, 0).content
        return whole if len(whole) <= _LONGEST else hit.snippet
    return hit.snippet


def _source(hit: Hit) -> Source:
    target = (hit.name or "").partition("#")[0] if hit.tier in _WIKI else ""
    day = hit.at.date().isoformat() if hit.at else ""
    return Source(id=hit.id, tier=hit.tier, target=target, session_id=hit.session_id, day=day)


def _answered(hub: Hub, asked: str, given: list[tuple[Source, str]]) -> Asked:
    """Let the model answer where there is one; else, or where it fails, the passages answer themselves."""
    problem = ""
    try:
        return _thought(hub, asked, given)
    except ModelOff:
        pass
    except Error as error:
        problem = str(error)
    said = [f"- {source.shown}, {source.tier}{_on(source)}:\n{quote(plain(text))}" for source, text in given]
    sources = _once([source for source, _ in given])
    return Asked(
        question=asked, answer="\n\n".join(said), known=True, sources=sources, made_by=QUOTES, problem=problem
    )  # fmt: skip


def _on(source: Source) -> str:
    return f" of {source.day}" if source.day and source.tier != "article" else ""


def _thought(hub: Hub, asked: str, given: list[tuple[Source, str]]) -> Asked:
    from engram.capture.batch import cleaned
    from engram.llm.complete import complete
    from engram.memory.thinker import prompt
    from engram.redaction.removal import redactor

    if hub.settings.model in ("", "none"):
        raise ModelOff(place="")
    passages = [f"[{n}] {source.tier}{_on(source)}\n{said}" for n, (source, said) in enumerate(given, 1)]
    words, version = prompt("ask")
    data = quote("\n\n".join([f"QUESTION\n{asked}", "PASSAGES", *passages]))
    reply = complete(hub, words.replace("{data}", data), purpose="ask", schema=_SCHEMA)
    return checked(
        asked, cleaned(reply.data, redactor(hub)), [source for source, _ in given],
        f"model:{reply.provider}/{reply.model}, prompt ask@{version}",
    )  # fmt: skip


def checked(asked: str, reply: dict[str, Any], given: list[Source], made_by: str) -> Asked:
    """Return a model's answer with its citations held against what it was given; without a sound one, nothing."""
    known = dict(enumerate(given, 1))
    answer = reply["answer"].strip()
    named = [*reply["cited"], *(int(n) for mark in _MARK.findall(answer) for n in mark.split(","))]
    cited = [number for number in dict.fromkeys(named) if number in known]
    if not (reply["known"] and answer and cited):
        return Asked(question=asked, answer=UNKNOWN, known=False, sources=(), made_by=made_by)
    pages = {source.target for source in given if source.target}
    text = _MARK.sub(lambda mark: _cited(mark[1], known), plain(answer, pages.__contains__))
    sources = _once([known[number] for number in cited])
    follow_up = tuple(plain(inline(each, 300)) for each in reply["follow_up"][:5] if each.strip())
    return Asked(question=asked, answer=text, known=True, sources=sources, made_by=made_by, follow_up=follow_up)


def _once(sources: list[Source]) -> tuple[Source, ...]:
    """Return sources without those that are cited alike."""
    return tuple({each.shown: each for each in reversed(sources)}.values())[::-1]


def _cited(numbers: str, known: dict[int, Source]) -> str:
    found = [known[int(each)] for each in numbers.split(",") if int(each) in known]
    return f"({', '.join(dict.fromkeys(each.shown for each in found))})" if found else ""


def plain(text: str, known: Callable[[str], bool] = lambda _: False) -> str:
    """Return a text in which only links to what is known are links."""

    def judged(found: re.Match[str]) -> str:
        target = re.split(r"[|#]", found[1])[0].strip().removesuffix(".md")
        return found[0] if known(target) else f"⟦{found[1]}⟧"

    return _LINK.sub(judged, text)
