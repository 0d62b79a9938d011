"""Find what a session leaves undone. Pure.

An item must ask for something: a remark on scope, or something that the person did not want, is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from engram.evidence import decisions, reports, review_findings
from engram.evidence.content_words import measure_overlap
from engram.platform.sentences import split_sentences
from engram.platform.text import to_one_line

_LONGEST = 200
_LONGEST_CHOICE = 280
_LEAST_OFFER = 5  # words of an offer that is about something
_LONG_OFFER = 16  # words of an offer that says by itself what it is about
_REPORTED = 4  # items of one report
_TAKEN_UP = 0.6  # share of an open item's words that a later request or commit has
_SAME = 0.7  # share of the words of an item that another one repeats
_LEAST_WORDS = 6
_STATES_STATUS = re.compile(r"^ci is (?:queued|pending|running)\b", re.IGNORECASE)  # says enough in a few words
_LEFT_FOR_LATER = re.compile(  # names work and says that it is for another time, whatever else the sentence says
    r"\b(?:(?:good|great|natural|nice|possible|sensible|worthwhile|useful|separate|future|logical|easy) "
    r"follow[- ]?ups?|(?:needs?|deserves?|requires?|warrants?) (?:its own|a (?:separate|different|dedicated|"
    r"follow-up)) (?:pr|pull request|issue|ticket|task|change)|"
    r"that(?:'s| is| would be) a (?:separate|different) (?:pr|pull request|issue|ticket|task)|"
    r"(?:out of|outside|beyond) (?:(?:the|this|that|its|my|our) )?(?:[\w#']+ ){0,2}scope|"
    r"left (?:as[- ]is|alone|unfixed)\b.{0,40}\b(?:not fixed|your call|flagged)|(?:flagged|noted|reported) but (?:not "
    r"|un)(?:fixed|addressed|touched|changed)|"
    r"worth (?:running|investigating|verifying|fixing|addressing|exploring|revisiting|tracking|watching|"
    r"monitoring|documenting|keeping an eye)|still on your (?:plate|side|end)|(?:left|up) (?:for|to) you to\b)",
    re.IGNORECASE,
)
_DEPENDS = re.compile(  # what is to happen when something outside of the session has happened
    r"^(?:once|after|when|as soon as) [^,]{3,90}\b(?:merges?|lands?|is (?:merged|released|published|deployed)|rebases?|"
    r"ships?|goes out)\b[^,]{0,60}, \S|\b(?:will|would) (?:still )?(?:need|require|have) (?:a |an |to be )?"
    r"(?:rebased?|re-?run|migrated|merged|released?|re-?deployed|re-?published)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:not (?:yet )?(?:done|implemented|included|tested|verified|exercised|addressed|covered|run|ran|wired|fixed|"
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
_WAITS_FOR_PUSH = re.compile(r"Commit .{1,90} is not pushed")
_NOT_PUSHED = re.compile(
    r"\b(?:not|n't|never) (?:been )?push(?:ed)?\b|\bunpushed\b|\bpush (?:it |them )?(?:whenever|when you)",
    re.IGNORECASE,
)
_LEFT_ALONE = re.compile(  # what is out of scope because nobody wants it
    r"\b(?:agreed|deliberately|by design|intentional\w*|pre-existing|unrelated (?:to|change|file)|remains? out|"
    r"stays? out|kept out|untouched|not worth|^out of scope\b|^\W*side finding|"
    r"(?:is|are|was|were) not needed|no need|skip\w*|should not)\b",
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
_ASKS_TO_CHOOSE = re.compile(
    r"\b(?:which|do you prefer|would you (?:prefer|rather)|your preference|option)\b", re.IGNORECASE
)
_OPTION = re.compile(
    r"^\s*(?:#{1,5}\s+|[-*•]\s+)?\**(?:(?:option|approach|alternative|choice)\s+(?:\d|[A-F])\b|\(?[A-F]\)|[A-F]\.)"
    r"\**(?:\s*[:.)\u2014-]+|(?<=[.)]))\**\s*(\S.{5,}?)\**$",
    re.IGNORECASE,
)
_POINTS = re.compile(r"\b(?:this|it|that|these|them|those)\b", re.IGNORECASE)
_POSTPONES = re.compile(
    r"\b(?:we(?:'ll| will| can)|let'?s|i(?:'ll| will| can)|can be|do (?:that|this|it)|leave|skip|postpone|defer|"
    r"save)\b[^.?!]{0,80}"
    r"\b(?:later|another (?:pr|time|session|day|issue)|(?:a )?separate (?:pr|commit|issue|session)|"
    r"(?:a )?follow[- ]?up|"
    r"next (?:pr|week|release|sprint)|tomorrow)\b",
    re.IGNORECASE,
)
_OUTWARD_STEP = re.compile(
    r"^\s*(?:#{1,5}\s+|[-*•]\s+|\d{1,2}[.)]\s+)(?:\[ \]\s+)?\**(?:(?:step|phase|task) \d+\s*[:.\u2014-]+\s*\**)?\s*"
    r"((?:reply|respond|comment|open|create|push|publish|deploy|announce|post|close|update|release)\b.*"
    r"\b(?:prs?|pull requests?|issues?|comments?|threads?|branch|remote|release|tickets?|npm|pypi|production)\b.*)$",
    re.IGNORECASE,
)
_OUTWARD_COMMAND = re.compile(r"\b(?:gh|glab|curl|hub)\b|\bgit push\b|\b(?:npm|cargo|twine|uv) (?:publish|upload)\b")
_OUTWARD_TOOL = re.compile(r"create|update|comment|reply|post|send|publish|merge|save|add")
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
    if _STATES_STATUS.match(sentence):
        return True
    if sentence.endswith(("?", ":")) or words < _LEAST_WORDS:
        return False
    if (_LEFT_FOR_LATER.search(sentence) or _DEPENDS.search(sentence)) and not _WISHED.search(sentence):
        return not _LEFT_ALONE.search(sentence)
    if _NO_ITEM.search(sentence) or _REPORTS_WORK.match(sentence):
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


def find_outward_steps(plan: str) -> list[str]:
    """Return the steps of a plan that others would see: a reply, a pull request, a release."""
    return [to_one_line(match[1].strip(" *"), 120) for match in map(_OUTWARD_STEP.match, plan.splitlines()) if match]


def acts_outward(name: str | None, command: str) -> bool:
    """Return whether a call may reply, push or publish something."""
    tool = (name or "").lower()
    return bool(_OUTWARD_COMMAND.search(command)) or (
        tool.startswith("mcp__") and bool(_OUTWARD_TOOL.search(tool.rpartition("__")[2]))
    )


def describe_commit(subject: str, branch: str) -> str:
    """Return how a commit is named in an open item."""
    return f"Commit {subject.split(maxsplit=1)[0]} on {branch}" if branch else f"Commit {to_one_line(subject, 80)}"


def waits_for_push(item: str) -> bool:
    """Return whether an open item only says that a commit is not pushed, which is soon outdated."""
    return bool(_WAITS_FOR_PUSH.match(item))


def is_worth_listing(item: str) -> bool:
    """Return whether an open item says more than that a request was not finished or a commit not pushed."""
    return not item.startswith("Not finished: ") and not waits_for_push(item)


def note_push_state(episode: dict[str, Any], text: str) -> None:
    """Note that an agent says that its commit is not pushed, unless the person wished that."""
    if not episode.get("unpushed") or "push" not in text:
        return
    said = [
        match for match in _NOT_PUSHED.finditer(text) if not _WISHED.search(text[match.start() - 60 : match.end() + 60])
    ]
    if said:
        episode["not_pushed"] = f"{episode['unpushed']} is not pushed"


def list_episode_items(
    episode: dict[str, Any], report: str, *, is_last: bool, plan: str = "", outward: Sequence[str] = ()
) -> list[str]:
    """Return what an episode leaves undone: open steps of the agent's list, what it reports, its last question.

    `plan` is a plan of which nothing is carried out, `outward` are steps of one that others would have seen. What a
    review found is open once the person goes on from it.
    """
    steps = [text for text, finished in episode["todo"] if not finished]
    question = _find_open_question(episode, report) if is_last and episode["last"] == "assistant" else ""
    findings = [] if episode["changed"] else review_findings.find_review_findings(report)
    is_stopped = is_last and bool(plan) and episode["last"] in ("interrupt", "call", "result")
    items: list[str] = []
    for item in [
        f"Plan not carried out: {plan}" if is_stopped else "",
        _find_unanswered(episode, report) if is_last and not is_stopped else "",
        *steps,
        *(f"Step of the plan not done: {step}" for step in outward if is_last),
        *([] if findings else find_open_items(report)[:_REPORTED]),
        *([] if is_last else findings),
        *episode.get("postponed", ()),
        *episode.get("suggested", ()),
        episode.get("not_run", ""),
        episode.get("not_pushed", ""),
        question,
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


def _find_open_question(episode: dict[str, Any], report: str) -> str:
    """Return the offer or the choice that an agent's last message ends with, if it is about something particular."""
    question = reports.find_last_question(report) or _find_offer(report)
    if not question:
        return ""
    options = _list_options(report) if _ASKS_TO_CHOOSE.search(question) else []
    if options:
        return to_one_line(f"Not decided: {question} {' / '.join(options)}", _LONGEST_CHOICE)
    if decisions.is_routine_offer(question) or len(question.split()) < _LEAST_OFFER:
        return _describe_uncommitted(episode, question) if _UNCOMMITTED.search(report[-400:]) else ""
    if not _OFFER.search(question) or _GENERAL_OFFER.search(question):
        return ""
    return to_one_line(_name_subject(episode, question), _LONGEST)


