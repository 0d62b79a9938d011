"""Ways to misuse a tool, as agents report them, and what to do instead. Pure."""

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
_NO_PATTERN = r"look-around, including look-ahead and look-behind, is not supported|backreferences are not supported"
_TOO_LARGE = r"exceeds maximum allowed (?:tokens|size)|file (?:content )?is too large|too large to read"

_TABLE = (
    ("the text to replace is not in the file", _NOT_THERE, "Copy the text to replace from the current file."),
    ("the text to replace is there several times", _SEVERAL,
     "Include enough surrounding lines to make the text to replace unique."),
    ("the file was not read first", _UNREAD, "Read a file before you edit it."),
    ("the file changed since it was read", _CHANGED,
     "Read the file again before you edit it; it has changed."),
    ("old and new text are the same", _SAME, "Skip an edit that changes nothing."),
    ("it was called with wrong arguments", _ARGUMENTS, "Check the tool's parameters before you call it."),
    ("its search pattern is not supported", _NO_PATTERN,
     "Write search patterns without look-around and backreferences."),
    (NO_SUCH_TOOL, _NO_TOOL, "Call only tools that are available."),
    ("the file is too large to read at once", _TOO_LARGE, "Read large files in parts."),
    ("a directory was opened as a file", r"eisdir|is a directory", "List a directory; do not read it."),
    ("the file is not there", r"file does not exist|file not found|enoent|no such file",
     "List the directory before you read a file you have not seen."),
)  # fmt: skip
_PATTERNS = tuple((name, re.compile(words, re.IGNORECASE)) for name, words, _ in _TABLE)
# Reports after which there is something else to do than to try again.
LEADS_TO_RULE = frozenset(name for name, _, _ in _TABLE) - {
    "it was called with wrong arguments", "the file is not there", "old and new text are the same",
}  # fmt: skip
ADVICE = {name: advice for name, _, advice in _TABLE}


def name_misuse(output: str) -> str:
    """Return the misuse a tool reports, or an empty string."""
    return next((name for name, pattern in _PATTERNS if pattern.search(output)), "")
