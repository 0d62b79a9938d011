"""Clean, shorten, quote and measure text. No I/O."""

from __future__ import annotations

from engram.errors import Error, InvalidInput, TooLarge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    Item = TypeVar("Item")

KILOBYTE = 1024
LINE = 64 * KILOBYTE  # summaries and notes
PAGE = 1024 * KILOBYTE  # log entries and whole documents

# PostgreSQL cannot store a NUL, and escape sequences must not reach a terminal.
_CONTROL: dict[int, int | None] = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
_CONTROL[0] = ord("␀")


def validate_text(field: str, text: object, limit: int = LINE) -> str:
    """Return text that any engine can store, or raise."""
    if not isinstance(text, str):
        raise InvalidInput(field=field, reason=f"Expected text, not {type(text).__name__}.")
    if not text.isascii():
        text = text.encode("utf-8", "replace_surrogate").decode("utf-8")
    size = len(text) if text.isascii() else len(text.encode())
    if size > limit:
        raise TooLarge(field=field, size=size, limit=limit, unit="bytes", hint="Shorten it.")
    return text.replace("\r\n", "\n").translate(_CONTROL)


def require_text(field: str, raw_text: object, hint: str, limit: int = LINE) -> str:
    """Return clean text that is not blank, or raise."""
    text = validate_text(field, raw_text, limit)
    if not text.strip():
        raise InvalidInput(field=field, reason=f"Must not be empty. {hint}")
    return text


def validate_name(field: str, raw_name: object) -> str:
    """Return an id or a short name unchanged, or raise."""
    if not isinstance(raw_name, str) or not raw_name.strip():
        raise InvalidInput(field=field, reason="Must not be empty.")
    if len(raw_name) <= 4096 and raw_name.isascii() and raw_name.isprintable():
        return raw_name
    if len(raw_name) > 4096 or any(ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000 for c in raw_name):
        raise InvalidInput(field=field, reason="Too long, or contains control characters.")
    return raw_name


def validate_optional_name(field: str, raw_name: object) -> str | None:
    """Return a valid name, or None if it is empty."""
    return validate_name(field, raw_name) if raw_name else None


def to_one_line(text: str | None, length: int = 100) -> str:
    """Return the first characters of any text, on one line."""
    line = " ".join((text or "")[: length * 4].split())
    if not line.isprintable():
        line = _strip_color_codes(line).translate(_CONTROL)
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def _strip_color_codes(line: str) -> str:
    """Return a line without terminal color codes."""
    first, *pieces = line.split("\x1b[")
    return first + "".join(piece.lstrip("0123456789;:?")[1:] for piece in pieces)


