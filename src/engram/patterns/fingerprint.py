"""Fingerprints: commands, errors and messages reduced to what recurs. Pure.

Paths, ids, numbers, hashes, versions, times, ports and quoted values are removed, so that a fingerprint is the same on
every machine and for every user.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from engram.patterns.invisible_characters import strip_invisible
from engram.platform.text import escape_inline

_ID_BYTES = 6  # among 100,000 patterns, two share an id in one of 50,000 stores
MAX_CHARS = 160  # maximum characters of a fingerprint

_COLOR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\[\d{1,3}(?:;\d{1,3})*m")
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


def fingerprint_error(line: str) -> str:
    """Return the fingerprint of an error message."""
    missing = _MISSING.match(line.strip())
    if missing:
        return f"command not found: {missing[1] or missing[2] or missing[3]}".lower()
    abstracted = abstract_line(_LEAD.sub("", _RULE.sub(" ", line).strip()))
    # The same problem for every program: it was given a path that does not exist.
    return "no such file or directory" if _NOT_THERE.match(abstracted) else abstracted


def abstract_line(line: str) -> str:
    """Remove the parts of a line that vary between runs and machines."""
    text = _COLOR.sub("", line[:2000])
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


def pattern_id(kind: str, seed: str) -> str:
    """Return the id of the pattern that has this fingerprint as its seed."""
    return "p" + blake2b(f"{kind}\n{seed}".encode(), digest_size=_ID_BYTES).hexdigest()


def relative_file_name(path: str, project: str, cwd: str | None) -> str:
    """Return a path relative to its project, starting with the project's name."""
    parts = _split_path(path)
    for root in (project, cwd or ""):
        root_parts = _split_path(root)
        if root_parts and parts[: len(root_parts)] == root_parts and len(parts) > len(root_parts):
            return "/".join([root_parts[-1], *parts[len(root_parts) :]])[-MAX_CHARS:]
    if _is_absolute(path):
        return "/".join(parts[-2:])[-MAX_CHARS:]  # outside the project: its directory says more than the project
    root_name = _split_path(project)[-1:] or _split_path(cwd or "")[-1:]
    return "/".join([*root_name, *parts])[-MAX_CHARS:]


def _split_path(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~", "\\")) or path[1:2] == ":"


_MARKUP = re.compile(r"\*{2,}|^\s*#{1,6}\s+|^\s*[-*_]{3,}\s*$|^\s*>+ ?", re.MULTILINE)
_STOP = frozenset(
    "a an the to of in on at for with and or but so it its this that these those is are was were be been i you we he"
    " she they me my your our us please can could would should will just now then also there here do does did have has"
    " had as by from into let lets want need like some any all make sure still again very really go ok okay hi".split()
)
_WORD = re.compile(r"<\w+>|[a-z][a-z0-9_+#.'-]*[a-z0-9_+#]|[a-z]")


def extract_content(text: str, max_words: int = 14) -> str:
    """Return the content words of a text, in order."""
    words = [word.strip("'.") for word in _WORD.findall(abstract_line(text))]
    content_words = [word for word in words if word not in _STOP and not word.startswith("<")]
    return " ".join(content_words[:max_words])


def sanitize_line(text: str | None, length: int = 200) -> str:
    """Return transcript text as one safe line: it can neither break out of a block nor hide characters."""
    bare = _MARKUP.sub("", _COLOR.sub("", (text or "")[: length * 8]))
    line = escape_inline(bare, length).replace("|", "¦").replace("[[", "[").replace("]]", "]")
    return line if line.isascii() and line.isprintable() else strip_invisible(line)
