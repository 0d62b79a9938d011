"""Fingerprints: messages and file names reduced to what recurs. Pure. Errors have a signature instead."""

from __future__ import annotations

import re
from hashlib import blake2b

from engram.evidence.error_signature import COLOR, MAX_CHARS, abstract_line
from engram.patterns.invisible_characters import strip_invisible
from engram.platform.text import escape_inline

_ID_BYTES = 6  # among 100,000 patterns, two share an id in one of 50,000 stores


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
    bare = _MARKUP.sub("", COLOR.sub("", (text or "")[: length * 8]))
    line = escape_inline(bare, length).replace("|", "¦").replace("[[", "[").replace("]]", "]")
    return line if line.isascii() and line.isprintable() else strip_invisible(line)
