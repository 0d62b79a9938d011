"""Text as it is stored and shown: clean, in one line, quoted, measured. Pure."""

from __future__ import annotations

from engram.errors import Error, InvalidInput, TooLarge

KILOBYTE = 1024
LINE = 64 * KILOBYTE  # summaries and notes
PAGE = 1024 * KILOBYTE  # log entries and whole documents

# A NUL cannot be stored by PostgreSQL, and escape sequences must not reach a terminal.
_CONTROL: dict[int, int | None] = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
_CONTROL[0] = ord("␀")


def clean(field: str, given: object, limit: int = LINE) -> str:
    """Return text that any engine can store, or say why it is refused."""
    if not isinstance(given, str):
        raise InvalidInput(field=field, reason=f"expected text, got {type(given).__name__}.")
    if not given.isascii():
        given = given.encode("utf-8", "replace_surrogate").decode("utf-8")
    size = len(given) if given.isascii() else len(given.encode())
    if size > limit:
        raise TooLarge(field=field, size=size, limit=limit, unit="bytes", hint="Shorten it.")
    return given.replace("\r\n", "\n").translate(_CONTROL)


def required(field: str, given: object, hint: str, limit: int = LINE) -> str:
    """Return clean text that says something."""
    text = clean(field, given, limit)
    if not text.strip():
        raise InvalidInput(field=field, reason=f"it is empty. {hint}")
    return text


def name(field: str, given: object) -> str:
    """Return an id or a short name exactly as given, or refuse it."""
    if not isinstance(given, str) or not given.strip():
        raise InvalidInput(field=field, reason="it is empty.")
    if len(given) <= 4096 and given.isascii() and given.isprintable():
        return given
    if len(given) > 4096 or any(ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000 for c in given):
        raise InvalidInput(field=field, reason="it holds characters no name may have, or is too long.")
    return given


def name_or_none(field: str, given: object) -> str | None:
    """Return a name that may be missing; an empty one is."""
    return name(field, given) if given else None


def one_line(text: str | None, length: int = 100) -> str:
    """Return the first characters of a text on one line, whatever it holds."""
    line = " ".join((text or "")[: length * 4].split())
    if not line.isprintable():
        line = _plain(line).translate(_CONTROL)
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def _plain(line: str) -> str:
    """Return a line without the sequences by which programs colour a terminal."""
    first, *rest = line.split("\x1b[")
    return first + "".join(each.lstrip("0123456789;:?")[1:] for each in rest)


def size(count: float) -> str:
    """Return bytes in the unit people think in."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def reason(problem: Exception) -> str:
    """Return why something failed, on one line: what a refusal of ours says, else what kind of error it was."""
    return one_line(str(problem) if isinstance(problem, Error) else repr(problem), 300)


def inline(text: str | None, length: int = 100) -> str:
    """Return a one-liner that cannot break out of the markdown it is put into."""
    return disarm(one_line(text, length)).replace("`", "'").replace("<", "‹").replace(">", "›")


def slug(words: str, longest: int = 80) -> str:
    """Return a title as the name of a file: lower case, hyphens, nothing else; empty if nothing is left."""
    if not words.isascii():
        import unicodedata

        words = unicodedata.normalize("NFKC", words)
    kept = "".join(c if c.isalnum() else " " for c in words.casefold())
    return "-".join(kept.split())[:longest].strip("-")


def quote(text: str) -> str:
    """Return a text as quoted data, so that no line of it can pass for our own words."""
    return "\n".join(f"> {line}".rstrip() for line in disarm(text).splitlines() or [""])


def disarm(text: str) -> str:
    """Take the power from what could pass for the frame around a text: tags, role markers, fences, unseen characters.

    Every word of others passes through here before it reaches a model. Doing it twice changes nothing more.
    """
    if not text.isascii():
        text = text.translate(_unseen())
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROL)
    text = text.replace("```", "'''").replace("~~~", "'''")
    text = "‹".join(_parts_at_tags(text)) if "<" in text else text
    return "\n".join(_without_role(line) for line in text.split("\n")) if ":" in text or "]" in text else text


def _parts_at_tags(text: str) -> list[str]:
    """Split a text at each `<` that may open a tag; `a < b`, `<=`, `<-` and `<5` open none."""
    first, *rest = text.split("<")
    parts = [first]
    for each in rest:
        opens = each.lstrip()[:1] == "/" or not each or not (each[0].isspace() or each[0].isdigit() or each[0] in "=-")
        if opens:
            parts.append(each)
        else:
            parts[-1] += f"<{each}"
    return parts


_ROLES = ("human", "user", "assistant", "system", "developer", "tool", "model", "ai")
_BRACKETS = ("[INST]", "[/INST]", "[SYSTEM]", "[/SYSTEM]", "[SYS]", "[/SYS]")


def _without_role(line: str) -> str:
    """Return a line that no longer reads as the beginning of somebody's turn."""
    for mark in _BRACKETS:
        if mark in line:
            line = line.replace(mark, f"({mark[1:-1]})")
    word, colon, rest = line.partition(":")
    bare = word.lstrip(" \t>*#-_\"'").rstrip(" \t*_\"'")
    if colon and _plain_letters(bare).lower() in _ROLES:
        return f"{word.replace(bare, f'‹{bare}›')}:{rest}"
    return line


def _plain_letters(word: str) -> str:
    """Return a word with letters of other widths and styles as plain ones."""
    if word.isascii() or len(word) > 20:
        return word
    import unicodedata

    return unicodedata.normalize("NFKC", word)


def escape_json(written: str) -> str:
    """Return the same JSON with `<` and what nobody sees as escapes."""
    written = written.replace("<", "\\u003c")
    if written.isascii():
        return written
    unseen = _unseen()
    return "".join(_escaped(c) if ord(c) in unseen else c for c in written)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


_unseen_cache: dict[int, str | None] = {}


def _unseen() -> dict[int, str | None]:
    """Return what is dropped because nobody sees it: tag characters, bidi marks, zero-width and variation marks."""
    if not _unseen_cache:
        spans = (
            (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
            (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
            (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
        )  # fmt: skip
        _unseen_cache.update((code, None) for first, last in spans for code in range(first, last + 1))
        _unseen_cache.update({0x2028: "\n", 0x2029: "\n", 0x85: "\n", 0xFF1C: "<", 0xFE64: "<"})
    return _unseen_cache


def tokens(text: str) -> int:
    """Estimate how many tokens a model will count: four ASCII characters, or one of any other."""
    wide = 0 if text.isascii() else sum(1 for c in text if ord(c) > 127)
    return (len(text) - wide + 3) // 4 + wide


def cut(text: str, budget: int) -> str:
    """Return the longest beginning of a text, whole lines first, that fits a token budget."""
    if tokens(text) <= budget:
        return text
    kept: list[str] = []
    for line in text.splitlines():
        cost = tokens(line + "\n")
        if cost > budget:
            return "\n".join(kept) if kept else line[: max(budget, 0)]
        kept.append(line)
        budget -= cost
    return "\n".join(kept)


def counted(number: int, one: str, many: str = "") -> str:
    """Return how many there are of something."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def duration(microseconds: int) -> str:
    """Return a length of time as a person says it."""
    seconds = max(0, microseconds) // 1_000_000
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def time_left(microseconds: int) -> str:
    """Return how long something still lasts; thirty minutes just granted are thirty, not twenty-nine."""
    return duration(microseconds + 999_999)


def _surrogate(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "�".encode() * (error.end - error.start), error.end


def _register() -> None:
    import codecs

    codecs.register_error("replace_surrogate", _surrogate)


_register()
