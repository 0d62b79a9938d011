"""Decisions: rules and choices that a person made or confirmed, found by who said what in answer to what. Pure.

An agent's words count only where a person confirmed them or let them stand.
"""

from __future__ import annotations

import re
from typing import Any

from engram.evidence import replies, requests
from engram.evidence.content_words import extract_content_words
from engram.evidence.reports import find_last_question, find_proposal, has_proposal, iter_statements
from engram.platform.sentences import split_sentences
from engram.platform.text import to_one_line
from engram.platform.value import value

ANSWER, CORRECTION, RULE, ACCEPTED, RECAP = "answer", "correction", "rule", "accepted", "recap"
REJECTED = "rejected"

LONGEST = 420  # characters of a decision
RECAP_LENGTH = 950
_TYPED = 2_000  # characters of a message a person types; more is pasted
_ASKED = 1_200  # characters from the end of an agent's message in which it asks

_QUESTION_TOOLS = frozenset(
    "askuserquestion request_user_input ask_user ask_followup_question question ask_question askquestion".split()
)
_PLAN_TOOLS = frozenset("exitplanmode exit_plan_mode plan_exit presentplan present_plan".split())
_ANSWERED = re.compile(r'"([^"\n]{3,500})"\s*[=:]\s*"([^"]{1,600})"')
_REASON = re.compile(
    r"(?:the user said:|reason for the rejection:|(?:user )?feedback:|user (?:said|responded|replied):)\s*(.+)",
    re.DOTALL | re.IGNORECASE,
)
_NOTE_AFTER_REASON = re.compile(r"\n\s*Note: .*", re.DOTALL)
_DECLINED = re.compile(
    r"doesn't want|declined|did not answer|wants? to clarify|cancell?ed|dismissed|timed out", re.IGNORECASE
)
_RECAP_START = re.compile(
    r"\b(?:recap|summary|summari[sz]e|final(?:ly)?|settled|understood|got it|agreed|confirmed|amended?|noted|"
    r"locked in|so[,:]? )\b",
    re.IGNORECASE,
)
_RECAP_LABEL = re.compile(
    r"\b(?:recap(?: of)?\b|to be explicit|the requirement is clear|settled:|(?:final|"
    r"amended) (?:\w+ ){0,2}(?:policy|rule|recap|summary|behavior)\b|amended rule|to summari[sz]e)",
    re.IGNORECASE,
)
_INTENTION = re.compile(
    r"^(?:i(?:'ll| will|'m going| am going)|let me|implementing|checking|starting|now|running|next,? i|i(?:'ve|"
    r" have) (?:updated|made|run|added)|"
    r"tests?\b|all tests|"
    r"thanks|excellent|perfect|great|you're (?:absolutely )?right|to verify)\b",
    re.IGNORECASE,
)
_VERBS = (
    "keep use make ensure prefer avoid stick must stay leave drop do put write set call name run let add remove"
    " create stop skip treat return pin instead count lowercase uppercase round sort ship fold ignore order log"
    " map normalize strip apply reject accept raise allow include exclude limit cap store encode escape replace"
    " switch merge split regenerate require default fall honor preserve trim validate check go give take"
)
_IMPERATIVE = re.compile(
    r"^(?:(?:also|and|so|but|then|just|please|ok(?:ay)?|no|yes|right|exactly|ideally|always|never|only)[,.\s]+)*"
    r"(?:(?:if|when|for|on|in|inside|within|unless|after|before)\b[^,]{2,90},\s+)?"
    r"(?:always|never|only|don'?t|do not|no\b|i want (?!you to|to (?:rework|do|provide|add|implement|create|build|make|"
    r"see|know|understand|check|look|investigate|fix|refactor|change|update|review)\b)|(?:i'?d|"
    r"i would) like (?!to (?:work|do|add|discuss|see|know|talk|start|try|make|get))|"
    r"i don'?t want|i prefer|let'?s|"
    r"we (?:want|need|must|only|always|never)|the rules?|" + "|".join(_VERBS.split()) + r")\b",
    re.IGNORECASE,
)
_CONSTRAINT = re.compile(
    r"\b(?:must(?:n'?t)?(?! have)\b|(?:has|needs?) to (?:be|stay)|don'?t want|do not want|as \w+ as possible|"
    r"(?:we|i) no longer|no longer (?:use|need|want|support|publish)\w*|from now on|i only want|i want people|"
    r"i'?d like (?:us|it|the|to see|"
    r"all)|should (?:never|always|only|stay))\b",
    re.IGNORECASE,
)
_REFERRING = re.compile(  # an order that takes up what the agent proposed
    r"^(?:(?:ok(?:ay)?|yes|sure|alright|please|and|then|can you|could you)[,\s]+)*(?:create a plan|plan|implement|"
    r"do|apply|fix|add|go (?:for|with|ahead)|"
    r"let'?s|use|take|make|build|write|investigate|proceed|use|hand|delegate|execute)\b.{0,80}?\b(?:it|that|this|"
    r"them|these|those|everything|both|all|"
    r"the (?:plan|fix|change|hint|suggestion|recommendation|proposal|first|second|rest)|option \w+|implementation)\b",
    re.IGNORECASE,
)
_AMENDING = re.compile(
    r"\b(?:amend(?:s|ed|ment)?|supersed\w+|no longer|changed? (?:our|my) mind|replac(?:e|es|ing) the (?:old|"
    r"earlier|previous)|"
    r"from now on|instead of what|revis(?:e|ed|ion)|overrides? the|used to|not anymore|anymore)\b",
    re.IGNORECASE,
)
_ROUTINE = re.compile(
    r"^(?:commit|push|continue|proceed|run|go ahead|start|reply|post|open|create a pr)\b", re.IGNORECASE
)
_ROUTINE_OFFER = re.compile(
    r"\b(?:me to|should i|shall i|should i start) (?:also )?(?:go ahead and )?(?:commit|push|continue|proceed|"
    r"start|implementing)\b",
    re.IGNORECASE,
)
_CODE_TASK = re.compile(
    r"^(?:fix|add|create|implement|write|update|remove|run|check|look|investigate|review|analy[sz]e|commit|push)\b",
    re.IGNORECASE,
)


