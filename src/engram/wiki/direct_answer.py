"""Answer a question in one or two sentences: the command, the work of a time, or the statement that settles it. Pure.

A question about a command, a time, a file or what is open gets what the hits list. Any other gets the one statement of
a hit that holds most of the question's words; without such a statement there is no direct answer.
"""

from __future__ import annotations

import re

from engram.index.tokenizer import QUESTION_WORDS, extract_terms
from engram.platform.sentences import split_sentences
from engram.platform.text import escape_inline, format_count, quote_as_data, to_one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from engram.types import Hit

BLOCKQUOTE = ">"  # people read an answer as Markdown
_LONGEST = 320  # characters of a statement
_SHORT = 40  # characters of a sentence that says nothing by itself
_SHOWN = 8  # lines of a list
_TELLING = ("Decided", "Cause: ", "Fixed: ", "Commit: ")  # lines that say why a file was changed
_GENERAL = frozenset(extract_terms("project repo repository codebase code use used using thing work file here"))
_MARKUP = re.compile(r"(?:^|(?<=\s))(?:---+|#{1,6}|…)(?=\s|[#-])\s*|^…\s*")
_LEAST = 0.4  # share of the question's words that a statement, with the title above it, must have
_LEAST_OWN = 0.2  # the same, of the statement alone
_LEAST_OF_HIT = 0.6  # the same, of everything that is shown of its hit: a question about more has no answer there
_IN_TITLE = 0.6  # worth of a word that only the title has
_LATER_HIT = 0.88  # worth of a statement for each hit before its own
_SECOND = 0.75  # worth, relative to the best, of a second statement that is shown
_LABEL = re.compile(r"^(Decided|Cause|Fixed|Turned down|Result|You|Agent|Commit|Open|Asked)(?: \([^)]*\))?: ")
_BRACKETS = re.compile(r"^(?P<command>.+?) \((?P<facts>[^()]*\b(?:passed|result unknown)\b[^()]*)\)$")
_WHY = re.compile(r"\b(?:why|reasons?|causes?|caused|because|how come|what broke|root cause)\b", re.IGNORECASE)
_DECIDING = re.compile(
    r"\b(?:decid\w*|decision\w*|agreed?|cho(?:se|ose|ice)|settled?|rules?|policy|should|prefer\w*|convention\w*)\b",
    re.IGNORECASE,
)
_FIXING = re.compile(r"\b(?:fix\w*|solv\w*|resolv\w*|repair\w*|error|fail\w*|broken?|work ?around)\b", re.IGNORECASE)
_REJECTING = re.compile(r"\b(?:reject\w*|turn\w* down|refus\w*|against|why (?:not|didn'?t|don'?t))\b", re.IGNORECASE)
# What each kind of statement is worth, by what the question asks for; the first pattern that matches counts.
_WORTH = (
    (_REJECTING, {"Turned down": 1.3, "Decided": 1.1}),
    (_WHY, {"Cause": 1.3, "Decided": 1.1, "Fixed": 1.0}),
    (_FIXING, {"Fixed": 1.3, "Cause": 1.2, "Decided": 1.0}),
    (_DECIDING, {"Decided": 1.4}),
)
_USUAL = {
    "Decided": 1.1, "Cause": 1.0, "Fixed": 1.0, "Result": 0.9, "Agent": 0.85, "You": 0.8, "Commit": 0.8,
    "Turned down": 0.6, "Open": 0.5, "Asked": 0.3, "": 0.8,
}  # fmt: skip


def compose_direct_answer(
    question: str, hits: Sequence[Hit], names: dict[str, str], cite: Callable[[Hit], str], *, asks_for_file: bool
) -> str:  # fmt: skip
    """Return the answer that hits, best first, give to a question, or "" if none says enough.

    `names` are the names of projects; `cite` says where a hit comes from.
    """
    if not hits:
        return ""
    if hits[0].tier == "command":
        return _describe_commands([hit for hit in hits if hit.tier == "command"], names)
    if hits[0].tier == "session":
        return _describe_work([hit for hit in hits if hit.tier == "session"], names)
    if all(_is_open(hit) for hit in hits):
        return _describe_open(hits, cite)
    return _describe_history(hits, cite) if asks_for_file else _state_best(question, hits, cite)


def _describe_commands(hits: Sequence[Hit], names: dict[str, str]) -> str:
    """Return the command to run, of several projects one each."""
    if len(hits) == 1:
        first, *others = hits[0].snippet.splitlines()
        return "\n".join([f"Run {_mark_command(first)}.", *(f"{_mark_also(line)}." for line in others[:2])])
    lines = [
        f"- {escape_inline(names.get(hit.project, hit.project), 80)}: {_mark_command(hit.snippet.splitlines()[0])}"
        for hit in hits[:_SHOWN]
    ]
    return "\n".join(["It depends on the project:", *lines])


def _mark_command(line: str) -> str:
    """Return a described command with the command itself marked as code."""
    match = _BRACKETS.match(line)
    return f"`{escape_inline(match['command'], 200)}` ({match['facts']})" if match else escape_inline(line, 300)


def _mark_also(line: str) -> str:
    return f"Also: {_mark_command(line.removeprefix('Also: '))}"


