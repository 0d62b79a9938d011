"""Detect values assigned to names that indicate a secret."""

from __future__ import annotations

import re

from engram.redaction import secret_shape
from engram.redaction.placeholders import is_reference
from engram.redaction.span import BufferScan

# Only single characters are matched possessively: for a group, Python before 3.11.5 has a bug. Repeated groups are
# bounded instead, and no iteration of one starts like what may follow.
COLOUR = rb"(?:\x1b\[[0-9;]{0,12}+[mK]){0,3}"
_QUOTE = rb"(?:\\{0,7}+[\"'`]|\\{1,7}+u00(?:22|27)|%22|%27|&quot;)"
_SIGN = (
    rb"(?P<sign>[ \t]{0,8}+(?:(?::[ ]?[&A-Za-z\[\]| ]{3,20}+)?=[>=]?|:=|[:>]|%3[AaDd])"
    rb"|[ ](?:is|was)(?=[ :])|,?[ ]?[\"']?[Vv]alue[\"']?[ ]?[:=]|(?=[ ]))"
)
# YAML and people write a long value on the next line; in JSON that line break is two letters.
_FOLD = rb"(?P<fold>(?:[|>][+\-]?)?[ \t]{0,4}+(?:\r?\n|(?:\\{1,7}+r)?\\{1,7}+n)[ \t]{0,24}+)?"
_HEAD = re.compile(
    rb"(?P<rest>[A-Za-z0-9_\-]{0,24}+)%b?\]?(?:\*\*)?%b%b%b(?:\*\*(?=[ ]))?(?:[ \t]|%%20){0,8}:?[ ]?%b"
    rb"(?:[A-Za-z]{1,2}(?=%b))?(?P<open>%b)?%b" % (_QUOTE, COLOUR, _SIGN, COLOUR, _FOLD, _QUOTE, _QUOTE, COLOUR)
)
_RUN = re.compile(rb"[^\s\x00\x1b]{1,256}+")
_QUOTED = re.compile(rb"[^\"'`\\<>]{1,256}+")
_PIECE = rb"(?:[^\"'`\\<>,;(){}\[\]&|=]|\\(?![nrtbfuUx0\"'\\/`]))"
_BARE = re.compile(rb"%b{1,256}" % _PIECE)
_MORE = re.compile(
    rb"(?:[,;(){}\[\]&|]{1,3}+(?![\w.\-]{0,40}+[=:]|(?:User|Initial|Data)\Z)%b{1,64}){0,6}={0,2}+" % _PIECE
)
# A line of an environment file extends to its end, whatever it contains.
_ENV_NAME = re.compile(rb"(?:\A|[\n\x00]|\\n)[ \t]{0,8}+(?:export |set |ENV |[+\-] ?)?[A-Z0-9_]{0,40}+\Z")
_ENV_VALUE = re.compile(rb"(?:[^\"'`\\<>]|\\(?![nrtbfuUx0\"'\\/`])){1,256}")
_DELIMITERS = {bytes([mark]) for mark in b",;(){}[]&|="}
_IDENTIFIER = re.compile(rb"[\w.:>\-]++")
_LINE_END = re.compile(rb"[.:!?*]{0,4}+[ \t]{0,8}+(?:\r?\n|\\{1,7}+[nr]|[\"'`\x00]|\Z)")
_REST = re.compile(rb"[A-Za-z0-9+/=_.%\-]{0,8192}+")
_CLOSED = re.compile(rb"%(?:22|27|26|7[dD]|2[cC]|0[aAdD]|20|3[bB]|3[AaDd](?=[A-Za-z0-9]))|&quot;")
_NEAR = re.compile(
    rb"(?:[A-Za-z0-9+/_\-]{0,19}+[^A-Za-z0-9+/_\-\n\x00]){1,12}(?P<value>[A-Za-z0-9+/_\-]{24,200}+={0,2})(?![A-Za-z0-9+/_\-.])"
)
_ID = re.compile(
    rb"(?:toolu|call|msg|req|run|chatcmpl|resp|item|rs|fc|evt|sess|session|thread|user|org|proj|file|asst|srvtoolu|sha\d+"
    rb"|agent|task|ses|prt|wf|job|blob|cus|price|prod|pk)[_-]"
)
_NAME = re.compile(rb"[A-Za-z0-9_\-.]*\Z")
_INSIDE_WORD = re.compile(rb"[A-Za-z]pass|[A-Z]P(?:ASS|ass)")
_NETRC = re.compile(rb"\blogin\s{1,9}\S{1,80}\s{1,24}\Z")
_NETRC_NEXT = re.compile(rb"\s{1,9}(?:machine|account|macdef|port|default)\b")
_NOT_SECRET = re.compile(
    rb"(?:max|min|num|total|input|output|prompt|completion|cache[d]?|next|page|continuation|sync|eos|bos|pad|unk|cls|sep|mask"
    rb"|stop|special|public|publicKey|error|design|cancel\w*|css|syntax)[_\-.]?token|tokens?[_-]?(?:count|type|limit|len|budget|usage|index|izer)"
    rb"|(?:name|file|path|url|uri|[_-]ids?|Id|size|field|expir\w*|ttl|env|var|arn|version|hint|policy|regex|pattern|prefix|label"
    rb"|title|class|ref|store|provider|hash|sha256|digest|tokens)\Z",
    re.IGNORECASE,
)
_SHORTEST_PASSWORD, _SHORTEST_TOKEN = 7, 10