_LINK = re.compile(r"https?://\S+")
_LIST_AFTER_COLON = re.compile(r":[ \t]*(?:\n[ \t]*(?:[-*•]|\d+[.)])[^\n]*){1,8}")


_REPLACING = re.compile(
    r"\b(?:instead|rather than|no longer|revert|undo|take (?:that|it) (?:back|out)|remove|drop|scrap|replace|"
    r"not .{2,40} but)\b",
    re.IGNORECASE,
)
_LEAD = 40  # characters at the start of a sentence in which a person hedges it
_NORM = re.compile(  # rules that are stated as facts
    r"\b(?:(?:is|are) never\b.{3}|^(?:we|i) (?:do not|don'?t) (?:need|want|support|use)\b|(?:is|are)(?:n'?t|"
    r" not) (?:relevant|needed|allowed)$)|"
    r"^(?:(?:please|let'?s|i want to|ok(?:ay)?,?|yes,?|no,?|so) )*(?:use|rename|keep|drop|move|put|make|choose|"
    r"go with|i want to use|prefer|"
    r"call)\b.{8,}\b(?:because|since|given that|so that|otherwise)\b",
    re.IGNORECASE,
)
_REPORT = re.compile(  # a person tells what they see or did
    r"^(?:(?:and|but|so|also|yes|no|ok(?:ay)?|hm+)[,.]? )*(?:(?:they|it|this|that|there|these|those|he|"
    r"she) (?:(?:do|does|did|is|are|was|were|has|"
    r"have|had|works?|looks?|seems?|still|just|only|now|also|doesn'?t|don'?t|didn'?t|isn'?t|aren'?t|wasn'?t|"
    r"can'?t)\b)|(?:i|we) (?:had|have|'ve|see|"
    r"saw|get|got|did|fixed|tested|tried|ran|checked|noticed|think|was|were|am|'m|just|still|hit|can see|"
    r"can'?t)\b|(?:i|we)'(?:ve|m|re)\b|"
    r"still\b|seems?\b|looks?\b|works?\b|did\b|the (?:problem|issue|question|error)\b)",
    re.IGNORECASE,
)
_REFUSING = re.compile(
    r"^(?:no+\b|nope|not\b|don'?t|do not|never|wrong|careful|instead|rather|that part is off)", re.IGNORECASE
)