def _describe_work(hits: Sequence[Hit], names: dict[str, str]) -> str:
    """Return what was done in a time, a line for each session."""
    projects = {hit.project for hit in hits if hit.project}
    where = f" in {format_count(len(projects), 'project')}" if len(projects) > 1 else ""
    lines = [f"{format_count(len(hits), 'session')}{where}:"]
    for hit in hits[:_SHOWN]:
        name = escape_inline(names.get(hit.project, hit.project), 40)
        first, *others = hit.snippet.splitlines() or [hit.summary]
        more = f" (and {len(others)} more)" if others else ""
        lines.append(f"- {name + ': ' if name and where else ''}{escape_inline(first, 220)}{more}")
    if len(hits) > _SHOWN:
        lines.append(f"- and {format_count(len(hits) - _SHOWN, 'more session')}")
    return "\n".join(lines)


def _is_open(hit: Hit) -> bool:
    lines = hit.snippet.splitlines()
    return bool(lines) and all(line.startswith(("Open: ", "Not finished.")) for line in lines)


def _describe_open(hits: Sequence[Hit], cite: Callable[[Hit], str]) -> str:
    """Return what is open, a line for each item."""
    lines = [
        f"- {escape_inline(_LABEL.sub('', line) if line.startswith('Open') else f'Not finished: {hit.name}', 220)}"
        f" ({cite(hit)})"
        for hit in hits
        for line in hit.snippet.splitlines()
    ]
    return "\n".join(dict.fromkeys(lines[:_SHOWN]))


def _describe_history(hits: Sequence[Hit], cite: Callable[[Hit], str]) -> str:
    """Return who worked on a file and what for, a line for each episode or commit, newest first."""
    lines: list[str] = []
    for hit in hits[:_SHOWN]:
        told = next((line for line in hit.snippet.splitlines() if line.startswith(_TELLING)), "")
        ended = f"{hit.flavor}, {hit.outcome}" if hit.flavor and hit.outcome else hit.flavor or hit.outcome
        head = f"{escape_inline(hit.name, 120)}{f' [{ended}]' if ended else ''}"
        lines.append(f"- {head} ({cite(hit)})")
        lines += [quote_as_data(to_one_line(told, _LONGEST), BLOCKQUOTE)] if told else []
    return "\n".join(lines)


# ---- The statement that settles it


def _state_best(question: str, hits: Sequence[Hit], cite: Callable[[Hit], str]) -> str:
    """Return the statement with most of the question's words, and a second one that is nearly as good."""
    words = frozenset(extract_terms(question)) - QUESTION_WORDS - _GENERAL
    if not words:
        return ""
    worth = next((found for pattern, found in _WORTH if pattern.search(question)), {})
    found = sorted(
        (
            (_weigh(words, label, text, hit, {**_USUAL, **worth}) * _LATER_HIT**place, -place, label, text, hit)
            for place, hit in enumerate(hits)
            for label, text in _list_statements(hit)
        ),
        key=lambda item: (-item[0], -item[1]),
    )
    best = [item for item in found if item[0] > 0 and item[0] >= _SECOND * found[0][0]]
    return "\n".join(dict.fromkeys(_format(label, text, cite(hit)) for _, _, label, text, hit in best[:2]))


def _list_statements(hit: Hit) -> Iterable[tuple[str, str]]:
    """Return the statements of a hit with their labels: what was decided as a whole, other lines by sentence."""
    for line in hit.snippet.splitlines():
        match = _LABEL.match(line)
        label, text = (match[1], line[match.end() :]) if match else ("", line)
        text = _MARKUP.sub("", text)
        if label in ("Decided", "Cause", "Fixed", "Commit"):
            yield label, text
        else:
            yield from ((label, statement) for statement in _join_short(split_sentences(text)))


def _join_short(sentences: list[str]) -> Iterable[str]:
    """Yield sentences; one such as `Fixed.` with the next, which says how."""
    lead = ""
    for sentence in sentences:
        lead = f"{lead} {sentence}".strip()
        if len(lead) >= _SHORT:
            yield lead
            lead = ""
    if lead:
        yield lead


def _weigh(words: frozenset[str], label: str, text: str, hit: Hit, worth: dict[str, float]) -> float:
    """Return how well a statement answers; 0 if it says too little of what is asked."""
    own = words & frozenset(extract_terms(text))
    titled = words & frozenset(extract_terms(hit.name or hit.summary)) - own
    around = words & frozenset(extract_terms(hit.snippet)) - own - titled
    share = len(own) / len(words)
    cover = share + _IN_TITLE * len(titled) / len(words)
    is_about = len(own) + len(titled) + len(around) >= _LEAST_OF_HIT * len(words)
    is_enough = is_about and cover >= _LEAST and share >= _LEAST_OWN and not text.rstrip().endswith("?")
    return cover * worth[label] if is_enough else 0.0


def _format(label: str, text: str, source: str) -> str:
    shown = label if label in ("Decided", "Cause", "Fixed", "Turned down", "Commit") else ""
    said = quote_as_data(f"{shown + ': ' if shown else ''}{to_one_line(text, _LONGEST)}", BLOCKQUOTE)
    return f"{said} ({source})"
