"""Topics: what entries are about, by rules. Pure.

A project, a file of it, its decisions, an error, a name that keeps coming up. What an entry says of a topic is its
evidence: quotes with a day and the entry they stand in, nothing reworded.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from itertools import chain

from engram.compiler.said import failure, said
from engram.index.words import STOP, words
from engram.text import one_line
from engram.value import value
from engram.vault.links import slug, unlinked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from engram.vault.daily_log import Entry

PROJECT, DECISIONS, FILE, ERROR, TERM = "project", "decisions", "file", "error", "term"
ENOUGH = {PROJECT: 1, DECISIONS: 2, FILE: 3, ERROR: 2, TERM: 4}  # entries that make a topic worth a page

_QUOTE = 240  # characters of one quote
_GOAL = 160
_TELLING = 3  # different words without which a line says nothing by itself
_MOST = {FILE: 30, ERROR: 10, TERM: 24}  # topics of one entry
_QUOTED = 3  # sentences of an entry about one name
_WORKTREE = re.compile(r"/\.?worktrees/.*$")
_INNER = re.compile(r"(?<=[^/:]/)(?:src|source)$")  # a folder every project has: no project by itself
_CODE = re.compile(r"[`'‘“\"]([A-Za-z_@][\w@./:+-]{2,40}?)(?:\(\))?[`'’”\"]")
_NAME = re.compile(
    r"\b(?:[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[A-Z]{2,}[a-z0-9]\w*|[a-z0-9]+(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]{3,})\b"
)
_PROPER = re.compile(r"(?<=[a-z,;] )[A-Z][A-Za-z0-9]{3,}\b")
_PLACE = re.compile(r"https?://\S+|‹[^›]*›|(?:[~.]?/|[A-Za-z]:\\)[^\s'\"]+")  # names in them are no topics
_CLASS = re.compile(r"\b(?:[A-Za-z_][\w.]*)?(?:Error|Exception|Fault|Panic)\b")
_NUMBERED = re.compile(r"\b(?:TS\d{4}|E\d{4}|[A-Z]{2,6}\d{2,5}|E(?!RROR)[A-Z]{4,}|SIG[A-Z]{3,5})\b")
_VARIES = re.compile(
    r"0x[0-9a-fA-F]+|\b[0-9a-f]{7,40}\b|\b\d+(?:[.:]\d+)*\b|(?:[/~]|[A-Za-z]:\\|[\w.-]+/)[^\s'\",:;)\]]+|×\d+"
)
_NOISE = re.compile(r"(?i)tool_use_error|sibling tool call|file has not been read|user (?:doesn't want|rejected)")
_PLACELESS = re.compile(r"(?:^|/)(?:\.claude|\.codex|tmp|temp|private|node_modules)(?:/|$)")
DULL = frozenset(
    """true false none null this that with from http https todo fixme note error errors readme main test tests done
    file files line lines code json yaml html text name value data user users type types list yes okay also then
    here there let lets plan context added updated fixed created removed next step steps all the and
    implement january february march april june july august september october november december
    monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday saturdays
    sunday sundays""".split()
)  # fmt: skip


@value
class Topic:
    """Something entries are about."""

    kind: str
    key: str  # what tells it from others
    title: str
    project: str  # as it is shown; empty: of no project in particular

    @property
    def name(self) -> str:
        """Return the file name of its page."""
        if self.kind == FILE:
            return slug(f"{self.project} {self.title}")
        return slug(f"{self.project} decisions") if self.kind == DECISIONS else slug(self.title)

    @property
    def other_name(self) -> str:
        """Return the file name where another topic has the first."""
        return second_name(self.name, self.key)


def second_name(name: str, key: str) -> str:
    """Return a name that no other topic has."""
    return f"{name[:70]}-{blake2b(key.encode(), digest_size=3).hexdigest()}"


Evidence = dict[str, "Any"]  # entry, day, at, link, flavor, goal, and what the kind of topic asks for


def topics(entry: Entry) -> list[tuple[Topic, Evidence]]:
    """Return what an entry is about, and what it says of each."""
    parts = said(entry.content)
    root = root_of(entry.project)
    project = root.rpartition("/")[2].removesuffix(".git")
    seen: Evidence = {
        "entry": entry.id, "day": entry.day, "at": _hour(entry.title), "link": place(entry), "flavor": entry.flavor,
        "goal": goal(parts), "in": project, "root": root,
    }  # fmt: skip
    found = chain(
        _project(root, project, parts, seen), _files(root, project, parts, seen), _errors(parts, seen),
        _terms(parts, seen),
    )  # fmt: skip
    unique = {topic.key: (_unlinked(topic), evidence) for topic, evidence in found if topic.name}
    return list(unique.values())


def root_of(project: str) -> str:
    """Return the directory of a project in one spelling: its own, not a worktree's or that of its sources."""
    path = re.sub(r"(?<!:)/{2,}", "/", project.replace("\\", "/")).rstrip("/")
    return _INNER.sub("", _WORKTREE.sub("", path)).rstrip("/")