@value
class FoundDecision:
    """A rule or a choice, with the question or proposal it settles."""

    kind: str  # answer, correction, rule, accepted, recap; rejected for what was turned down
    text: str
    about: str = ""


def is_question_tool(name: str | None) -> bool:
    """Return whether a tool asks the person."""
    return (name or "").rpartition("__")[2].lower() in _QUESTION_TOOLS


def is_plan_tool(name: str | None) -> bool:
    """Return whether a tool presents a plan for approval."""
    return (name or "").rpartition("__")[2].lower() in _PLAN_TOOLS


def amends(text: str) -> bool:
    """Return whether a text says that it changes an earlier decision."""
    return bool(_AMENDING.search(text))


def replaces(text: str) -> bool:
    """Return whether a text takes something back or puts something else in its place."""
    return bool(_REPLACING.search(text)) or amends(text)


def find_denial_reason(text: str) -> str:
    """Return what a person said when they refused a call."""
    match = _REASON.search(text)
    return _NOTE_AFTER_REASON.sub("", match[1]).strip()[:_TYPED] if match else ""


def read_tool_answers(arguments: Any, output: str) -> list[FoundDecision]:
    """Return the answers a person gave to an agent's question tool."""
    if _DECLINED.search(output[:200]) and not _ANSWERED.search(output):
        return []
    questions = _list_questions(arguments)
    pairs = _ANSWERED.findall(output)
    if not pairs and len(questions) == 1 and output.strip():
        answer = re.sub(
            r"^(?:user (?:has )?(?:answered|responded|selected)[^:]*|answer|<answer>)\s*:?\s*",
            "",
            output.strip(),
            flags=re.IGNORECASE,
        )
        pairs = [(next(iter(questions)), answer[:600])]
    return [
        FoundDecision(
            kind=ANSWER, text=_describe_answer(answer, questions.get(question, {})), about=to_one_line(question, 200)
        )
        for question, answer in pairs
        if answer.strip()
    ]


def _list_questions(arguments: Any) -> dict[str, dict[str, str]]:
    """Return the options of each question asked, with their descriptions."""
    fields = arguments if isinstance(arguments, dict) else {}
    asked = fields.get("questions")
    many = [item for item in asked if isinstance(item, dict)] if isinstance(asked, list) else [fields]
    questions = {}
    for item in many:
        text = str(item.get("question") or item.get("prompt") or item.get("text") or "")
        options = item.get("options") or item.get("choices") or []
        if text:
            questions[text] = {
                str(option.get("label")): str(option.get("description") or "")
                for option in (options if isinstance(options, list) else [])
                if isinstance(option, dict)
            }
    return questions


def _describe_answer(answer: str, options: dict[str, str]) -> str:
    details = options.get(answer, "")
    label = answer.replace("(Recommended)", "").strip()
    return to_one_line(f"{label}: {details}" if details else label, LONGEST)


def read_plan(plan: str) -> str:
    """Return what a plan is about: its heading and its first points, on one line."""
    headings = [line.strip("# ").strip() for line in plan.splitlines() if line.startswith("#")]
    title = (
        re.sub(r"^(?:plan|implementation plan)\s*[:\u2014-]\s*", "", headings[0], flags=re.IGNORECASE)
        if headings
        else ""
    )
    points = [sentence for _, sentence in iter_statements(plan, 4_000)][:4]
    return to_one_line(f"{title}: {' '.join(points)}" if title else " ".join(points), LONGEST)


