"""Decisions: rules and choices that a person made or confirmed, found by who said what in answer to what. Pure.

An agent's words count only where a person confirmed them or let them stand.
"""

from __future__ import annotations

import re

from engram.evidence import lasting, replies, requests
from engram.evidence.asking_tools import read_plan
from engram.evidence.content_words import extract_content_words, measure_overlap
from engram.evidence.decision_kinds import ACCEPTED, ANSWER, CORRECTION, LONGEST, REJECTED, RULE, FoundDecision
from engram.evidence.reports import find_last_question, find_proposal, has_proposal, offers_to_act
from engram.platform.sentences import split_sentences
from engram.platform.text import to_one_line

_TYPED = 2_000  # characters of a message a person types; more is pasted
_PASTE = 900  # characters above which only the first paragraph of a correction counts
_REPLACED = 0.6  # share of a decision's words that a newer one has which replaces it
_REPLACED_NAMED = 0.4  # the same, if both name the same identifier
_LONGEST_NORM = 160  # characters of a rule stated as a fact; a longer one describes something
_LONG_ANSWER = 300  # characters
_PERSONAL = re.compile(r"\b(?:i|we|you|our|us|my|let'?s|please|don'?t|never|always)\b|\?", re.IGNORECASE)
_REFUSAL_WORDS = 1  # content words of a refusal that demands something
_SHORT_ANSWER = 8  # words
_ASKED = 1_200  # characters from the end of an agent's message in which it asks

_REASON = re.compile(
    r"(?:the user said:|reason for the rejection:|(?:user )?feedback:|user (?:said|responded|replied):)\s*(.+)",
    re.DOTALL | re.IGNORECASE,
)
_NOTE_AFTER_REASON = re.compile(r"\n\s*Note: .*", re.DOTALL)
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
_BRIEFS_AGENT = re.compile(
    r"^(?:you are (?!right|welcome|correct|missing|using|still|not)|your (?:task|role|job) is\b)", re.IGNORECASE
)
_STANDING = re.compile(  # holds beyond the request it stands in
    r"\b(?:always|never|must(?:n'?t)?|only|from now on|by default|allowed|exactly|every time|whenever|"
    r"as \w+ as possible|at (?:least|most)|instead of|similar to|keep (?:the|it|them|this|that|our)|"
    r"every \w+ (?:should|must|has)|don'?t|do not|should (?:not|never|always|be|stay))\b",
    re.IGNORECASE,
)
_ORDERS_IT = re.compile(  # a person has what was proposed done
    r"^(?:(?:yes|ok(?:ay)?|sure|great|perfect|alright|please|then|so|and)[,.! ]+)*(?:go ahead|go (?:for|with)|"
    r"do (?:it|that|this|so)|implement|apply|proceed|let'?s (?:do|go|implement|use)|"
    r"plan and implement|create a plan)\b",
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
    r"(?:ok(?:ay)?,? )?i \w+ed\b|still\b|seems?\b|looks?\b|works?\b|did\b|the (?:problem|issue|question|error)\b)",
    re.IGNORECASE,
)
_PASTED_ERROR = re.compile(r"^(?:[\w.]*(?:Error|Exception)|error|fatal|warning): ")
_REFUSING = re.compile(
    r"^(?:no+\b|nope|not\b|don'?t|do not|never|wrong|careful|instead|rather|that part is off|you (?:can|should) \w)",
    re.IGNORECASE,
)


def amends(text: str) -> bool:
    """Return whether a text says that it changes an earlier decision."""
    return bool(_AMENDING.search(text))


def find_amending(text: str) -> str:
    """Return the sentences of a text that say that something earlier is changed, each with the one after it."""
    sentences = split_sentences(text)
    marked = {place for place, sentence in enumerate(sentences) if amends(sentence)}
    return " ".join(sentence for place, sentence in enumerate(sentences) if marked & {place, place - 1})


def replaces(text: str) -> bool:
    """Return whether a text takes something back or puts something else in its place."""
    return bool(_REPLACING.search(text)) or amends(text)


def is_replaced(older: str, newer: str) -> bool:
    """Return whether a newer decision of the same session, which replaces something, replaces an older one."""
    overlap = measure_overlap(older, newer)
    return overlap >= _REPLACED or (
        overlap >= _REPLACED_NAMED and bool(lasting.list_identifiers(older) & lasting.list_identifiers(newer))
    )