def _list_options(report: str) -> list[str]:
    """Return what each of the numbered or lettered options of a message is."""
    options = [match[1].replace("**", "").strip(" *:") for match in map(_OPTION.match, report.splitlines()) if match]
    return [to_one_line(option, 60) for option in options] if len(options) > 1 else []


def _describe_uncommitted(episode: dict[str, Any], question: str) -> str:
    files = ", ".join(_get_names(episode)) or "the work"
    return f"Uncommitted changes in {files}: {question}"


def _name_subject(episode: dict[str, Any], offer: str) -> str:
    """Return an offer with the files that it means by `this` or `it`."""
    files = ", ".join(_get_names(episode))
    return f"{offer} ({files})" if files and _POINTS.search(offer) and len(offer.split()) < _LONG_OFFER else offer


def _get_names(episode: dict[str, Any]) -> list[str]:
    names = [re.split(r"[/\\]", path)[-1] for path in episode["changed"]]
    return [*names[:2], *([f"{len(names) - 2} more"] if len(names) > 2 else [])]


def _find_offer(report: str) -> str:
    """Return the offer in the last sentences of a report, or ""."""
    last = [sentence for _, sentence in reports.iter_statements(report, 900)][-2:]
    return next((sentence for sentence in reversed(last) if _OFFER.search(sentence)), "")


