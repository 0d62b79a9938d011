"""Tell a decision that outlives its moment from a step of the work, a remark or a piece of code. Pure.

`Use option B` says nothing tomorrow, `commit first` nothing in an hour. What is kept must name something.
"""

from __future__ import annotations

import re

from engram.evidence import replies
from engram.evidence.content_words import extract_content_words
from engram.platform.sentences import split_sentences
from engram.platform.text import to_one_line

_NAMED = 3  # words beside those of the work's own steps that a decision needs

_STEPS = extract_content_words(  # how the work proceeds, not what is decided about it
    """
    accept address agent analysis analyze answer apply approach aren ask batch begin branch build bullet bump
    change check cleanup code comment commit complete continue conversation correct couldn create current
    delegate description didn diff direct discuss do doc document doesn don draft edit everything execute
    explain explore fable feedback file final finish first fix fixup fold follow fork go haiku hand idea
    implement implementation info investigate isn issue item last later lease ll main mean merge message model
    move next note now number open option opus part phase plan please point possible post pr proceed proposal
    propose pull push question re read ready rebase recommend recommendation reconsider remote reply report
    resolve respond restart revert review run second sense sequence session ship shouldn skill sonnet stage
    start stash step stop subagent suggest suggestion suite summarize summary support t task team test then
    thing think third thread time todo together track try turn update use ve verify wait word work worker
    workflow wouldn write yes
    """
)
_ALWAYS = re.compile(r"\b(?:always|never|from now on|in (?:the )?future)\b", re.IGNORECASE)
_WHO_DOES_IT = re.compile(  # which agent or model does a step
    r"\bs[ui]b-?agents?\b|\b(?:haiku|sonnet|opus|fable|gpt-?\d\S*)\b|^(?:ok(?:ay)?,? |yes,? )?i(?:'ll| will)\b",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"^(?:and |so |but )*(?:my assumption|confirms?\b|here(?:'s| is| are)|session [ab]:|like there)", re.IGNORECASE
)
_NEVER_MIND = re.compile(r"\bnever ?mind\b", re.IGNORECASE)
_LASTING = re.compile(
    r"\b(?:always|never|from now on|every time|whenever|each time|in (?:the )?future|by default|remember|"
    r"no longer|anymore)\b",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\b(?:must(?:n'?t)?|always|never|from now on|every time|whenever|by default|remember|prefer|avoid|not allowed|"
    r"(?:do not|don'?t) (?!want|think|know|see|have|need|understand|like|get)\w+|should (?:not|never|always|only|stay)|"
    r"(?:we|i) (?:only|no longer|always|never)|in this (?:repo|repository|project|codebase)|anymore)\b",
    re.IGNORECASE,
)
_CHOOSES = re.compile(  # about one change
    r"^(?:go ahead|(?:can|could|should) (?:we|you)|why|i want to|option|so |yes\b|no redesign)|\?$", re.IGNORECASE
)
_IDENTIFIER = re.compile(
    r"`[^`\n]{2,80}`|\b\w+(?:\.\w+)*\(\)|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w*|\b\w+_\w+|(?<!\w)--?[a-z][\w-]{2,}|"
    r"\b[\w-]+\.(?:[a-z]{2,4}|json|yaml|toml)\b|[#*]\w{2,}|\b\d\d+\b|(?<!\w)['\"][^'\"\n]{1,60}['\"](?!\w)"
)
_PASSING = re.compile(  # about this moment of the conversation
    r"^(?:and |so |but |ok(?:ay)?,? |yes,? |no,? |now,? |well,? )*"
    r"(?:(?:first|different question|pause|try (?:again|it)|"
    r"one (?:more )?(?:thing|question)|never ?mind|let me|i was (?:more )?(?:wondering|asking)|huh|hm+|wait|"
    r"use your (?:best )?(?:guess|judg\w+)|do a (?:proper )?\w+|make (?:it|me) do|you can (?:now|also)|"
    r"there needs? to be a decision)|"
    r"(?:let'?s |please |then |can you |you )*(?:commit|push|merge|rebase|stash|cherry-pick|open (?:up )?(?:an?|the)|"
    r"cut|create an?(?: \w+)? (?:pr|commit|branch|plan|issue)|investigate|analy[sz]e|summari[sz]e|explain|reply|"
    r"respond|continue|proceed|check|look|have a look|ask|tell me|show me|give me|run|read|start)\b)",
    re.IGNORECASE,
)
_DONE = re.compile(  # a report of what was changed, which asks for nothing
    r"^(?:i(?:'ve| have)\b|(?:switched|changed|added|removed|updated|fixed|moved|renamed|implemented|created|replaced|"
    r"committed|verified|confirmed|checked|found)\b)",
    re.IGNORECASE,
)
_FINDING = re.compile(  # how something is, found while looking
    r"\b(?:currently|was never|were never|already|turns out|this (?:means|makes|happens|decision)|root cause|"
    r"the (?:issue|problem|bug|error|comment|author|reporter|pr|user)(?:'s)? (?:\w+ )?"
    r"(?:is|was|proposes?|says?|reports?|own)|falls back|often before|closes the window|isn'?t (?:a|the) )\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"^(?:because|since|otherwise|that(?:'ll| will| way|'s because)|this way|so that|it(?:'s| is|'ll) )", re.IGNORECASE
)
_RULE_VERBS = """
    keep use make ensure prefer avoid stick must stay leave drop do put write set call name run let add remove create
    stop skip treat return pin instead count lowercase uppercase round sort ship fold ignore order log map normalize
    strip apply reject accept raise allow include exclude limit cap store encode escape replace switch merge split
    regenerate require default fall honor preserve trim validate check go give take
""".split()
_PROCESS = re.compile(  # how the work goes on, not what is decided about it
    r"^(?:(?:so|and|but|ok(?:ay)?|yes|no|then|now|also)[,.]? +)*(?:you can say\b|my (?:suggested|take|guess)\b|"
    r"given\b|for the implementation\b|(?:let'?s|please|i'?ll|i'?d|we'?ll) (?:do a|run|check|look|see|start|continue|"
    r"commit|push|first|handle|now|proceed|review|test|re-?run|verify|move on|go)\b|"
    r"why (?:are|is|do|don|did|aren|isn)|"
    r"the (?:question|next step|plan) is\b|(?:can|could|would|should) (?:we|you|i)\b[^.]*\?$)",
    re.IGNORECASE,
)
_POSTPONES = re.compile(r"\b(?:re-run|i'?d handle|validate that|as a separate decision|say the word)\b", re.IGNORECASE)
_CHANGE_VERBS = """
    move extend rename fix implement wire document introduce convert inline extract build bump delete expose handle mark
    pass point reuse rewrite test update wrap load emit parse persist restore cast new
""".split()
_CHANGE = re.compile(rf"^(?:{'|'.join([*_RULE_VERBS, *_CHANGE_VERBS])})\b", re.IGNORECASE)
_IMPERATIVE = re.compile(
    r"^(?:(?:also|and|so|but|then|just|please|ok(?:ay)?|no|yes|right|exactly|ideally|always|never|only)[,.\s]+)*"
    r"(?:(?:if|when|for|on|in|inside|within|unless|after|before)\b[^,]{2,90},\s+)?"
    r"(?:always|never|only|don'?t|do not|no\b|i want (?!you to|to (?:rework|do|provide|add|implement|create|build|make|"
    r"see|know|understand|check|look|investigate|fix|refactor|change|update|review)\b)|(?:i'?d|"
    r"i would) like (?!to (?:work|do|add|discuss|see|know|talk|start|try|make|get))|"
    r"i don'?t want|i prefer|let'?s|"
    r"we (?:want|need|must|only|always|never)|the rules?|" + "|".join(_RULE_VERBS) + r")\b",
    re.IGNORECASE,
)
_ABSENCE = re.compile(r"^no\b(?! longer\b)", re.IGNORECASE)  # an agent tells that something is not there
_CODE_SIGNS = re.compile(r"[{}<>=;|\\]|\(\)|\w\(\w|->|=>|\$\w")
_CODE_SHARE = 0.05  # code signs per character above which a text is code
_OPTION = re.compile(
    r"\b(?:option|approach|variant|solution|alternative|choice|proposal|number|nr\.?|#)\s*(?P<label>[A-Ea-e]|\d)\b|"
    r"^\W*(?:(?:let'?s|go with|do|take|use|i want|yes,?)\s+)*(?:the )?(?:(?P<ordinal>first|second|third|fourth|last)"
    r"(?: one| option)?|(?P<bare>[a-eA-E]|\d))\W*$",
    re.IGNORECASE,
)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}


def is_order(sentence: str) -> bool:
    """Return whether a sentence says what to do."""
    return bool(_IMPERATIVE.match(sentence))


def is_change(sentence: str) -> bool:
    """Return whether an agent's sentence says what to change, as a point of a plan does."""
    return not _ABSENCE.match(sentence) and (bool(_CHANGE.match(sentence)) or is_order(sentence))


def is_lasting(sentence: str) -> bool:
    """Return whether a person's sentence decides something beyond the next step."""
    if _REMARK.match(sentence) or (_WHO_DOES_IT.search(sentence) and not _ALWAYS.search(sentence)):
        return False
    if _LASTING.search(_NEVER_MIND.sub("", sentence)):
        return True
    return not _PASSING.match(sentence) and names_something(sentence)


def is_standing(text: str) -> bool:
    """Return whether a decision states a rule for work to come, not a choice about one change."""
    return bool(_STANDING.search(_NEVER_MIND.sub("", text))) and not _CHOOSES.search(text.strip())


def is_reason(sentence: str) -> bool:
    """Return whether a sentence gives the reason of the one before it."""
    return bool(_REASON.match(sentence)) and len(sentence.split()) <= 25


def is_step(sentence: str) -> bool:
    """Return whether a sentence only says what to do next."""
    return bool(_PASSING.match(sentence))


def is_about_procedure(text: str) -> bool:
    """Return whether a text says how the work goes on, not what is decided about it."""
    return bool(_PROCESS.match(text) or _POSTPONES.search(text))


def names_something(sentence: str) -> bool:
    """Return whether a sentence names what it is about, by words of its own or by an identifier."""
    named = extract_content_words(sentence) - _STEPS
    if _IDENTIFIER.search(sentence):
        return bool(named)
    return len(named) >= (_NAMED - 1 if replies.is_rule(sentence) or replies.has_contrast(sentence) else _NAMED)


def drop_steps(words: frozenset[str]) -> frozenset[str]:
    """Return the content words that say what a text is about, without those of the work's own steps."""
    return words - _STEPS


def list_identifiers(text: str) -> set[str]:
    """Return the code names, numbers and quoted words in a text."""
    return {match[0].strip("`'\"").lower() for match in _IDENTIFIER.finditer(text)}


def is_proposal_text(sentence: str) -> bool:
    """Return whether an agent's sentence, once accepted, says what was agreed on."""
    bare = sentence.strip()
    if bare.rstrip("\"')*").endswith((":", "?")) or _DONE.match(bare) or _FINDING.search(bare) or _PASSING.match(bare):
        return False
    if _POSTPONES.search(bare):
        return False
    return names_something(bare) and not is_code(bare) and not _REMARK.match(bare)


def is_code(text: str) -> bool:
    """Return whether a text is mostly code."""
    bare = re.sub(r"`[^`]*`", "", text)
    return len(_CODE_SIGNS.findall(bare)) > max(3, _CODE_SHARE * len(bare))


def find_chosen_option(message: str, before: str) -> str:
    """Return the option of the agent's message that a person names by its number or letter, or ""."""
    match = _OPTION.search(message[:300])
    if not match:
        return ""
    label = match["label"] or match["bare"] or str(_ORDINALS.get((match["ordinal"] or "").lower(), ""))
    if not label:
        return ""
    wanted = re.compile(
        rf"^\W*(?:option|approach|variant|solution|alternative|proposal)?\s*{re.escape(label)}\s*[.):\u2014\u2013-]+\W*(.+)",
        re.IGNORECASE,
    )
    lines = [line.replace("**", "").strip() for line in before.splitlines()]
    found = next((hit for line in reversed(lines) if (hit := wanted.match(line))), None)
    return to_one_line(" ".join(split_sentences(found[1])[:2]), 240) if found else ""
