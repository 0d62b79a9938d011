"""Parse an article into frontmatter and sections, and write it back. Pure.

Unknown keys, unknown headings and text before the first heading are preserved byte for byte.
"""

from __future__ import annotations

import re

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NON_PROSE_MARKS = ("#", "|", "```", "---")
_KEY = re.compile(r"^([A-Za-z_][\w-]*):(?:[ \t]+(.*))?$")
_HEADING_OR_FENCE = re.compile(r"(?m)^## +(.+?)[ \t]*$|^(?P<fence>```|~~~)")


@value
class Section:
    """The part of a page under a level-2 heading; the first may have none."""

    heading: str
    body: str  # as written, including blank lines around it
    heading_line: str = ""  # the heading line as written; empty for ours


@value
class Article:
    """One wiki page."""

    front: tuple[tuple[str, str | tuple[str, ...]], ...]  # keys in order; a list is a tuple
    sections: tuple[Section, ...]
    raw: tuple[str, ...] = ()  # the lines of each key as written, then what follows the last; empty for ours

    def get(self, key: str) -> str:
        """Return a value of the frontmatter; of a list, the first item."""
        entry = dict(self.front).get(key, "")
        return entry if isinstance(entry, str) else (entry or ("",))[0]

    def get_list(self, key: str) -> tuple[str, ...]:
        """Return a list of the frontmatter."""
        entry = dict(self.front).get(key, ())
        return (entry,) if isinstance(entry, str) and entry else tuple(entry)

    def get_section(self, heading: str) -> str:
        """Return the text under a heading, if there is one."""
        return next((section.body.strip() for section in self.sections if section.heading == heading), "")

    @property
    def title(self) -> str:
        """The title from the frontmatter, else the first heading."""
        first = next(
            (line for section in self.sections for line in section.body.splitlines() if line.startswith("# ")), ""
        )
        return self.get("title") or first.removeprefix("# ").strip()

    @property
    def opening(self) -> str:
        """The first line of prose."""
        prose = (line for line in self.body.splitlines() if line.strip() and not line.startswith(_NON_PROSE_MARKS))
        return next((line.strip("-*> ") for line in prose), "")

    @property
    def body(self) -> str:
        """The page without its frontmatter."""
        return "".join(
            (section.heading_line or f"## {section.heading}\n") + section.body if section.heading else section.body
            for section in self.sections
        )


def parse_article(markdown: str) -> Article:
    """Parse a page."""
    front, body = split_frontmatter(markdown)
    keys, raw = _parse_front(front)
    return Article(front=keys, sections=tuple(_split_sections(body)), raw=raw)


def to_markdown(article: Article) -> str:
    """Render a page as markdown."""
    raw = article.raw or ("",) * (len(article.front) + 1)
    lines = [
        line or format_front_key(key, front_value) for (key, front_value), line in zip(article.front, raw, strict=False)
    ]
    lines += filter(None, raw[-1:])
    head = "\n".join(["---", *lines, "---", ""]) if lines else ""
    return head + article.body


def split_frontmatter(markdown: str) -> tuple[str, str]:
    """Split a page into frontmatter and body; the frontmatter ends at a line with only `---`."""
    text = markdown.removeprefix("\ufeff").replace("\r\n", "\n")
    if not text.startswith("---\n"):
        return "", text
    front, end, body = text[4:].partition("\n---\n")
    return (front, body) if end else ("", text)


def update_front(article: Article, **facts: str | Iterable[str]) -> Article:
    """Return an article with changed frontmatter; new keys are added at the end."""
    new_values = {
        key: front_value if isinstance(front_value, str) else tuple(front_value) for key, front_value in facts.items()
    }
    raw = article.raw or ("",) * (len(article.front) + 1)
    lines = [
        _replace_key_lines(line, key, new_values[key])
        if line and key in new_values and new_values[key] != front_value
        else line
        for (key, front_value), line in zip(article.front, raw, strict=False)
    ]
    old_values = [(key, new_values.pop(key, front_value)) for key, front_value in article.front]
    return Article(
        front=(*old_values, *new_values.items()),
        sections=article.sections,
        raw=(*lines, *("" for _ in new_values), *raw[-1:]),
    )