def key_of(kind: str, project: str, title: str) -> str:
    """Return what tells a topic of a project from others; a project is known by its name, wherever it lies."""
    return f"{kind} {slug(project)} {title}" if kind == FILE else f"{kind} {slug(project)}"


def _unlinked(topic: Topic) -> Topic:
    """Return a topic whose title is no link, wherever it is put."""
    return Topic(**{**vars(topic), "title": unlinked(topic.title)})


def project_of(evidence: Evidence) -> tuple[str, str]:
    """Return the key and the name of the project an entry belongs to."""
    name = evidence.get("in", "")
    return key_of(PROJECT, name, name), slug(name)


def place(entry: Entry) -> str:
    """Return the link to an entry; what somebody put into its heading cannot end the link."""
    return f"daily/{entry.day}#{one_line(re.sub(r'[][|#^]', ' ', entry.title), 120)}"


def goal(parts: dict[str, list[str]]) -> str:
    """Return in a line what an entry was about: what was wanted, or where that says too little, what came of it."""
    lines = [_plain(line) for part in ("goal", "asked", "commits", "ended", "told") for line in parts.get(part, ())]
    lines = [re.split(r"\s#{1,6} ", line, maxsplit=1)[0] for line in lines]
    telling = next((line for line in lines if len(set(words(line))) >= _TELLING), None)
    return one_line(telling or next(iter(lines), ""), _GOAL)


def quote(line: str) -> str:
    """Return a line as it is quoted."""
    return one_line(_plain(line), _QUOTE)


def _plain(line: str) -> str:
    """Return a line without the marks that would be read as markdown of ours."""
    return unlinked(re.sub(r"^(?:#+|>+|Implement the following plan:) *", "", line.replace("**", "").strip()))


def _hour(title: str) -> str:
    found = re.search(r"\((\d{2}:\d{2})\)", title)
    return found[1] if found else ""


def _project(root: str, project: str, parts: dict[str, list[str]], seen: Evidence) -> Iterator[tuple[Topic, Evidence]]:
    if not slug(project):
        return
    lists = {name: [quote(each) for each in parts.get(name, ())][:8] for name in ("failed", "tests", "commits", "open")}
    lists["failed"] = [each for each in lists["failed"] if not _NOISE.search(each)]
    files = list(_paths(root, parts))[:20]
    decided = list(_decided(parts))
    ended = [quote(each) for each in parts.get("ended", ())][:1]
    facts = {**seen, **lists, "decided": decided, "files": files, "ended": ended}
    yield Topic(kind=PROJECT, key=key_of(PROJECT, project, project), title=project, project=project), _held(facts)
    lessons = [quote(each) for each in parts.get("lessons", ())]
    if decided or lessons:
        title = f"Decisions of {project}"
        topic = Topic(kind=DECISIONS, key=key_of(DECISIONS, project, title), title=title, project=project)
        yield topic, _held({**seen, "decided": decided, "lessons": lessons})


def _decided(parts: dict[str, list[str]]) -> Iterator[str]:
    """Yield decisions that can be understood by themselves: a mere yes says nothing a month later."""
    for line in parts.get("decided", ()):
        if len(set(words(line))) >= 4:
            yield quote(line)