def list_session_items(
    episodes: list[dict[str, Any]], current: dict[str, Any], findings: Sequence[str] = ()
) -> list[str]:
    """Return what a session left undone: items of its episodes that no later one took up, newest first.

    `current` is what the last episode, which may still go on, reports and leaves open; `findings` are those of earlier
    reviews that nothing was said or done about. A newer to-do list replaces older ones, and a later commit or push ends
    what was said about committing and pushing.
    """
    items: list[str] = []
    later, has_list, has_committed, has_changes = "", False, False, False
    for episode in reversed(episodes):
        opened = current["open"] if episode is episodes[-1] else episode["open"]
        steps = {text for text, finished in episode["todo"] if not finished} if has_list else set()
        items += [
            item
            for item in opened
            if item not in steps and item not in items and measure_overlap(item, later) < _TAKEN_UP
            and (not item.startswith(review_findings.FOUND) or (has_changes and item in findings))
            and not (has_committed and (_UNCOMMITTED.search(item) or item.endswith("is not pushed")))
            and (not item.endswith("is not pushed") or episode.get("not_pushed") == item)
        ]  # fmt: skip
        has_list = has_list or bool(episode["todo"])
        has_committed = has_committed or bool(episode["commits"])
        has_changes = has_changes or bool(episode["changed"])
        later += " ".join(("", episode["title"], episode["request"], *episode["more"], *episode["commits"]))
    return items