def detect_labelled_value(password: bool, scan: BufferScan, start: int, end: int) -> None:
    """Detect a value after a name that indicates a secret."""
    head = _HEAD.match(scan.buffer, end)
    if head is None or not _add_assigned_value(scan, password, start, head):
        detect_random_nearby(scan, end)


def detect_pass_label(scan: BufferScan, start: int, end: int) -> None:
    """Detect a value after `pass`, which may mean a passed test: names count only with an equals sign or quote."""
    buffer = scan.buffer
    if buffer[end : end + 1].isalnum() or _INSIDE_WORD.search(buffer, max(0, start - 1), end):
        return
    head = _HEAD.match(buffer, end)
    if head and not head["rest"] and (_is_sure(head) or _is_dense_setting(buffer, start, head)):
        _add_assigned_value(scan, True, start, head)


def _is_dense_setting(buffer: bytes, start: int, head: re.Match[bytes]) -> bool:
    verdict = buffer[start : start + 4] == b"PASS" and buffer[start - 1 : start] != b"_"
    return not verdict and secret_shape.is_dense(_read_value(buffer, start, head))


def _add_assigned_value(scan: BufferScan, password: bool, start: int, head: re.Match[bytes]) -> bool:
    """Add an assigned secret; return whether a long enough value is assigned."""
    buffer = scan.buffer
    value = _read_value(buffer, start, head)
    sure = _is_sure(head) or not head["sign"]
    if len(value) < (_SHORTEST_PASSWORD if password else _SHORTEST_TOKEN) or not _is_assigned(
        buffer, start, head, value
    ):
        return False
    if is_value(scan, value, password, sure) and _is_secret(buffer, start, head):
        first = head.end()
        more = _REST.match(buffer, first + len(value)) if len(value) >= 256 else None
        scan.add_span(2, "assignment", first, more.end() if more else first + len(value))
        return True
    return password or len(value) >= 16


def _is_sure(head: re.Match[bytes]) -> bool:
    return bool(head["open"]) or head["sign"] == b"="


def _is_assigned(buffer: bytes, start: int, head: re.Match[bytes], value: bytes) -> bool:
    """Return whether a value belongs to the name: by a sign, as a flag's, in a netrc, or alone on the next line."""
    if head["fold"]:
        alone = _LINE_END.match(buffer, head.end() + len(value))
        is_key = alone and b":" in alone[0] and not secret_shape.is_dense(value)
        return head["sign"].strip() == b":" and bool(head["open"] or alone) and not is_key
    return bool(head["sign"]) or _is_flag(buffer, start) or _is_netrc(buffer, start, head.end() + len(value))


def _is_flag(buffer: bytes, start: int) -> bool:
    name = _NAME.search(buffer, max(0, start - 30), start)
    return bool(name and name[0].startswith(b"--"))


