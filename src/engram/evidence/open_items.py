"""Find what a session leaves undone. Pure.

An item must ask for something: a remark on scope, or something that the person did not want, is none.
"""

from __future__ import annotations

import re
from typing import Any

from engram.evidence import decisions, reports
from engram.evidence.content_words import measure_overlap
from engram.platform.sentences import split_sentences
from engram.platform.text import to_one_line

_LONGEST = 200
_REPORTED = 4  # items of one report
_TAKEN_UP = 0.6  # share of an open item's words that a later request or commit has
_SAME = 0.7  # share of the words of an item that another one repeats
_OPEN = re.compile(
    r"\b(?:not (?:yet )?(?:done|implemented|included|tested|verified|exercised|addressed|covered|run|ran|wired|"
    r"reproduced|"
    r"confirmed|migrated)|never (?:run|ran|tested|verified)|"
    r"(?:left|remains?|remaining) (?:to do|to be|undone|unaddressed|unresolved|open|unanswered|in (?:the|your))|"
    r"(?:is|are|still) (?:un(?:tested|verified|resolved|answered|addressed|finished)|outstanding|still stale|open\b)|"
    r"still (?:needs?|has to|have to|fails?|failing|pending|broken|takes?)|(?:is|are|was|were|been|decision) "
    r"(?:deferred|postponed)|"
    r"needs? (?:a |an |your |manual |human |another )?(?:rebase|review|approval|follow|decision|manual|release|"
    r"restart|investigation)|won't take effect until|takes effect only|"
    r"(?:you(?:'ll| will)?|they|someone|the (?:user|maintainer)|other machines|each) (?:still )?(?:need|needs|"
    r"have|has) to|"
    r"(?:did not|didn'?t|haven'?t|have not|was not able to|wasn'?t|couldn'?t|could not|can'?t|cannot) (?:\w+ )?"
    r"(?:run|test|verif\w+|fix|address|implement|reproduce|confirm|exercised?|tested|prepare)|awaits?|"
    r"waiting for (?:your|the (?:user|review|ci|release))|worth watching|(?:queued|running|pending) (?:here|now|"
    r"in ci)|"
    r"ci is (?:queued|pending|running)|for (?:a )?follow[- ]?up|as (?:a )?follow[- ]?up|in a (?:later|separate|"
    r"follow-up) pr)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^\W*(?:next steps?|remaining(?: work| items| steps)?|not (?:done|covered|included|verified|tested)|"
    r"follow[- ]?ups?|"
    r"open (?:items|questions|issues|points|ends)|loose ends?|to ?do|outstanding|left (?:to do|open|for you)|"
    r"deferred|what(?:'s| is) (?:left|missing|next)|pending|known (?:gaps|issues)|still (?:open|to do)|"
    r"(?:manual|your) (?:steps?|actions?|to ?dos?))\b",
    re.IGNORECASE,
)
_NO_ITEM = re.compile(
    r"\b(?:no (?:remaining|further|open|outstanding|other)|nothing (?:left|remains|else)|all (?:done|fixed|"
    r"tests pass)|"
    r"is now|are now|has been (?:fixed|resolved|addressed)|i(?:'ve| have) (?:fixed|added|updated)|"
    r"(?:per|as|at) (?:your|you|agreed|requested|instruct\w+|discussed)|by design|deliberately|intentional\w*|"
    r"out of scope as|unrelated|pre-existing|untouched|no (?:need|changes? (?:needed|required))|not needed|already|"
    r"not applicable|(?:not|n't) run .* because|diagnostics|unaffected|unchanged|expected|for example|would need)\b",
    re.IGNORECASE,
)
_REPORTS_WORK = re.compile(  # a sentence about what was done, or about how something is used
    r"^(?:to\b|if\b|per\b|i(?:'ve| have| also)\b(?! not|n't)|all\b|(?:conflict|fix|step|task) \d|this (?:pr|"
    r"commit|change) (?:adds|fix|make|up)|"
    r"reviewed|verified|(?:fixed|added|updated|removed|changed|moved|renamed|created|committed|merged|confirmed)\b)",
    re.IGNORECASE,
)
_SUGGESTS = re.compile(r"^(?:test|try|open|click|run|check|let me know|enjoy|feel free|grant|start)\b", re.IGNORECASE)
_NOT_PUSHED = re.compile(
    r"\b(?:not|n't|never) (?:been )?push(?:ed)?\b|\bunpushed\b|\bpush (?:it |them )?(?:whenever|when you)",
    re.IGNORECASE,
)
_WISHED = re.compile(
    r"\b(?:per|as|at) (?:your|you|agreed|requested|instruct\w+)|\byou (?:said|asked|wanted)", re.IGNORECASE
)
_UNCOMMITTED = re.compile(r"\b(?:not (?:yet )?committed|uncommitted|ready to commit)\b", re.IGNORECASE)
_PUSH_ONLY = re.compile(r"\bpush(?:ed|ing)?\b|\bunpushed\b", re.IGNORECASE)
_OFFER = re.compile(
    r"\b(?:want me to|should i|shall i|(?:do|would) you (?:want|like)(?: me)? to|let me know if you(?:'d|"
    r" would) (?:like|want)"
    r"(?: me)? to|if you(?:'d| would)? (?:like|want),? i (?:can|could)|go ahead\?)",
    re.IGNORECASE,
)
_GENERAL_OFFER = re.compile(
    r"\b(?:anything else|any(?:thing)? (?:other|specific|questions)|further|help with|more details?|what would you|"
    r"how would you|proceed|continue|start|begin|next|explain|elaborate)\b",
    re.IGNORECASE,
)
_POSTPONES = re.compile(
    r"\b(?:we(?:'ll| will| can)|let'?s|i(?:'ll| will| can)|can be|do (?:that|this|it)|leave|skip|postpone|defer|"
    r"save)\b[^.?!]{0,80}"
    r"\b(?:later|another (?:pr|time|session|day|issue)|(?:a )?separate (?:pr|commit|issue|session)|"
    r"(?:a )?follow[- ]?up|"
    r"next (?:pr|week|release|sprint)|tomorrow)\b",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"^[/!]\S")