def read_reply(message: str, before: str, *, interrupted: bool = False, acted: bool = False) -> list[FoundDecision]:
    """Return what a person decided in a message, given the agent's message before it.

    `acted` says that the agent called tools since the person's last message.
    """
    statements = _list_statements(message)
    asked = find_last_question(before[-_ASKED:])
    is_choice = replies.is_choice(asked)
    if interrupted or replies.is_correction(message):
        aims_at_proposal = is_choice if asked else has_proposal(before) and any(map(_directs, statements))
        if interrupted or acted or aims_at_proposal or any(map(replies.is_suggestion, statements)):
            return _read_correction(statements, before, interrupted=interrupted)
    elif replies.is_approval(message) or _takes_up(message, before):
        return _read_approval(message, statements, before, asked)
    elif is_choice and _answers(message, statements, before):
        return _build(ANSWER, list(filter(_is_choice_made, statements)), asked)
    suggested = [sentence for sentence in statements if replies.is_suggestion(sentence)] if before else []
    return _build(CORRECTION, suggested, "") or _build(RULE, list(filter(_is_rule, statements)), "")


def _directs(sentence: str) -> bool:
    """Return whether a sentence says what to do or what not."""
    is_order = bool(_IMPERATIVE.match(sentence) or _REFUSING.match(sentence))
    return is_order or replies.has_contrast(sentence) or replies.is_suggestion(sentence)


def _takes_up(message: str, before: str) -> bool:
    """Return whether a message orders what the agent proposed: do it, implement that, let's use the second."""
    return (
        bool(before)
        and len(message) <= _TYPED
        and bool(_REFERRING.match(message))
        and not message.rstrip().endswith("?")
    )


def read_request(message: str) -> list[FoundDecision]:
    """Return the rules a person sets in a request, and the plan it hands over."""
    plan = requests.find_plan(message)
    if plan:
        return [FoundDecision(kind=ACCEPTED, text=read_plan(plan))]
    return _build(RULE, list(filter(_is_rule, _list_statements(message))), "")


def _is_rule(sentence: str) -> bool:
    """Return whether a sentence outside of an answer states a rule."""
    if replies.is_plain_question(sentence) or replies.is_aside(sentence) or len(sentence.split()) < 4:
        return False
    if _NORM.search(sentence):
        return True
    if replies.is_hedged(sentence[:_LEAD]):
        return False
    return (replies.is_rule(sentence) and bool(_IMPERATIVE.match(sentence))) or bool(_CONSTRAINT.search(sentence))


def _is_choice_made(sentence: str) -> bool:
    """Return whether a sentence in answer to a question settles something, and does not only report."""
    if replies.is_plain_question(sentence) or (_REPORT.match(sentence) and not _is_rule(sentence)):
        return False
    return not replies.is_hedged(sentence[:_LEAD])


def _read_correction(statements: list[str], before: str, *, interrupted: bool) -> list[FoundDecision]:
    """Return what a correction demands, and what it turns down if it says no to a proposal."""
    kept = [
        sentence
        for sentence in statements
        if not replies.is_plain_question(sentence)
        and (_directs(sentence) or _is_rule(sentence) or not _REPORT.match(sentence))
    ]
    if not any(_directs(sentence) or _is_rule(sentence) for sentence in kept) and not interrupted:
        return []
    made = _build(CORRECTION, kept, find_last_question(before[-_ASKED:]))
    turned_down = find_proposal(before) if made and statements and _REFUSING.match(statements[0]) else ""
    if len(turned_down.split()) >= 4 and has_proposal(before):
        made.append(FoundDecision(kind=REJECTED, text=to_one_line(turned_down, 240), about=made[0].text[:160]))
    return made


