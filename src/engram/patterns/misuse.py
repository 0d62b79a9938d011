"""Ways to call a tool that cannot work, as the agents' programs say so, and what to do instead. Pure."""

from __future__ import annotations

import re

_NOT_THERE = (
    r"string to replace not found|old_?(?:str|string) (?:was )?not found|could not find the string to replace|"
    r"no (?:exact )?match(?:es)? found for (?:the )?(?:old|search)|0 occurrences found for old_string|"
    r"failed to find (?:expected lines|context)|no replacement was performed|did not appear verbatim"
)
_SEVERAL = (
    r"found \d+ matches of the string|expected 1 occurrence|multiple (?:matches|occurrences)|is not unique in|"
    r"old_?string (?:is )?not unique"
)
_UNREAD = (
    r"has not been read yet|must (?:first )?(?:use|read).{0,40}(?:read|view).{0,40}(?:before|first)|"
    r"read (?:the file|it) first"
)
_CHANGED = r"modified since (?:read|it was last read)|file has (?:been )?changed since|changed on disk"
_SAME = (
    r"old_string and new_string (?:are|must be)|no changes to make|"
    r"strings? (?:are|is) (?:exactly the same|identical)"
)
_ARGUMENTS = (
    r"inputvalidationerror|invalid (?:tool )?(?:arguments|parameters|params|input)|"
    r"missing required (?:parameter|argument|property)|required (?:parameter|property)|must have required property|"
    r"unexpected (?:parameter|property)|failed to parse (?:function )?arguments|params must|"
    r"(?:invalid|malformed) (?:patch|json|diff)"
)
NO_SUCH_TOOL = "there is no such tool"
_NO_TOOL = (
    r"no such tool|unknown (?:tool|function|skill)|tool .{1,60} (?:not found|does not exist|is not available)|"
    r"tool \S+ not found"
)
_TOO_LARGE = r"exceeds maximum allowed (?:tokens|size)|file (?:content )?is too large|too large to read"

_TABLE = (
    ("the text to replace is not in the file", _NOT_THERE, "Copy the text to replace from the file as it is now."),
    ("the text to replace is there several times", _SEVERAL,
     "Give enough lines around the text to replace that it is there once."),
    ("the file was not read first", _UNREAD, "Read a file before you edit it."),
    ("the file changed since it was read", _CHANGED,
     "Read the file again before you edit it: something else changed it."),
    ("old and new text are the same", _SAME, "Change something, or leave the edit out."),
    ("it was called with wrong arguments", _ARGUMENTS, "Look at what the tool asks for before you call it."),
    (NO_SUCH_TOOL, _NO_TOOL, "Call only tools you were given."),
    ("the file is too large to read at once", _TOO_LARGE, "Read large files in parts."),
    ("a directory was opened as a file", r"eisdir|is a directory", "List a directory; do not read it."),
    ("the file is not there", r"file does not exist|file not found|enoent|no such file",
     "List the directory before you read a file you have not seen."),
)  # fmt: skip
_PATTERNS = tuple((name, re.compile(words, re.IGNORECASE)) for name, words, _ in _TABLE)
ADVICE = {name: advice for name, _, advice in _TABLE}


def named(told: str) -> str:
    """Return which misuse a tool complains about, or nothing."""
    return next((name for name, pattern in _PATTERNS if pattern.search(told)), "")