def _replace_key_lines(raw: str, key: str, front_value: str | tuple[str, ...]) -> str:
    """Return the new lines of a key; keep comments above it."""
    lines = raw.split("\n")
    above = next((position for position, line in enumerate(lines) if _KEY.match(line)), 0)
    return "\n".join([*lines[:above], format_front_key(key, front_value)])


def _parse_front(text: str) -> tuple[tuple[tuple[str, str | tuple[str, ...]], ...], tuple[str, ...]]:
    """Return the keys of a frontmatter with the lines of each, including comments above; then the rest."""
    entries: list[tuple[str, str | tuple[str, ...]]] = []
    raw: list[str] = []
    above: list[str] = []
    for line in text.split("\n") if text else ():
        key = _KEY.match(line)
        if key:
            entries.append((key[1], _parse_value(key[2] or "")))
            raw.append("\n".join([*above, line]))
            above = []
        elif not entries or above or line.startswith("#"):
            above.append(line)
        else:
            entries[-1] = _append_list_item(entries[-1], line)
            raw[-1] += f"\n{line}"
    return tuple(entries), (*raw, "\n".join(above)) if text else ()


def _append_list_item(entry: tuple[str, str | tuple[str, ...]], line: str) -> tuple[str, str | tuple[str, ...]]:
    """Add a line to a key: a list item, or a line we do not understand."""
    name, before = entry
    if not line.lstrip().startswith("- "):
        return entry
    return name, (*(before if isinstance(before, tuple) else ()), _unquote_text(line.lstrip()[2:]))


def _parse_value(text: str) -> str | tuple[str, ...]:
    text = text.strip()
    if text.startswith("[") and text.endswith("]") and not text.startswith("[["):
        inner = re.findall(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([^,\s][^,]*)', text[1:-1])
        return tuple(_unquote_text(f'"{a}"' if a else b or c) for a, b, c in inner)
    return _unquote_text(text)


def _unquote_text(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text[1:-1])
    return text[1:-1].replace("''", "'") if len(text) > 1 and text[0] == text[-1] == "'" else text


def format_front_key(key: str, front_value: str | tuple[str, ...]) -> str:
    """Format a key as YAML."""
    if isinstance(front_value, str):
        return f"{key}: {_quote_yaml(front_value)}".rstrip()
    return (
        "\n".join([f"{key}:", *(f"  - {_quote_yaml(item)}" for item in front_value)]) if front_value else f"{key}: []"
    )


def _quote_yaml(text: str) -> str:
    """Quote a text for YAML unless it is plain."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return text  # a date, and meant as one
    if re.fullmatch(r"[\w][\w ./()+@,'-]*", text) and text.strip() == text and not _SPECIAL.fullmatch(text):
        return text
    for mark, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(mark, escaped)
    return f'"{text}"'


_SPECIAL = re.compile(r"(?i)true|false|yes|no|on|off|null|~|[\d.,_+-]+")


def _split_sections(body: str) -> list[Section]:
    """Split a body into sections."""
    heads = list(_find_headings(body))
    ends = [*(head.start() for head in heads), len(body)]
    first = body[: ends[0]]
    sections = [Section(heading="", body=first)] if first else []
    for head, end in zip(heads, ends[1:], strict=True):
        line = body[head.start() : head.end() + 1]
        sections.append(Section(heading=head[1].strip(), body=body[head.end() + 1 : end], heading_line=line))
    return sections


def find_open_fence(body: str) -> str:
    """Return the code fence that a text opens but does not close."""
    fence = ""
    for match in _HEADING_OR_FENCE.finditer(body):
        if match["fence"] and fence in ("", match["fence"]):
            fence = "" if fence else match["fence"]
    return fence


def _find_headings(body: str) -> Iterator[re.Match[str]]:
    """Yield the headings of a body, ignoring lines inside code fences."""
    fence = ""
    for match in _HEADING_OR_FENCE.finditer(body):
        if match["fence"]:
            fence = match["fence"] if not fence else "" if match["fence"] == fence else fence
        elif not fence:
            yield match
