"""Signatures: what recurs of an error message. Pure.

Paths, ids, numbers, hashes, versions, times, ports and quoted values are removed, so that a signature is the same on
every machine and for every user. A name that says what is missing or unknown is kept: two errors differ by it.
"""

from __future__ import annotations

import re

MAX_CHARS = 160  # maximum characters of a signature

COLOR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\[\d{1,3}(?:;\d{1,3})*m")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,10}://[^\s'\"<>]+", re.IGNORECASE)
_MAIL = re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.]+")
_PATH = re.compile(
    r"(?:[A-Za-z]:)?(?:[\\/]|\.{1,2}[\\/]|~[\\/])[\w.@+~\\/-]*[\w@+~-]"  # from a root, here, above or home
    r"|(?<![\w/])[\w.@+-]+(?:/[\w.@+-]+)+/?"  # several parts
    r"|(?<![\w./-])[\w-]+\.(?!(?:Error|Exception)\b)[a-z][a-z0-9]{0,4}(?:\.[a-z]{1,4})?(?![\w.(])"  # a file
)
_STAMP = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b|\b\d\d?:\d\d(?::\d\d)?\b"
)
_ID = re.compile(
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,}\b|\b(?=[0-9a-f]*\d)(?=\w*[a-f])[0-9a-f]{7,64}\b|\b0x[0-9a-f]+\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![A-Za-z_])v?\d+(?:[.,:_]\d+)*(?:[a-z]{1,2}\b)?|(?<=[A-Za-z_])\d{2,}\b", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|(?<!\w)'[^'\n]{1,400}'(?!\w)|`[^`\n]{1,400}`|‘[^’\n]{1,400}’|“[^”\n]{1,400}”")
# A quoted name after these words is kept: it says which module is missing, which option is unknown.
_TELLING = re.compile(
    r"(?:module|package|named|command|option|flag|argument|field|tool|skill|script|dependency|crate|import|binary|"
    r"executable|parameter|column|table|attribute|property|method|function|program|extension|plugin|feature)s?:?\s*$",
    re.IGNORECASE,
)
_NAME = re.compile(r"[@\w.+-]+(?:/[\w.+-]+)?")
_DIFFERS = (
    (_URL, "<url>"), (_MAIL, "<text>"), (_STAMP, "<time>"), (_ID, "<id>"), (_PATH, "<path>"), (_NUMBER, "<n>"),
)  # fmt: skip
_HOLES = re.compile(r"<(path|n|id|time|url|text)>(?:[\s,:;()\[\]]*<\1>)+")
_MISSING = re.compile(
    r".*?(?:command not found: ([\w.+-]+)|(?:^|[:\s])([\w.+-]+): (?:command )?not found\s*$"
    r"|['\"]?([\w.+-]+)['\"]? is not recognized as an internal)"
)
_LEAD = re.compile(r"^(?:E\s{2,}|\(eval\):|output:\s+|error:\s+(?=error)|[>✗❌×•*-]+\s+)", re.IGNORECASE)
_NOT_THERE = re.compile(
    r".*: no such file or directory(?: \(os error <n>\))?\W*$|"
    r"(?:path|file|directory) (?:does not exist|not found): <path>.*"
)
_RULE = re.compile(r"[=_*#~-]{3,}")


def make_signature(line: str) -> str:
    """Return the signature of an error message."""
    missing = _MISSING.match(line.strip())
    if missing:
        return f"command not found: {missing[1] or missing[2] or missing[3]}".lower()
    abstracted = abstract_line(_LEAD.sub("", _RULE.sub(" ", line).strip()))
    # The same problem for every program: it was given a path that does not exist.
    return "no such file or directory" if _NOT_THERE.match(abstracted) else abstracted


def abstract_line(line: str) -> str:
    """Remove the parts of a line that vary between runs and machines."""
    text = COLOR.sub("", line[:2000])
    text = _QUOTED.sub(_replace_quoted, text)
    for pattern, hole in _DIFFERS:
        text = pattern.sub(hole, text)
    text = _HOLES.sub(r"<\1>", text)
    return " ".join(text.lower().split())[:MAX_CHARS]


def _replace_quoted(match: re.Match[str]) -> str:
    inner = match[0][1:-1].strip()
    if _TELLING.search(match.string[: match.start()]) and _NAME.fullmatch(inner) and not inner.startswith(("/", ".")):
        return inner
    return "<path>" if _PATH.fullmatch(inner) else "<text>"