def _read_approval(message: str, statements: list[str], before: str, asked: str) -> list[FoundDecision]:
    """Return what an approval accepts: the agent's proposal, with what the person adds."""
    offers = bool(asked) and replies.is_choice(asked)
    ordered = any(_IMPERATIVE.match(replies.strip_approval(sentence)) for sentence in statements)
    if not (offers or has_proposal(before)) or (replies.is_weak_approval(message) and not offers and not ordered):
        return _build(RULE, list(filter(_is_rule, statements)), "")
    rest = [sentence for sentence in statements if not replies.is_plain_question(sentence)]
    said = [
        sentence for sentence in rest if len(extract_content_words(replies.strip_approval(sentence))) >= 3
        and _is_choice_made(replies.strip_approval(sentence))
    ]  # fmt: skip
    proposal = find_proposal(before)
    if len(proposal.split()) < 4 or _is_routine(proposal) or message.rstrip().endswith("?"):
        proposal = ""
    accepts = proposal and replies.is_approval(message)
    accepted = [FoundDecision(kind=ACCEPTED, text=proposal)] if accepts else []
    return [*accepted, *_build(ANSWER if replies.is_approval(message) else ACCEPTED, said, asked or proposal)]


def is_routine_offer(question: str) -> bool:
    """Return whether an agent only offers to commit, to push or to go on."""
    return bool(_ROUTINE_OFFER.search(question))


def _is_routine(proposal: str) -> bool:
    """Return whether a proposal is only about committing, pushing or going on."""
    return bool(_ROUTINE.match(proposal)) and len(proposal) < 60


def _answers(message: str, statements: list[str], before: str) -> bool:
    """Return whether a message answers the question before it, and is no new request."""
    if not statements or message.rstrip().endswith("?") or len(message) > _TYPED:
        return False
    shared = extract_content_words(message) & extract_content_words(before[-_ASKED:])
    if _CODE_TASK.match(message) and len(shared) < 3:
        return False
    return len(message.split()) <= 8 or len(shared) >= 2


def _list_statements(message: str) -> list[str]:
    """Return the sentences of what a person typed, without questions that only ask, asides and approval."""
    sentences: list[str] = []
    for line in _join_lists(message[:_TYPED].replace("\u2019", "'")).splitlines():
        bare = line.strip().lstrip("-*• ")
        if bare and not bare.startswith((">", "```", "|")):
            sentences += split_sentences(_LINK.sub("", bare).strip())
    return [sentence for sentence in sentences if not replies.is_aside(sentence) and re.search(r"\w", sentence)]


def _join_lists(message: str) -> str:
    """Join a list to the line that introduces it: `The rules are:` says nothing alone."""
    return _LIST_AFTER_COLON.sub(lambda match: match[0].replace("\n", " "), message)


def _build(kind: str, sentences: list[str], about: str) -> list[FoundDecision]:
    kept = [sentence for sentence in sentences if not replies.is_plain_question(sentence)]
    if kind == ANSWER and all(map(replies.is_hedged, kept)):
        return []
    text = to_one_line(" ".join(kept), LONGEST)
    if not text or text.endswith(":") or (replies.is_bare_approval(text) and kind != ANSWER):
        return []
    if is_routine_offer(about) and not any(map(_is_rule, kept)):
        return []  # whether to commit now is no decision about the work
    return [FoundDecision(kind=kind, text=text, about=to_one_line(about, 200))]


def find_recap(message: str, decided: list[str], *, needs_label: bool = False) -> str:
    """Return the sentences in which an agent restates what a person decided, or "" if it does not.

    Questions and announcements of what it does next are left out. Between calls of tools only what says that it is a
    restatement counts (`needs_label`).
    """
    sentences = [
        sentence
        for _, sentence in iter_statements(message, 4_000)
        if not sentence.rstrip().endswith("?") and not _INTENTION.match(sentence)
    ]
    if not sentences or not decided:
        return ""
    start = next((number for number, sentence in enumerate(sentences) if _RECAP_LABEL.search(sentence)), -1)
    marked = start >= 0 or bool(_RECAP_START.search(message[:100]))
    if needs_label and not marked:
        return ""
    chosen = sentences[max(start, 0) :] if marked else [sentence for sentence in sentences if replies.is_rule(sentence)]
    needed = extract_content_words(" ".join(decided))
    shared = needed & extract_content_words(message[:4_000])
    return (
        to_one_line(" ".join(chosen), RECAP_LENGTH)
        if chosen and len(shared) >= min(3, max(1, len(needed) // 3))
        else ""
    )