def format_size(count: float) -> str:
    """Return a number of bytes in a readable unit."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def format_error(problem: Exception) -> str:
    """Return why something failed, on one line: our own message, or the repr of any other error."""
    return to_one_line(str(problem) if isinstance(problem, Error) else repr(problem), 300)


def escape_inline(text: str | None, length: int = 100) -> str:
    """Return one line of text that cannot break out of the surrounding markdown."""
    return neutralize_markup(to_one_line(text, length)).replace("`", "'").replace("<", "‹").replace(">", "›")


def build_slug(words: str, longest: int = 80) -> str:
    """Return a title as a file name: lower case, with hyphens; may be empty."""
    if not words.isascii():
        import unicodedata

        words = unicodedata.normalize("NFKC", words)
    cleaned = "".join(c if c.isalnum() else " " for c in words.casefold())
    return "-".join(cleaned.split())[:longest].strip("-")


def quote_as_data(text: str, mark: str = "|") -> str:
    """Return a text as quoted data, each line after a mark, so that no line of it can pass for our own."""
    # Not Markdown's `>`: Gemini tells its model `&gt;` when a hook says it.
    return "\n".join(f"{mark} {line}".rstrip() for line in neutralize_markup(text).splitlines() or [""])


def neutralize_markup(text: str) -> str:
    """Defuse what could pass for the frame around a text: tags, role markers, fences, invisible characters.

    All text from others goes through here before it reaches a model. Applying it twice changes nothing more.
    """
    if not text.isascii():
        text = text.translate(_load_invisible_characters())
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROL)
    text = text.replace("```", "'''").replace("~~~", "'''")
    text = "‹".join(_split_at_tags(text)) if "<" in text else text
    return "\n".join(_neutralize_role(line) for line in text.split("\n")) if ":" in text or "]" in text else text


def _split_at_tags(text: str) -> list[str]:
    """Split a text at each `<` that may open a tag, which `a < b`, `<=`, `<-` and `<5` do not."""
    first, *pieces = text.split("<")
    parts = [first]
    for piece in pieces:
        opens = (
            piece.lstrip()[:1] == "/" or not piece or not (piece[0].isspace() or piece[0].isdigit() or piece[0] in "=-")
        )
        if opens:
            parts.append(piece)
        else:
            parts[-1] += f"<{piece}"
    return parts


_ROLES = ("human", "user", "assistant", "system", "developer", "tool", "model", "ai")
_BRACKETS = ("[INST]", "[/INST]", "[SYSTEM]", "[/SYSTEM]", "[SYS]", "[/SYS]")


def _neutralize_role(line: str) -> str:
    """Return a line that no longer looks like the start of a turn."""
    for mark in _BRACKETS:
        if mark in line:
            line = line.replace(mark, f"({mark[1:-1]})")
    word, colon, rest = line.partition(":")
    bare = word.lstrip(" \t>|*#-_\"'").rstrip(" \t*_\"'")
    if colon and _normalize_letters(bare).lower() in _ROLES:
        return f"{word.replace(bare, f'‹{bare}›')}:{rest}"
    return line


def _normalize_letters(word: str) -> str:
    """Return a word with wide and styled letters as plain ones."""
    if word.isascii() or len(word) > 20:
        return word
    import unicodedata

    return unicodedata.normalize("NFKC", word)


def escape_json(encoded: str) -> str:
    """Return the same JSON with `<` and invisible characters escaped."""
    encoded = encoded.replace("<", "\\u003c")
    if encoded.isascii():
        return encoded
    unseen = _load_invisible_characters()
    return "".join(_escape_character(c) if ord(c) in unseen else c for c in encoded)


def _escape_character(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


_invisible_characters: dict[int, str | None] = {}


def _load_invisible_characters() -> dict[int, str | None]:
    """Return the invisible characters to drop: tag characters, bidi, zero-width and variation marks."""
    if not _invisible_characters:
        spans = (
            (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
            (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
            (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
        )  # fmt: skip
        _invisible_characters.update((code, None) for first, last in spans for code in range(first, last + 1))
        _invisible_characters.update({0x2028: "\n", 0x2029: "\n", 0x85: "\n", 0xFF1C: "<", 0xFE64: "<"})
    return _invisible_characters


def count_tokens(text: str) -> int:
    """Estimate the number of tokens: four ASCII characters, or one other character, per token."""
    wide = 0 if text.isascii() else sum(1 for c in text if ord(c) > 127)
    return (len(text) - wide + 3) // 4 + wide


def cut_to_tokens(text: str, budget: int) -> str:
    """Return the longest start of a text that fits a token budget, cut at a line if possible."""
    if count_tokens(text) <= budget:
        return text
    lines: list[str] = []
    for line in text.splitlines():
        cost = count_tokens(line + "\n")
        if cost > budget:
            return "\n".join(lines) if lines else _cut_line(line, budget)
        lines.append(line)
        budget -= cost
    return "\n".join(lines)


def _cut_line(line: str, budget: int) -> str:
    """Return the start of a line that fits a token budget."""
    end = 4 * max(budget, 0)
    while end and count_tokens(line[:end]) > budget:
        end = end * 3 // 4
    return line[:end]


def format_count(number: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def list_first(
    items: Sequence[Item], most: int, describe: Callable[[Item], str], singular: str, plural: str = ""
) -> list[str]:
    """Return lines for the first items; if there are more, the number of all before them and of the rest after them."""
    lines = [describe(item) for item in items[:most]]
    if len(items) <= most:
        return lines
    rest = len(items) - most
    return [f"{format_count(len(items), singular, plural)}; the first {most}:", *lines, f"… and {rest:,} more."]


def format_duration(microseconds: int) -> str:
    """Return a duration in its largest unit."""
    seconds = max(0, microseconds) // 1_000_000
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def format_time_left(microseconds: int) -> str:
    """Return a remaining duration, rounded up: a fresh 30-minute lock shows 30 min, not 29."""
    return format_duration(microseconds + 999_999)


def _replace_surrogate(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "�".encode() * (error.end - error.start), error.end


def _register_error_handler() -> None:
    import codecs

    codecs.register_error("replace_surrogate", _replace_surrogate)


_register_error_handler()