def find_denial_reason(text: str) -> str:
    """Return what a person said when they refused a call."""
    match = _REASON.search(text)
    return _NOTE_AFTER_REASON.sub("", match[1]).strip()[:_TYPED] if match else ""


def read_refusal(reason: str, refused: str) -> list[FoundDecision]:
    """Return what a person demanded when they refused a call, if it is more than the next step."""
    statements = [
        sentence
        for sentence in _list_statements(_first_paragraph(reason))
        if (_directs(sentence) or replies.is_rule(sentence))
        and not lasting.is_step(sentence)
        and (lasting.is_order(sentence) or lasting.names_something(sentence))
        and len(extract_content_words(sentence)) >= _REFUSAL_WORDS
    ]
    named = [sentence for sentence in statements if lasting.names_something(f"{sentence} {refused}")]
    if not named or (reason.rstrip().endswith("?") and not any(map(replies.is_suggestion, named))):
        return []
    text = to_one_line(" ".join(named), LONGEST)
    made = [FoundDecision(kind=CORRECTION, text=text, about=refused)]
    if refused.startswith("run ") and not refused.startswith("run git "):
        made.append(FoundDecision(kind=REJECTED, text=refused, about=text[:160]))
    return made


def _first_paragraph(text: str) -> str:
    """Return a text, or of a long one the first paragraph: the rest is pasted."""
    return text if len(text) <= _PASTE else text.strip().split("\n\n")[0][:_PASTE]


def read_reply(message: str, before: str, *, interrupted: bool = False, acted: bool = False) -> list[FoundDecision]:
    """Return what a person decided in a message, given the agent's message before it.

    `acted` says that the agent called tools since the person's last message.
    """
    return [_name_option(found, message, before) for found in _read_reply(message, before, interrupted, acted)]


def _name_option(found: FoundDecision, message: str, before: str) -> FoundDecision:
    """Add to a decision for `option B` what option B is."""
    option = lasting.find_chosen_option(message, before) if found.kind in (ANSWER, RULE, CORRECTION) else ""
    if not option or measure_overlap(option, found.text) >= _REPLACED:
        return found
    return FoundDecision(kind=found.kind, text=to_one_line(f"{found.text} ({option})", LONGEST), about=found.about)


def _read_reply(message: str, before: str, interrupted: bool, acted: bool) -> list[FoundDecision]:
    statements = _list_statements(message)
    if len(message) > _LONG_ANSWER and not _PERSONAL.search(message):
        return []  # pasted
    asked = find_last_question(before[-_ASKED:])
    is_choice = replies.is_choice(asked)
    if interrupted or replies.is_correction(message):
        aims_at_proposal = is_choice if asked else has_proposal(before) and any(map(_directs, statements))
        if interrupted or acted or aims_at_proposal or any(map(replies.is_suggestion, statements)):
            return _read_correction(_list_statements(_first_paragraph(message)), before, interrupted=interrupted)
    elif replies.is_approval(message) or _takes_up(message, before):
        return _read_approval(message, statements, before, asked)
    elif is_choice and _answers(message, statements, before):
        return _build(ANSWER, list(filter(_is_choice_made, statements)), asked)
    suggested = [sentence for sentence in statements if replies.is_suggestion(sentence)] if before else []
    return _build(CORRECTION, suggested, "") or _build(RULE, list(filter(_is_rule, statements)), "")


def _directs(sentence: str) -> bool:
    """Return whether a sentence says what to do or what not."""
    is_order = lasting.is_order(sentence) or bool(_REFUSING.match(sentence))
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
    if _BRIEFS_AGENT.match(message):
        return []  # written for a subagent, or for a test of one
    statements = _list_statements(message)
    rules = [sentence for sentence in statements if _is_rule(sentence)]
    if rules and statements[0] == rules[0] and not _STANDING.search(rules[0]):
        rules = rules[1:]  # what is asked for now, not what holds later
    return _build(RULE, rules, "")