def find_open_items(text: str) -> list[str]:
    """Return what an agent's last report says is not done."""
    return [
        to_one_line(sentence, _LONGEST)
        for heading, sentence in reports.iter_statements(text)
        if _asks_for_work(heading, sentence)
    ]


def _asks_for_work(heading: str, sentence: str) -> bool:
    words = len(sentence.split())
    if sentence.endswith(("?", ":")) or words < 6 or _NO_ITEM.search(sentence) or _REPORTS_WORK.match(sentence):
        return False
    if _PUSH_ONLY.search(sentence) and words < 12:
        return False  # told by what was committed
    return bool(_OPEN.search(sentence)) or bool(
        _HEADING.search(heading) and words >= 7 and not _SUGGESTS.match(sentence)
    )


def find_postponed(message: str) -> list[str]:
    """Return what a person put off."""
    sentences = [sentence for line in message.splitlines() for sentence in split_sentences(line)]
    return [
        to_one_line(sentence, _LONGEST)
        for sentence in sentences
        if 4 <= len(sentence.split()) <= 30 and _POSTPONES.search(sentence) and not sentence.endswith("?")
    ][:2]


def describe_commit(subject: str, branch: str) -> str:
    """Return how a commit is named in an open item."""
    return f"Commit {subject.split(maxsplit=1)[0]} on {branch}" if branch else f"Commit {to_one_line(subject, 80)}"


def note_push_state(episode: dict[str, Any], text: str) -> None:
    """Note that an agent says that its commit is not pushed, unless the person wished that."""
    if not episode.get("unpushed") or "push" not in text:
        return
    said = [sentence for _, sentence in reports.iter_statements(text, 2_000) if _NOT_PUSHED.search(sentence)]
    if said and not any(_WISHED.search(sentence) for sentence in said):
        episode["not_pushed"] = f"{episode['unpushed']} is not pushed"


def list_episode_items(episode: dict[str, Any], report: str, *, is_last: bool) -> list[str]:
    """Return what an episode leaves undone: open steps of the agent's list, what it reports, its last question."""
    steps = [text for text, finished in episode["todo"] if not finished]
    question = _find_open_question(report) if is_last and episode["last"] == "assistant" else ""
    items: list[str] = []
    for item in [
        _find_unanswered(episode, report) if is_last else "",
        *steps,
        *find_open_items(report)[:_REPORTED],
        *episode.get("postponed", ()),
        episode.get("not_pushed", ""),
        to_one_line(question, _LONGEST),
    ]:
        if item and not any(measure_overlap(item, other) >= _SAME for other in items):
            items.append(item)
    return items


def _find_unanswered(episode: dict[str, Any], report: str) -> str:
    """Return the request that was interrupted or never answered, unless it is a command to the agent program."""
    asked, last = episode["request"], episode["last"]
    is_unanswered = last == "user" and not (episode["acts"] or report or episode["more"])
    if (
        not ((last == "interrupt" and episode["acts"]) or is_unanswered)
        or _COMMAND.match(asked)
        or len(asked.split()) < 4
    ):
        return ""
    return f"Not finished: {episode['title']}"


def _find_open_question(report: str) -> str:
    """Return the offer that an agent's last message ends with, if it is about something particular."""
    question = reports.find_last_question(report) or _find_offer(report)
    if not question:
        return ""
    if decisions.is_routine_offer(question) or len(question.split()) < 5:
        return f"The changes are not committed. {question}".strip() if _UNCOMMITTED.search(report[-400:]) else ""
    return question if _OFFER.search(question) and not _GENERAL_OFFER.search(question) else ""


def _find_offer(report: str) -> str:
    """Return the offer in the last sentences of a report, or ""."""
    last = [sentence for _, sentence in reports.iter_statements(report, 900)][-2:]
    return next((sentence for sentence in reversed(last) if _OFFER.search(sentence)), "")


def list_session_items(episodes: list[dict[str, Any]], current: dict[str, Any]) -> list[str]:
    """Return what a session left undone: items of its episodes that no later one took up, newest first.

    `current` is what the last episode, which may still go on, reports and leaves open. A newer to-do list replaces
    older ones, and a later commit or push ends what was said about committing and pushing.
    """
    items: list[str] = []
    later, has_list, has_committed = "", False, False
    for episode in reversed(episodes):
        opened = current["open"] if episode is episodes[-1] else episode["open"]
        steps = {text for text, finished in episode["todo"] if not finished} if has_list else set()
        items += [
            item
            for item in opened
            if item not in steps and item not in items and measure_overlap(item, later) < _TAKEN_UP
            and not (has_committed and (_UNCOMMITTED.search(item) or item.endswith("is not pushed")))
            and (not item.endswith("is not pushed") or episode.get("not_pushed") == item)
        ]  # fmt: skip
        has_list = has_list or bool(episode["todo"])
        has_committed = has_committed or bool(episode["commits"])
        later += " ".join(("", episode["title"], episode["request"], *episode["more"], *episode["commits"]))
    return items
