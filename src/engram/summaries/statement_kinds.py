"""Classify sentences by form: decisions, preferences, facts, open questions. Pure, and English only."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ASKED, DECIDED, WISHED, FACT, OPEN, DONE, SAID = "asked", "decided", "wished", "fact", "open", "done", "said"

_DECIDED = re.compile(
    r"\b(?:(?:we|i|they)(?:'ve| have|'ll| will)? (?:\w+ )?(?:decided?|agreed?|chose|settled|go(?:ing)? with|went with)"
    r"|let'?s (?:go with|use|keep|stick|switch|drop|move|do|not|make)|let'?s .{1,120}\bbecause"
    r"|(?:i'?m|we'?re) going (?:with|to use)"
    r"|decision(?: is)?:|the plan is|we(?:'ll| will| should) use|instead of .{1,80}\bbecause|chosen? because)\b",
    re.IGNORECASE,
)
_WISHED = re.compile(
    r"\b(?:i(?:'d| would)? (?:really )?(?:prefer|rather|hate|dislike|can'?t stand)|from now on|my preference|no more"
    r"|i (?:really )?(?:like|love)(?! the idea| how| that)|i always|i never(?! realized| knew| thought| heard)"
    r"|please (?:use|don'?t|do not|always|never|make sure|keep|avoid|stop)|make sure (?:to|that|you)"
    r"|remember (?:to|that)|(?:always|never) (?:use|run|write|add|commit|ask|put|do|push|edit))\b"
    r"|^(?:(?:so|and|but|ok|okay|no|please|also),? )?(?:don'?t|do not|never|always|avoid|stop|use|prefer)\b",
    re.IGNORECASE,
)
_ABOUT_ME = re.compile(
    r"\b(?:i am|i'?m|i have|i'?ve (?:got|been|had)|i had|i live|i moved|i work|i use|i own|i bought|i got|i switched"
    r"|i (?:just )?joined|i study|i play|i drive|i run|i write|i was born|i no longer|i don'?t|i stopped|i started"
    r"|i grew|i speak|we use|our \w+(?: \w+)? (?:is|are|runs?|uses?)"
    r"|my (?:\w+ ){1,4}(?:is|are|was|has|had|lives|works))\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:(?-i:TODO|FIXME)|(?:left|remains?) to do|next (?:step|up|time|we|i|is)|not yet|remains? to|needs? to be"
    r"|still (?:need|have to|to do|missing|open|fails?|broken)|remaining (?:work|tasks?|steps?|issues?|items?)"
    r"|blocked (?:by|on)|open question|unresolved|will (?:need|have) to|later (?:we|i|on)|out of scope"
    r"|known (?:issue|limit))\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:fixed|root cause|the (?:real |actual )?(?:problem|bug|issue|reason|cause) (?:was|is)|turns out|works now"
    r"|(?:all )?(?:\d+ )?(?:tests|checks) pass|committed|merged|deployed|released|implemented|resolved|completed"
    r"|migrated)\b",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"^(?:thanks|thank you|great|good|sure|ok(?:ay)?|perfect|you'?re (?:absolutely )?(?:right|welcome)|i'?m sorry|sorry"
    r"|hello|hi|let me|i hope|happy to|of course|certainly|absolutely|i'?d be happy|feel free|is there anything"
    r"|here'?s|here is|here are|now (?:let|i)|i[’']?ll (?:now |also |start|check|look|read|update|run|give|take)"
    r"|no response)\b",
    re.IGNORECASE,
)
_MOOD = re.compile(  # about this moment: not a lasting fact
    r"\b(?:i am|i'?m) (?:not |so |really |pretty )?(?:sure|sorry|looking|trying|going|getting|seeing|just|glad|happy"
    r"|afraid|confused|wondering|thinking|planning|curious|here|done|back|good|fine|ok|excited|interested)\b"
    r"|\b(?:i am|i'?m) (?:\w+ )?(?!living|working (?:at|for|as|in)\b)\w+ing\b"
    r"|\bi have (?:a|another|one|some) (?:question|idea)|\bi don'?t (?:know|think|understand|see|get|care|remember"
    r"|mind)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^(?:can|could|would|will|please|let'?s|show|wait|why|how|what|which|when|is|are|do|does)\b", re.IGNORECASE
)
_FILE = re.compile(
    r"(?<![\w/.@:-])(?:(?:[\w.@~-]{1,64}/){0,12}[\w.@-]{1,80}\.[a-zA-Z][a-zA-Z0-9]{0,7}(?![\w/])"
    r"|(?:[\w.@~-]{1,64}/){2,12}[\w.@-]{1,80})"
)
_SUFFIX = frozenset(
    """py js ts tsx jsx rs go rb java kt c h cc cpp hpp cs ex exs md txt toml yaml yml json sql sh css html vue svelte
    ini cfg lock xml csv ipynb swift php lua r jl tf proto dockerfile env conf log db sqlite zig scala hs ml el vim
    nix gradle bat ps1 rst tex""".split()
)
_CODE_SPAN = re.compile(r"`([^`\n]{3,120})`")
_PROMPT = re.compile(r"^\s*\$ (\S.{1,118})$", re.MULTILINE)
_PROGRAM = frozenset(
    """git npm npx pnpm yarn pip pipx uv python python3 pytest docker kubectl make cargo go node ruff mypy terraform
    curl ssh psql sqlite3 systemctl brew apt mix bundle rails rake gradle mvn dotnet helm aws gcloud gh just poetry
    tox engram""".split()
)
_NAME = re.compile(r"(?<=[a-z0-9,;()] )[A-Z][\w-]{2,30}(?: [A-Z][\w-]{1,30}){0,2}")


def classify_sentence(sentence: str, role: str) -> str:
    """Return the form of a sentence."""
    if _POLITE.match(sentence) and len(sentence) < 120:
        return SAID
    is_user_statement = role == "user" and not sentence.endswith("?")
    if _DECIDED.search(sentence) and not sentence.endswith("?"):
        return DECIDED
    if is_user_statement and _WISHED.search(sentence):
        return WISHED
    if is_user_statement and _ABOUT_ME.search(sentence) and not _MOOD.search(sentence) and not _REQUEST.match(sentence):
        return FACT
    if _OPEN.search(sentence):
        return OPEN
    return DONE if role != "user" and _DONE.search(sentence) else SAID


def is_polite(sentence: str) -> bool:
    """Check whether a sentence is only a pleasantry."""
    return bool(_POLITE.match(sentence))


def find_files(text: str) -> Iterator[str]:
    """Yield the files a text names."""
    for path in (name.rstrip(".") for name in _FILE.findall(text)):
        if path.rpartition(".")[2].lower() in _SUFFIX or path.count("/") > 2:
            yield path


def find_commands(text: str) -> Iterator[str]:
    """Yield the commands a text shows."""
    for command in (*_PROMPT.findall(text), *_CODE_SPAN.findall(text)):
        if command.split(" ", 1)[0] in _PROGRAM and " " in command:
            yield command.strip()


def find_names(text: str) -> Iterator[str]:
    """Yield the words in sentences that are written like names."""
    yield from (name for name in _NAME.findall(text) if not name.isupper())