def _files(root: str, project: str, parts: dict[str, list[str]], seen: Evidence) -> Iterator[tuple[Topic, Evidence]]:
    paths = list(_paths(root, parts))[: _MOST[FILE]]
    for path in paths:
        name = path.rpartition("/")[2]
        about = [quote(line) for line in _lines(parts, ("decided", "failed", "corrected", "lessons")) if name in line]
        beside = [other for other in paths if other != path][:12]
        topic = Topic(kind=FILE, key=key_of(FILE, project, path), title=path, project=project)
        yield topic, _held({**seen, "said": about[:_QUOTED], "files": beside})


def _paths(root: str, parts: dict[str, list[str]]) -> Iterator[str]:
    """Yield the files an entry changed, as they are called within their project."""
    for line in parts.get("changed", ()):
        code = re.match(r"`([^`]+)`", line)
        path = (code[1] if code else line.split(" ")[0]).replace("\\", "/").removeprefix(f"{root}/").removeprefix("./")
        path = re.sub(r"^(?:.*?/)?\.?worktrees/[^/]+/", "", path)
        if path and not path.startswith(("+", "…", "/", "~", "../")) and not _PLACELESS.search(path) and "." in path:
            yield path


def _errors(parts: dict[str, list[str]], seen: Evidence) -> Iterator[tuple[Topic, Evidence]]:
    for line in parts.get("failed", [])[: _MOST[ERROR]]:
        failed = failure(line)
        title = "" if _NOISE.search(line) else error(failed.what)
        if title:
            facts = {**seen, "said": [quote(line)], "fixes": [quote(failed.fix)] if failed.fix else []}
            yield Topic(kind=ERROR, key=f"error {slug(title)}", title=title, project=""), _held(facts)


def error(what: str) -> str:
    """Return what an error is called wherever it comes up: its class or number, and its words without details."""
    found = _CLASS.search(what) or _NUMBERED.search(what)
    name = found[0].rpartition(".")[2] if found else ""
    rest = re.split(r"[;|\n]|\. ", what[found.end() if found else 0 :], maxsplit=1)[0]
    rest = re.sub(r"(?:… ?)+", "… ", _VARIES.sub("…", rest)).strip(" :-…,()[]")
    if not name:
        return one_line(rest, 70) if len(re.findall(r"[A-Za-z]{3,}", rest)) >= _TELLING else ""
    return one_line(f"{name}: {rest}" if rest and rest[0] not in "'\"" else f"{name} {rest}".strip(), 70)


def _terms(parts: dict[str, list[str]], seen: Evidence) -> Iterator[tuple[Topic, Evidence]]:
    lines = list(_lines(parts, ("decided", "lessons", "corrected", "goal", "asked", "told", "open", "ended")))
    prose = [_PLACE.sub(" ", line) for line in lines]
    plain = {word for line in prose for word in re.findall(r"\b[a-z]+\b", line)}
    names: dict[str, str] = {}
    for name in (each for line in prose for each in names_in(line, plain)):
        names.setdefault(_folded(name), name)
    for folded, name in list(names.items())[: _MOST[TERM]]:
        about = [quote(line) for line, bare in zip(lines, prose, strict=True) if name in bare][:_QUOTED]
        yield (
            Topic(kind=TERM, key=f"term {folded}", title=name, project=""),
            _held({**seen, "said": about}),
        )


def names_in(line: str, plain: set[str]) -> Iterator[str]:
    """Yield the names in a line: code, and what is written as a name is and nowhere as a plain word."""
    for found in (*_CODE.finditer(line), *_NAME.finditer(line), *_PROPER.finditer(line)):
        name = found[found.lastindex or 0].strip(".:-/")
        if found.re is _PROPER and name.lower() in plain:
            continue
        dull = name.casefold() in DULL or name.casefold() in STOP or "/" in name or _CLASS.fullmatch(name)
        if (
            not dull
            and len(name) > 3
            and not re.search(r"\.\w{1,4}$", name)
            and not re.fullmatch(r"[0-9a-f]{6,}", name)
        ):
            yield name


def _folded(name: str) -> str:
    return (words(name) or [name.casefold()])[0]


def _lines(parts: dict[str, list[str]], names: Iterable[str]) -> Iterator[str]:
    return chain.from_iterable(parts.get(name, ()) for name in names)


def _held(facts: Evidence) -> Evidence:
    """Return evidence without what it has nothing of."""
    return {name: each for name, each in facts.items() if each}
