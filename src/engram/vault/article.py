"""An article: frontmatter and sections, read from markdown and written back. Pure.

What is not ours to understand (other keys, other headings, a text before the first heading) survives reading and
writing byte for byte.
"""

from __future__ import annotations

import re

from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CONCEPT, CONNECTION, QA = "concept", "connection", "qa"
FOLDERS = {CONCEPT: "concepts", CONNECTION: "connections", QA: "qa"}
_NO_PROSE = ("#", "|", "```", "---")
_KEY = re.compile(r"^([A-Za-z_][\w-]*):(?:[ \t]+(.*))?$")
_MARK = re.compile(r"(?m)^## +(.+?)[ \t]*$|^(?P<fence>```|~~~)")


@value
class Section:
    """A part of a page under a heading of the second order; the first may have none."""

    heading: str
    body: str  # as it stands, blank lines around it included
    head: str = ""  # the line of the heading as somebody wrote it; empty: ours


@value
class Article:
    """One page of the wiki."""

    front: tuple[tuple[str, str | tuple[str, ...]], ...]  # keys in their order; a list is a tuple
    sections: tuple[Section, ...]
    raw: tuple[str, ...] = ()  # the lines of each key as somebody wrote them, then what follows the last; empty: ours

    def get(self, key: str) -> str:
        """Return what the frontmatter says of a key; of a list the first."""
        found = dict(self.front).get(key, "")
        return found if isinstance(found, str) else (found or ("",))[0]

    def list(self, key: str) -> tuple[str, ...]:
        """Return what the frontmatter lists under a key."""
        found = dict(self.front).get(key, ())
        return (found,) if isinstance(found, str) and found else tuple(found)

    def section(self, heading: str) -> str:
        """Return what stands under a heading, if there is one."""
        return next((each.body.strip() for each in self.sections if each.heading == heading), "")

    @property
    def title(self) -> str:
        """Return the title: what the frontmatter says, else the first heading."""
        first = next((line for each in self.sections for line in each.body.splitlines() if line.startswith("# ")), "")
        return self.get("title") or first.removeprefix("# ").strip()

    @property
    def opening(self) -> str:
        """Return the first line of prose, which says best what a page is about."""
        prose = (line for line in self.body.splitlines() if line.strip() and not line.startswith(_NO_PROSE))
        return next((line.strip("-*> ") for line in prose), "")

    @property
    def body(self) -> str:
        """Return the page without its frontmatter."""
        return "".join(
            (each.head or f"## {each.heading}\n") + each.body if each.heading else each.body for each in self.sections
        )


def read(markdown: str) -> Article:
    """Return what a page says."""
    front, body = split(markdown)
    keys, raw = _front(front)
    return Article(front=keys, sections=tuple(_sections(body)), raw=raw)


def written(article: Article) -> str:
    """Return a page as markdown."""
    raw = article.raw or ("",) * (len(article.front) + 1)
    lines = [line or shown(key, said) for (key, said), line in zip(article.front, raw, strict=False)]
    lines += filter(None, raw[-1:])
    head = "\n".join(["---", *lines, "---", ""]) if lines else ""
    return head + article.body


def split(markdown: str) -> tuple[str, str]:
    """Return frontmatter and body; frontmatter ends at a line that is `---` alone."""
    text = markdown.removeprefix("\ufeff").replace("\r\n", "\n")
    if not text.startswith("---\n"):
        return "", text
    front, end, body = text[4:].partition("\n---\n")
    if not end:
        front, end, body = (text[4:].removesuffix("\n---"), "x", "") if text.endswith("\n---") else ("", "", text)
    return (front, body) if end else ("", text)


def with_front(article: Article, **facts: str | Iterable[str]) -> Article:
    """Return an article whose frontmatter says something else; new keys come last."""
    told = {key: said if isinstance(said, str) else tuple(said) for key, said in facts.items()}
    raw = article.raw or ("",) * (len(article.front) + 1)
    lines = [
        _instead(line, key, told[key]) if line and key in told and told[key] != said else line
        for (key, said), line in zip(article.front, raw, strict=False)
    ]  # fmt: skip
    kept = [(key, told.pop(key, said)) for key, said in article.front]
    return Article(
        front=(*kept, *told.items()), sections=article.sections, raw=(*lines, *("" for _ in told), *raw[-1:])
    )