def _is_rule(sentence: str) -> bool:
    """Return whether a sentence outside of an answer states a rule."""
    if replies.is_plain_question(sentence) or replies.is_aside(sentence) or len(sentence.split()) < 4:
        return False
    if _NORM.search(sentence) and len(sentence) <= _LONGEST_NORM:
        return True
    if replies.is_hedged(sentence[:_LEAD]):
        return False
    return (replies.is_rule(sentence) and lasting.is_order(sentence)) or bool(_CONSTRAINT.search(sentence))


def _is_choice_made(sentence: str) -> bool:
    """Return whether a sentence in answer to a question settles something, and does not only report."""
    if replies.is_plain_question(sentence) or (_REPORT.match(sentence) and not _is_rule(sentence)):
        return False
    if _PASTED_ERROR.match(sentence):
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
    if interrupted:
        kept = [sentence for sentence in kept if _directs(sentence) or replies.is_rule(sentence)]
    if not any(_directs(sentence) or _is_rule(sentence) for sentence in kept):
        return []
    made = _build(CORRECTION, kept, find_last_question(before[-_ASKED:]))
    turned_down = find_proposal(before) if made and statements and _REFUSING.match(statements[0]) else ""
    if len(turned_down.split()) >= 4 and has_proposal(before):
        made.append(FoundDecision(kind=REJECTED, text=to_one_line(turned_down, 240), about=made[0].text[:160]))
    return made


def _read_approval(message: str, statements: list[str], before: str, asked: str) -> list[FoundDecision]:
    """Return what an approval accepts: the agent's proposal, with what the person adds."""
    offers = bool(asked) and replies.is_choice(asked)
    ordered = any(lasting.is_order(replies.strip_approval(sentence)) for sentence in statements)
    if not (offers or has_proposal(before)) or (replies.is_weak_approval(message) and not offers and not ordered):
        return _build(RULE, list(filter(_is_rule, statements)), "")
    rest = [sentence for sentence in statements if not replies.is_plain_question(sentence)]
    said = [
        sentence for sentence in rest if len(extract_content_words(replies.strip_approval(sentence))) >= 3
        and _is_choice_made(replies.strip_approval(sentence))
    ]  # fmt: skip
    proposal = find_proposal(before, ordered=offers_to_act(before) or bool(_ORDERS_IT.match(message)))
    if len(proposal.split()) < 4 or _is_routine(proposal) or message.rstrip().endswith("?"):
        proposal = ""
    accepts = proposal and (replies.is_approval(message) or _ORDERS_IT.match(message))
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
    once = [sentence for sentence in sentences if sentences.count(sentence) == 1]  # programs repeat themselves
    return [sentence for sentence in once if not replies.is_aside(sentence) and re.search(r"\w", sentence)]


def _join_lists(message: str) -> str:
    """Join a list to the line that introduces it: `The rules are:` says nothing alone."""
    return _LIST_AFTER_COLON.sub(lambda match: match[0].replace("\n", " "), message)


def _build(kind: str, sentences: list[str], about: str) -> list[FoundDecision]:
    kept = [sentence for sentence in sentences if not replies.is_plain_question(sentence)]
    kept = _list_kept(kind, kept, about)
    if kind == ANSWER and all(map(replies.is_hedged, kept)):
        return []
    text = to_one_line(" ".join(kept), LONGEST)
    if not text or text.endswith(":") or (replies.is_bare_approval(text) and kind != ANSWER):
        return []
    if is_routine_offer(about) and not any(map(_is_rule, kept)):
        return []  # whether to commit now is no decision about the work
    return [FoundDecision(kind=kind, text=text, about=to_one_line(about, 200))]


def _list_kept(kind: str, sentences: list[str], about: str) -> list[str]:
    """Return the sentences that are worth keeping, each with the reason that follows it."""
    kept: list[str] = []
    follows = False
    for sentence in sentences:
        follows = _is_kept(kind, sentence, about) or (follows and lasting.is_reason(sentence))
        kept += [sentence] if follows else []
    return kept


def _is_kept(kind: str, sentence: str, about: str) -> bool:
    """Return whether a sentence still says something later; a short answer by what it answers."""
    if lasting.is_lasting(sentence):
        return True
    is_short_answer = kind == ANSWER and len(sentence.split()) <= _SHORT_ANSWER and not lasting.is_step(sentence)
    return is_short_answer and lasting.names_something(about)
