"""Find what an agent's review found wrong, and tell which of it was taken up later. Pure."""

from __future__ import annotations

import re

from engram.evidence.content_words import measure_overlap
from engram.platform.sentences import split_sentences
from engram.platform.text import to_one_line

FOUND = "Review finding: "

_MOST = 8
_LONGEST = 200
_SHORT_TITLE = 90  # a longer title says enough by itself
_TAKEN_UP = 0.6  # share of the words of a finding that later text has
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_SECTION = re.compile(
    r"^\s*(?:#{1,5}\s+|\*\*)(?:\W|\d+[.)])*(?:(?:potential|minor|major|remaining|open|key|main|critical|high|medium|"
    r"low|other|priority|code|security|style|the|my|review|and|or|blocking|non-blocking|important|specific|"
    r"summary of)[\s/&-]+)*"
    r"(?:issues?|findings?|concerns?|problems?|nits?|risks?|bugs?|suggestions?|improvements?|recommendations?|"
    r"weaknesses|gaps|observations?|comments?)\b(?! (?:fixed|resolved|addressed))",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^\s*(?:#{1,5}\s+\S|\*\*[^*]+\*\*:?\s*$)")
_ITEM = re.compile(r"^\s{0,3}(?:#{2,6}\s+|\*\*)?(?:\d{1,2}[.)]|[-*•](?=\s+\*\*))\s+(.+)$")
_LABEL = re.compile(r"^(?:\[?(?:low|medium|high|minor|major|critical|nit|p\d)\]?\s*[:\u2014-]\s*)", re.IGNORECASE)
_NO_FINDING = re.compile(
    r"\b(?:non-?issues?|not an? (?:issue|problem|bug|concern|blocker)|no (?:issues?|problems?|concerns?|action|change)|"
    r"just noting|(?:this|it|which) is (?:\w+ )?(?:helpful|good|great|nice|reasonable|correct|fine|solid|"
    r"useful)|resolved|addressed|already fixed|looks? (?:good|fine|correct)|lgtm|well[- ](?:done|tested)|is fine)\b",
    re.IGNORECASE,
)
_TAKES_ALL = re.compile(
    r"\b(?:all|both|every(?:thing)?|each|them|these|those|(?:the|your) (?:\w+ )?(?:findings?|issues?|comments?|"
    r"suggestions?|recommendations?|changes|nits|feedback)|(?:fix|do|apply|implement|address) (?:it|this|that))\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"(?<![\w`./-])[a-z]{3,}(?![\w`/-])")
_IDENTIFIER = re.compile(r"`([^`\s]{4,80})`")


def find_review_findings(report: str) -> list[str]:
    """Return the titles of what a review lists as wrong, each with its first sentence if the title is short."""
    findings: list[str] = []
    lines = _FENCE.sub("\n", report).splitlines()
    is_inside = False
    for number, line in enumerate(lines):
        item = _ITEM.match(line) if is_inside else None
        if item is None:
            if _SECTION.match(line):
                is_inside = True
            elif _HEADING.match(line):
                is_inside = False
            continue
        title = _read_title(item[1])
        if len(title.split()) >= 4 and not _NO_FINDING.search(line):
            findings.append(to_one_line(FOUND + _explain(title, lines[number + 1 : number + 3]), _LONGEST))
    return findings[:_MOST]


def _read_title(text: str) -> str:
    """Return what is marked bold at the start of an item, else its first sentence."""
    bold = re.match(r"\*\*(.+?)\*\*(?:\s*[:\u2014-]\s*|\s+)?(.*)$", text)
    title, rest = (bold[1], bold[2]) if bold else (text, "")
    sentences = split_sentences(rest or title)
    first = sentences[0] if sentences else ""
    title = f"{title.strip(' :.')}: {first}" if rest and len(title) <= _SHORT_TITLE else (title if bold else first)
    return _LABEL.sub("", title.replace("**", "").strip(" :"))


def _explain(title: str, following: list[str]) -> str:
    """Return a short title with the first sentence below it."""
    below = next((line.strip() for line in following if line.strip()), "")
    if ": " in title or len(title) > _SHORT_TITLE or not below or _HEADING.match(below) or _ITEM.match(below):
        return title
    sentences = split_sentences(below.replace("**", ""))
    says_something = bool(sentences) and len(_WORD.findall(sentences[0])) >= 4 and not sentences[0].endswith(":")
    return f"{title}: {sentences[0]}" if says_something else title


def takes_up_all(reply: str) -> bool:
    """Return whether a person orders all findings of the last review to be fixed."""
    return bool(_TAKES_ALL.search(reply))


def is_taken_up(finding: str, later: str) -> bool:
    """Return whether later requests, commits or reports are about a finding; the code that it names counts first."""
    named = _IDENTIFIER.findall(finding.removeprefix(FOUND).partition(": ")[0])
    if named:
        return sum(name.strip("()") in later for name in named) * 2 >= len(named)
    return measure_overlap(finding.removeprefix(FOUND), later) >= _TAKEN_UP
