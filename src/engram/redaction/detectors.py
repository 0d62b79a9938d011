"""Detectors, run where an anchor was found: is there a secret, and where does it start and end?"""

from __future__ import annotations

import binascii
import functools
import re

from engram.redaction import secret_shape
from engram.redaction.assignments import COLOUR
from engram.redaction.rules import build_pattern
from engram.redaction.span import BufferScan

# A value starts where the character before cannot belong to it, or right after an escape, a color code or a diff mark.
_LEFT = re.compile(
    rb"(?<![A-Za-z0-9_\-])|(?<=[nrtbf])(?<=\\.)|(?<=-)(?<=[\n\x00].)|(?<=[0-9A-Fa-f])(?:(?<=%[0-9A-Fa-f].)|(?<=\\u[0-9A-Fa-f]{4})|(?<=\\x[0-9A-Fa-f]{2}))|(?<=[mK])(?:"
    + b"|".join(rb"(?<=\[[0-9;]{%d}[mK])" % count for count in range(10))
    + b")",
    re.DOTALL,
)
_BETWEEN = ("(?:(?<![A-Za-z0-9+/_-])|(?<=%3[ADad]))", "(?:=|%3D){0,2}(?![A-Za-z0-9+/_-])")
_BLOB = re.compile(rb"[A-Za-z0-9+/]{40}[+/]\Z")  # then what looks like a key is part of an image
_SECRET_WORD = re.compile(rb"key|token|secret|passw|auth|sid|credential", re.IGNORECASE)
# A password may contain an unencoded @: the last one before the host counts.
_URL = re.compile(rb"(?P<user>[^\s/:@\"'<>\\\x00?#]{0,80}+)(?::(?P<value>[^\s/\"'`<>\\\x00\x1b]{3,200}))?@(?=[\w\[])")
_URL_WITH_SLASH = re.compile(
    rb"(?P<user>[^\s/:@\"'<>\\\x00?#]{0,80}+):(?![0-9]{1,5}+/)(?P<value>[^\s\"'`<>\\\x00\x1b@]{3,80}+)@(?=[\w\[])"
)
_GLUED = re.compile(rb"(?:key|token|secret|password|bearer)[_\-]?\Z", re.IGNORECASE)
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
    + COLOUR + rb"(?P<scheme>[A-Za-z\-]{3,20}+)(?:[ ]|%20){1,64}"
    rb"(?P<value>[A-Za-z0-9._~+/:\-]{8,4096}+(?:=|%3[Dd]){0,2})"
)  # fmt: skip
_COOKIE = re.compile(
    rb"[\\\"']{0,8}+(?:[ ]{0,3}+[:=]|%3A)(?:[ ]|%20){0,3}[\\\"']{0,8}+"
    + COLOUR
    + rb"(?P<value>[\w.\-]{1,64}+(?:=|%3D)[^\r\n\"'\\\x00]{8,4096}+)"
)
_PAIRS = re.compile(rb"(?:[=; \x1b]|%3[DdBb]|%20)+")
_PEM = re.compile(
    rb"[A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----(?:[\s\"'+\\nr,;]|%0[AaDd]){0,60}"
    rb"(?:[A-Za-z0-9+/=]{16}|Proc-Type|Version|Comment)"
)
_PEM_END = re.compile(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BASE64_RUN = re.compile(rb"[A-Za-z0-9+/]{0,4096}+={0,2}+")


@functools.cache
def _compile_shape(shape: str, before: str = "", after: str = "(?![A-Za-z0-9])") -> re.Pattern[bytes]:
    return re.compile((before + build_pattern(shape) + after).encode())  # compiled on demand: most are never needed


def detect_shape(rule: str, shape: str, head: str, scan: BufferScan, start: int, end: int) -> None:
    """Detect a value by its own shape."""
    buffer = scan.buffer
    if scan.spans and start < scan.spans[-1].end:
        return
    anchor = start
    if head:
        before = _compile_shape(head, after=r"\Z").search(buffer, max(0, start - 32), start)
        if before is None:
            return
        start = before.start()
    if _LEFT.match(buffer, start) is None and not _is_glued(buffer, anchor, end):
        return
    match = _compile_shape(shape).match(buffer, start)
    if match and _is_real(match[0]) and not _BLOB.search(buffer, max(0, start - 48), start):
        scan.add_span(0, rule, start, start + len(match[0].rstrip(b".")))


def _is_glued(buffer: bytes, start: int, end: int) -> bool:
    """Return whether an anchor counts directly after a letter: if no word contains it, or after a word like token."""
    is_telling = end - start > 3 and buffer[end - 1 : end] in {b"_", b"-"}
    return is_telling or _GLUED.search(buffer, max(0, start - 8), start) is not None


def _is_real(value: bytes) -> bool:
    return len(set(value)) >= 10 and b"EXAMPLE" not in value and b"xxxx" not in value.lower()


def detect_near_word(rule: str, shapes: tuple[str, ...], scan: BufferScan, start: int, end: int) -> None:
    """Detect a value of a common shape after its issuer's name."""
    buffer = scan.buffer
    if buffer[start - 1 : start].isalpha() and not buffer[start : start + 1].isupper():
        return
    if scan.is_barren(end, end + 120):
        return
    line = buffer.find(b"\n", end, end + 120)
    last = line if line >= 0 else end + 120
    for shape in shapes:
        match = _compile_shape(shape, *_BETWEEN).search(buffer, end, last)
        if match and _SECRET_WORD.search(buffer, max(0, start - 40), match.start()) and _is_token(shape, match[0]):
            scan.add_span(1, rule, match.start(), match.end())
            return


def _is_token(shape: str, value: bytes) -> bool:
    return "{h" in shape or (secret_shape.is_random(value) and not re.fullmatch(rb"[0-9a-f-]+", value))


def detect_url_password(scan: BufferScan, _start: int, end: int) -> None:
    """Detect a password, or a token used as the user, in a URL."""
    readers = (_URL, _URL_IN_QUERY, _URL_WITH_SLASH)
    match = next(filter(None, (reader.match(scan.buffer, end) for reader in readers)), None)
    if match is None:
        return
    value = match["value"]
    if value is None:
        if secret_shape.is_random(match["user"]):
            scan.add_span(2, "url", *match.span("user"))
    elif value.lower() not in _WORDS and value != match["user"] and not secret_shape.is_placeholder(value):
        scan.add_span(2, "url", *match.span("value"))


def detect_bearer(scan: BufferScan, _start: int, end: int) -> None:
    """Detect a token after the word Bearer."""
    match = _BEARER.match(scan.buffer, end)
    if match and secret_shape.is_random(match["value"]) and not secret_shape.is_placeholder(match["value"]):
        scan.add_span(2, "bearer", *match.span("value"))


def detect_authorization(scan: BufferScan, _start: int, end: int) -> None:
    """Detect the credentials in an Authorization header."""
    match = _AUTHORIZATION.match(scan.buffer, end)
    if match is None:
        return
    is_basic = match["scheme"].lower() == b"basic" and b":" in _decode_base64(match["value"])
    if (is_basic or secret_shape.is_random(match["value"])) and not secret_shape.is_placeholder(match["value"]):
        scan.add_span(2, "authorization", *match.span("value"))


def _decode_base64(text: bytes) -> bytes:
    try:
        return binascii.a2b_base64(text[: len(text) // 4 * 4])
    except binascii.Error:
        return b""


def detect_cookie(scan: BufferScan, start: int, end: int) -> None:
    """Detect a session in a cookie header; the whole header goes, as any part may be one."""
    match = _COOKIE.match(scan.buffer, end) if start >= scan.header else None
    scan.header = match.end() if match else scan.header
    if match and any(secret_shape.is_random(part) for part in _PAIRS.split(match["value"], maxsplit=100)):
        scan.add_span(2, "cookie", *match.span("value"))


def detect_private_key(scan: BufferScan, start: int, end: int) -> None:
    """Detect a private key; without its end marker, it extends to the end of the text."""
    if scan.spans and scan.spans[-1].end > start:
        return
    if _PEM.match(scan.buffer, end):
        last = scan.find_text_end(start)
        closing = _PEM_END.search(scan.buffer, end, last)
        scan.add_span(0, "private-key", start, closing.end() if closing else last)


def detect_private_block(scan: BufferScan, start: int, end: int) -> None:
    """Detect text marked as private by a person; an unclosed mark at the start of a line hides the rest."""
    buffer = scan.buffer
    if (scan.spans and scan.spans[-1].end > start) or buffer[start - 1 : start] in {b"`", b'"', b"'"}:
        return
    last = scan.find_text_end(start)
    closing = buffer.find(b"</private>", end, last)
    if closing >= 0:
        scan.add_span(0, "private", end, closing)
    elif start == 0 or buffer[start - 1] in b"\n\x00 ":
        scan.add_span(0, "private", end, last)


def detect_known_value(values: list[bytes], scan: BufferScan, start: int, end: int) -> None:
    """Detect a value seen before, as a separate word unless it is long."""
    for value in values:
        if scan.buffer.endswith(value, 0, end):
            start = end - len(value)
            alone = _LEFT.match(scan.buffer, start) and not scan.buffer[end : end + 1].isalnum()
            if alone or len(value) >= 20:
                scan.add_span(4, "known", start, end)
                return


def detect_in_base64(phase: int, scan: BufferScan, start: int, end: int) -> None:
    """Decode and scan base64 that contains a word like password."""
    if scan.inner is None or start < scan.decoded:
        return
    before = scan.buffer[max(0, start - 256) : start]
    available = len(before) - len(before.rstrip(_BASE64))
    if available < phase:
        return
    first = start - phase - (available - phase) // 4 * 4
    match = _BASE64_RUN.match(scan.buffer, start)
    last = match.end() if match else end
    if last - end < 10:  # too short for a value after its name
        return
    scan.decoded = last - 512 if last - start > 4000 else last
    for span in scan.inner(_decode_base64(scan.buffer[first:last]), deep=False):
        scan.spans.append(span.move_to(first + span.start // 3 * 4, min(last, first + -(-span.end // 3) * 4)))


def detect_nothing(_scan: BufferScan, _start: int, _end: int) -> None:
    """Do nothing; this anchor only marks a fold in the text."""


def is_continuation(before: bytes, unfolded: bytes) -> bool:
    """Return whether the text after a fold continues the value before it, rather than being a new line."""
    more = unfolded[len(before) :]
    return bool(re.search(rb"[0-9]", more) and re.search(rb"[A-Za-z]", more))
