"""The looks taken where an anchor was found: is a secret here, and where does it begin and end?"""

from __future__ import annotations

import binascii
import functools
import re

from engram.redaction import shape as shape_of
from engram.redaction.rules import pattern
from engram.redaction.span import Scan

# Only single characters are matched possessively: over a group, Python before 3.11.5 loses its place. What repeats as a
# group is bounded instead, and no round of it begins like what may follow.
_COLOUR = rb"(?:\x1b\[[0-9;]{0,12}+[mK]){0,3}"
_QUOTE = rb"(?:\\{0,7}+[\"'`]|%22|%27|&quot;)"
# A value begins where no letter of it could stand before, or right behind an escape, a colour, a diff mark.
_LEFT = re.compile(
    rb"(?<![A-Za-z0-9_\-])|(?<=[nrtbf])(?<=\\.)|(?<=-)(?<=[\n\x00].)|(?<=[0-9A-Fa-f])(?<=%[0-9A-Fa-f].)|(?<=[mK])(?:"
    + b"|".join(rb"(?<=\[[0-9;]{%d}[mK])" % count for count in range(10))
    + b")",
    re.DOTALL,
)
_BETWEEN = ("(?:(?<![A-Za-z0-9+/_-])|(?<=%3[ADad]))", "(?:=|%3D){0,2}(?![A-Za-z0-9+/_-])")
_BLOB = re.compile(rb"[A-Za-z0-9+/]{40}[+/]\Z")  # then what looks like a key is a piece of an image
_SIGN = (
    rb"(?P<sign>[ \t]{0,8}+(?:(?::[ ]?[&A-Za-z\[\]| ]{3,20}+)?=[>=]?|:=|[:>]|%3[AaDd])"
    rb"|[ ](?:is|was)(?=[ :])|,?[ ]?[\"']?[Vv]alue[\"']?[ ]?[:=]|(?=[ ]))"
)
_QUOTED = rb"[^\"'`\s\\\x00\x1b<>]{1,256}+"
_BARE = rb"[^\"'`\s\\\x00\x1b<>,;(){}\[\]&|=]{1,256}+"
_ASSIGNED = re.compile(
    rb"(?P<rest>[A-Za-z0-9_\-]{0,24}+)%b?\]?%b%b%b(?:[ \t]|%%20){0,8}:?[ ]?(?:[A-Za-z]{1,2}(?=%b))?(?P<open>%b)?%b"
    rb"(?P<value>(?(open)%b|%b(?:&(?![\w.\-]{0,40}=)%b){0,4}={0,2}+))(?P<next>[(\[.{]?)"
    % (_QUOTE, _COLOUR, _SIGN, _COLOUR, _QUOTE, _QUOTE, _COLOUR, _QUOTED, _BARE, _BARE)
)
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
_NOT_SECRET = re.compile(
    rb"(?:max|min|num|total|input|output|prompt|completion|cache[d]?|next|page|continuation|sync|eos|bos|pad|unk|cls|sep|mask"
    rb"|stop|special|public|design|cancel\w*|css|syntax)[_\-.]?token|tokens?[_-]?(?:count|type|limit|len|budget|usage|index|izer)"
    rb"|(?:name|file|path|url|uri|[_-]ids?|Id|size|field|expir\w*|ttl|env|var|arn|version|hint|policy|regex|pattern|prefix|label"
    rb"|title|class|ref|store|provider|hash|sha256|digest|tokens)\Z",
    re.IGNORECASE,
)
_SECRET_WORD = re.compile(rb"key|token|secret|passw|auth|sid|credential", re.IGNORECASE)
_URL = re.compile(rb"(?P<user>[^\s/:@\"'<>\\\x00?#]{0,80}+)(?::(?P<value>[^\s/@\"'`<>\\\x00\x1b]{3,200}+))?@(?=[\w\[])")
_URL_IN_QUERY = re.compile(
    rb"(?P<user>[^\s/:@\"'<>\\\x00?#%]{0,80}+)(?:(?::|%3[Aa])(?P<value>(?:[^\s/@\"'`<>\\\x00\x1b%]|%(?!40)){3,200}))?(?:@|%40)(?=[\w\[])"
)
_WORDS = {
    b"password",
    b"pass",
    b"passwd",
    b"pwd",
    b"secret",
    b"postgres",
    b"root",
    b"admin",
    b"user",
    b"token",
    b"guest",
}
_BEARER = re.compile(rb"(?:[ \t]|%20|\+|\x1b\[[0-9;]{0,12}m){1,4}(?P<value>[A-Za-z0-9._~+/\-]{16,4096}+={0,2})")
_AUTHORIZATION = re.compile(
    rb"[\"'`\\\])]{0,8}+[ ]{0,4}+(?:[:=,]|%3[Aa])(?:[ ]|%20){0,4}[\"'`\\]{0,8}+"
    + _COLOUR + rb"(?P<scheme>[A-Za-z\-]{3,20}+)(?:[ ]|%20){1,64}"
    rb"(?P<value>[A-Za-z0-9._~+/:\-]{8,4096}+(?:=|%3[Dd]){0,2})"
)  # fmt: skip
_COOKIE = re.compile(
    rb"[\\\"']{0,8}+(?:[ ]{0,3}+[:=]|%3A)(?:[ ]|%20){0,3}[\\\"']{0,8}+"
    + _COLOUR
    + rb"(?P<value>[\w.\-]{1,64}+(?:=|%3D)[^\r\n\"'\\\x00]{8,4096}+)"
)
_PAIRS = re.compile(rb"(?:[=; \x1b]|%3[DdBb]|%20)+")
_LOGIN = re.compile(rb"[\"']?[\w.@+\-]{1,64}+:(?P<value>[^\s\"'\x00\\]{4,128}+)")
_PEM = re.compile(
    rb"[A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----(?:[\s\"'+\\nr,;]|%0[AaDd]){0,60}"
    rb"(?:[A-Za-z0-9+/=]{16}|Proc-Type|Version|Comment)"
)
_PEM_END = re.compile(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BASE64_RUN = re.compile(rb"[A-Za-z0-9+/]{0,4096}+={0,2}+")


@functools.cache
def _reader(shape: str, before: str = "", after: str = "(?![A-Za-z0-9])") -> re.Pattern[bytes]:
    return re.compile((before + pattern(shape) + after).encode())  # most are never needed, so none is made ahead


def shaped(rule: str, shape: str, head: str, scan: Scan, start: int, _end: int) -> None:
    """Look for a value that its own text gives away."""
    buffer = scan.buffer
    if scan.spans and start < scan.spans[-1].end:
        return
    if head:
        before = _reader(head, after=r"\Z").search(buffer, max(0, start - 32), start)
        if before is None:
            return
        start = before.start()
    if _LEFT.match(buffer, start) is None:
        return
    found = _reader(shape).match(buffer, start)
    if found and _is_real(found[0]) and not _BLOB.search(buffer, max(0, start - 48), start):
        scan.add(0, rule, start, start + len(found[0].rstrip(b".")))


def _is_real(value: bytes) -> bool:
    return len(set(value)) >= 10 and b"EXAMPLE" not in value and b"xxxx" not in value.lower()


def near(rule: str, shapes: tuple[str, ...], scan: Scan, start: int, end: int) -> None:
    """Look for a value of a common shape behind the name of who gave it out."""
    buffer = scan.buffer
    if buffer[start - 1 : start].isalpha() and not buffer[start : start + 1].isupper():
        return
    if scan.is_barren(end, end + 120):
        return
    line = buffer.find(b"\n", end, end + 120)
    last = line if line >= 0 else end + 120
    for shape in shapes:
        found = _reader(shape, *_BETWEEN).search(buffer, end, last)
        if found and _SECRET_WORD.search(buffer, max(0, start - 40), found.start()) and _is_token(shape, found[0]):
            scan.add(1, rule, found.start(), found.end())
            return


def _is_token(shape: str, value: bytes) -> bool:
    return "{h" in shape or (shape_of.is_random(value) and not re.fullmatch(rb"[0-9a-f-]+", value))


def label(password: bool, scan: Scan, start: int, end: int) -> None:
    """Look for a value behind a name that says it is secret."""
    found = _ASSIGNED.match(scan.buffer, end)
    least = 7 if password else 16
    if found and len(found["value"]) >= least and (found["sign"] or _is_flag(scan.buffer, start)):
        _assigned(scan, password, start, found)
    else:
        context(scan, end)


def _assigned(scan: Scan, password: bool, start: int, found: re.Match[bytes]) -> None:
    if found["next"] and not found["open"]:
        return
    value = _CLOSED.split(found["value"], maxsplit=1)[0]
    value = value if found["open"] else value.rstrip(b".:!?*")
    question = (value, password, bool(found["open"]) or found["sign"] == b"=")
    verdict = scan.verdicts.get(question)
    if verdict is None:
        verdict = scan.verdicts[question] = _is_value(*question)
    if verdict and _is_secret(scan, start, found):
        first = found.start("value")
        more = _REST.match(scan.buffer, first + len(value)) if len(value) >= 256 else None
        scan.add(2, "assignment", first, more.end() if more else first + len(value))


def _is_flag(buffer: bytes, start: int) -> bool:
    name = _NAME.search(buffer, max(0, start - 30), start)
    return bool(name and name[0].startswith(b"--"))


def _is_value(value: bytes, password: bool, sure: bool) -> bool:
    likely = (
        shape_of.is_password(value, quoted=sure) if password else shape_of.is_random(value) and not _ID.match(value)
    )
    return likely and not shape_of.stands_in(value)


def _is_secret(scan: Scan, start: int, found: re.Match[bytes]) -> bool:
    before = _NAME.search(scan.buffer, max(0, start - 40), start)
    name = (before[0] if before else b"") + scan.buffer[start : found.end("rest")]
    return _NOT_SECRET.search(name) is None


def context(scan: Scan, end: int) -> None:
    """Look for a random value a few words behind a word like token."""
    found = _NEAR.match(scan.buffer, end)
    if found is None:
        return
    value = found["value"]
    if re.fullmatch(rb"[0-9a-fA-F\-]+|/.*", value) or _ID.match(value) or shape_of.stands_in(value):
        return
    if shape_of.is_random(value):
        scan.add(3, "context", *found.span("value"))


def url(scan: Scan, _start: int, end: int) -> None:
    """Look for a password, or a token in place of a user, in an address."""
    found = _URL.match(scan.buffer, end) or _URL_IN_QUERY.match(scan.buffer, end)
    if found is None:
        return
    value = found["value"]
    if value is None:
        if shape_of.is_random(found["user"]):
            scan.add(2, "url", *found.span("user"))
    elif value.lower() not in _WORDS and value != found["user"] and not shape_of.stands_in(value):
        scan.add(2, "url", *found.span("value"))


def bearer(scan: Scan, _start: int, end: int) -> None:
    """Look for a token behind the word Bearer."""
    found = _BEARER.match(scan.buffer, end)
    if found and shape_of.is_random(found["value"]) and not shape_of.stands_in(found["value"]):
        scan.add(2, "bearer", *found.span("value"))


def authorization(scan: Scan, _start: int, end: int) -> None:
    """Look for what follows the scheme in an Authorization header."""
    found = _AUTHORIZATION.match(scan.buffer, end)
    if found is None:
        return
    basic = found["scheme"].lower() == b"basic" and b":" in _decoded(found["value"])
    if (basic or shape_of.is_random(found["value"])) and not shape_of.stands_in(found["value"]):
        scan.add(2, "authorization", *found.span("value"))


def _decoded(text: bytes) -> bytes:
    try:
        return binascii.a2b_base64(text[: len(text) // 4 * 4])
    except binascii.Error:
        return b""


def cookie(scan: Scan, start: int, end: int) -> None:
    """Look for a session in a cookie header; all of it goes, as any part may be one."""
    found = _COOKIE.match(scan.buffer, end) if start >= scan.header else None
    scan.header = found.end() if found else scan.header
    if found and any(shape_of.is_random(part) for part in _PAIRS.split(found["value"], maxsplit=100)):
        scan.add(2, "cookie", *found.span("value"))


def login(scan: Scan, _start: int, end: int) -> None:
    """Look for a password given on the command line with its user."""
    found = _LOGIN.match(scan.buffer, end)
    if found and shape_of.is_password(found["value"], quoted=True) and not shape_of.stands_in(found["value"]):
        scan.add(2, "login", *found.span("value"))


def private_key(scan: Scan, start: int, end: int) -> None:
    """Look for a private key; without its end, everything to the end of the text is one."""
    if scan.spans and scan.spans[-1].end > start:
        return
    if _PEM.match(scan.buffer, end):
        last = scan.end_of_text(start)
        closing = _PEM_END.search(scan.buffer, end, last)
        scan.add(0, "private-key", start, closing.end() if closing else last)


def private_block(scan: Scan, start: int, end: int) -> None:
    """Look for what a person marked as private; a mark that opens a line and is never closed hides the rest."""
    buffer = scan.buffer
    if (scan.spans and scan.spans[-1].end > start) or buffer[start - 1 : start] in {b"`", b'"', b"'"}:
        return
    last = scan.end_of_text(start)
    closing = buffer.find(b"</private>", end, last)
    if closing >= 0:
        scan.add(0, "private", end, closing)
    elif start == 0 or buffer[start - 1] in b"\n\x00 ":
        scan.add(0, "private", end, last)


def known(values: list[bytes], scan: Scan, start: int, end: int) -> None:
    """Look whether a value seen before stands here, by itself unless it is long."""
    for value in values:
        if scan.buffer.endswith(value, 0, end):
            start = end - len(value)
            alone = _LEFT.match(scan.buffer, start) and not scan.buffer[end : end + 1].isalnum()
            if alone or len(value) >= 20:
                scan.add(4, "known", start, end)
                return


def hidden(phase: int, scan: Scan, start: int, end: int) -> None:
    """Look into base64 where it says password or the like."""
    if scan.inner is None or start < scan.decoded:
        return
    before = scan.buffer[max(0, start - 256) : start]
    room = len(before) - len(before.rstrip(_BASE64))
    if room < phase:
        return
    first = start - phase - (room - phase) // 4 * 4
    found = _BASE64_RUN.match(scan.buffer, start)
    last = found.end() if found else end
    if last - end < 10:  # no room for a value behind its name
        return
    scan.decoded = last - 512 if last - start > 4000 else last
    for span in scan.inner(_decoded(scan.buffer[first:last]), deep=False):
        scan.spans.append(span.moved(first + span.start // 3 * 4, min(last, first + -(-span.end // 3) * 4)))


def nothing(_scan: Scan, _start: int, _end: int) -> None:
    """Look at nothing; this anchor only says that the text is folded here."""


def continues(before: bytes, whole: bytes) -> bool:
    """Tell whether what follows a fold belongs to the value before it, rather than being a line of its own."""
    more = whole[len(before) :]
    return bool(re.search(rb"[0-9]", more) and re.search(rb"[A-Za-z]", more))