def _instead(raw: str, key: str, said: str | tuple[str, ...]) -> str:
    """Return the lines of a key that says something else now; comments above it stay."""
    lines = raw.split("\n")
    above = next((place for place, line in enumerate(lines) if _KEY.match(line)), 0)
    return "\n".join([*lines[:above], shown(key, said)])


def _front(text: str) -> tuple[tuple[tuple[str, str | tuple[str, ...]], ...], tuple[str, ...]]:
    """Return the keys of a frontmatter and the lines each was read from, with comments above; then what is left."""
    found: list[tuple[str, str | tuple[str, ...]]] = []
    raw: list[str] = []
    above: list[str] = []
    for line in text.split("\n") if text else ():
        key = _KEY.match(line)
        if key:
            found.append((key[1], _said(key[2] or "")))
            raw.append("\n".join([*above, line]))
            above = []
        elif not found or above or line.startswith("#"):
            above.append(line)
        else:
            found[-1] = _listed(found[-1], line)
            raw[-1] += f"\n{line}"
    return tuple(found), (*raw, "\n".join(above)) if text else ()


def _listed(held: tuple[str, str | tuple[str, ...]], line: str) -> tuple[str, str | tuple[str, ...]]:
    """Return a key with one more line: an item of its list, or something that is not ours to understand."""
    name, before = held
    if not line.lstrip().startswith("- "):
        return held
    return name, (*(before if isinstance(before, tuple) else ()), _plain(line.lstrip()[2:]))


def _said(text: str) -> str | tuple[str, ...]:
    text = text.strip()
    if text.startswith("[") and text.endswith("]") and not text.startswith("[["):
        inner = re.findall(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([^,\s][^,]*)', text[1:-1])
        return tuple(_plain(f'"{a}"' if a else b or c) for a, b, c in inner)
    return _plain(text)


def _plain(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text[1:-1])
    return text[1:-1].replace("''", "'") if len(text) > 1 and text[0] == text[-1] == "'" else text


def shown(key: str, said: str | tuple[str, ...]) -> str:
    """Return a key as we write it."""
    if isinstance(said, str):
        return f"{key}: {_quoted(said)}".rstrip()
    return "\n".join([f"{key}:", *(f"  - {_quoted(each)}" for each in said)]) if said else f"{key}: []"


def _quoted(text: str) -> str:
    """Return a text as YAML reads it back; quoted unless it is plainly plain."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return text  # a date, and meant as one
    if re.fullmatch(r"[\w][\w ./()+@,'-]*", text) and text.strip() == text and not _SPECIAL.fullmatch(text):
        return text
    for mark, shown in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(mark, shown)
    return f'"{text}"'


_SPECIAL = re.compile(r"(?i)true|false|yes|no|on|off|null|~|[\d.,_+-]+")


def _sections(body: str) -> list[Section]:
    """Return the sections of a body."""
    heads = list(_heads(body))
    ends = [*(head.start() for head in heads), len(body)]
    first = body[: ends[0]]
    found = [Section(heading="", body=first)] if first else []
    for head, end in zip(heads, ends[1:], strict=True):
        line = body[head.start() : head.end() + 1]
        found.append(Section(heading=head[1].strip(), body=body[head.end() + 1 : end], head=line))
    return found


def unclosed(body: str) -> str:
    """Return the fence that a text opens and does not close."""
    fence = ""
    for found in _MARK.finditer(body):
        if found["fence"] and fence in ("", found["fence"]):
            fence = "" if fence else found["fence"]
    return fence


def _heads(body: str) -> Iterator[re.Match[str]]:
    """Yield the headings of a body; a line inside a fence is none, and a fence is closed by what opened it."""
    fence = ""
    for found in _MARK.finditer(body):
        if found["fence"]:
            fence = found["fence"] if not fence else "" if found["fence"] == fence else fence
        elif not fence:
            yield found