def _is_netrc(buffer: bytes, start: int, end: int) -> bool:
    before = _NETRC.search(buffer, max(0, start - 120), start)
    return bool(before and (_LINE_END.match(buffer, end) or _NETRC_NEXT.match(buffer, end)))


def _read_value(buffer: bytes, start: int, head: re.Match[bytes]) -> bytes:
    """Return the assigned value."""
    run = _RUN.match(buffer, head.end())
    if run is None:
        return b""
    text = run[0].partition(b"[REDACTED:")[0] or run[0]
    if head["open"]:
        value = _read_quoted(text, head["open"])
    else:
        value = _read_line(buffer, start, head, text) or _read_bare(text)
    coded = b"%" in head[0] or b"&" in head[0]
    return _CLOSED.split(value, maxsplit=1)[0] if coded else value


def _read_quoted(text: bytes, opening: bytes) -> bytes:
    """Return the text before the closing quote; a quote with more backslashes is part of the value."""
    mark = opening.lstrip(b"\\")
    depth = len(opening) - len(mark)
    at = text.find(mark)
    while at >= 0:
        before = text[:at].rstrip(b"\\")
        slashes = at - len(before)
        if slashes <= depth or (depth == 0 and slashes % 2 == 0):
            return before if depth else text[:at]
        at = text.find(mark, at + 1)
    match = _QUOTED.match(text)
    return match[0] if match else b""


def _read_line(buffer: bytes, start: int, head: re.Match[bytes], text: bytes) -> bytes:
    """Return the value of a line of an environment file, unless it is a call."""
    if head["sign"] != b"=" or not buffer[start : head.end("rest")].isupper():
        return b""
    match = _ENV_VALUE.match(text) if _ENV_NAME.search(buffer, max(0, start - 60), start) else None
    ends = match and _LINE_END.match(buffer, head.end() + match.end())
    return match[0] if match and ends and not is_reference(match[0]) else b""


def _read_bare(text: bytes) -> bytes:
    """Return an unquoted value: up to a delimiter, or beyond it if the value is clearly no name."""
    first = _BARE.match(text)
    if first is None:
        return b""
    rest = text[first.end() : first.end() + 1]
    plain = bool(_IDENTIFIER.fullmatch(first[0]))
    if rest in {b"(", b"[", b"{"} and (plain or first[0].endswith(b"$")):
        return b"$(%b)" % first[0]  # a call is not a value
    is_continued = rest in _DELIMITERS and secret_shape.is_dense(first[0]) and not is_reference(first[0])
    more = _MORE.match(text, first.end()) if is_continued else None
    return text[: more.end() if more else first.end()].rstrip(b".:!?*")


def is_value(scan: BufferScan, value: bytes, password: bool, sure: bool) -> bool:
    """Return whether a text is a secret rather than a placeholder, and cache the answer."""
    key = (value, password, sure)
    verdict = scan.verdicts.get(key)
    if verdict is None:
        verdict = scan.verdicts[key] = _judge_value(*key)
    return verdict


def _judge_value(value: bytes, password: bool, sure: bool) -> bool:
    if password:
        is_likely = secret_shape.is_password(value, quoted=sure)
    else:
        is_long_random = len(value) >= 16 and secret_shape.is_random(value)
        is_likely = (is_long_random or (sure and secret_shape.is_short_secret(value))) and not _ID.match(value)
    return is_likely and not secret_shape.is_placeholder(value)


def _is_secret(buffer: bytes, start: int, head: re.Match[bytes]) -> bool:
    before = _NAME.search(buffer, max(0, start - 40), start)
    name = (before[0] if before else b"") + buffer[start : head.end("rest")]
    return _NOT_SECRET.search(name) is None


def detect_random_nearby(scan: BufferScan, end: int) -> None:
    """Detect a random value a few words after a word like token."""
    match = _NEAR.match(scan.buffer, end)
    if match is None:
        return
    value = match["value"]
    if re.fullmatch(rb"[0-9a-fA-F\-]+|/.*", value) or _ID.match(value) or secret_shape.is_placeholder(value):
        return
    if secret_shape.is_random(value):
        scan.add_span(3, "context", *match.span("value"))
