"""Find the topics of entries by rules. Pure.

A topic is a project, one of its files, its decisions, an error, or a name that recurs. What an entry says about a topic
is its evidence: quotes with a day and a link to the entry, never reworded.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from itertools import chain

from engram.agents.registry import list_agents
from engram.index.tokenizer import STOP_WORDS, extract_terms
from engram.platform.text import build_slug, to_one_line
from engram.platform.value import value
from engram.wiki.compiler.entry_sections import parse_failure, parse_sections
from engram.wiki.vault.links import escape_links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from engram.wiki.vault.daily_log import LogEntry

PROJECT, DECISIONS, FILE, ERROR, TERM = "project", "decisions", "file", "error", "term"
MIN_ENTRIES = {PROJECT: 1, DECISIONS: 2, FILE: 3, ERROR: 2, TERM: 4}  # entries that make a topic worth a page

_QUOTE_CHARS = 240  # characters of a quote
_GOAL_CHARS = 160
_MIN_TELLING_WORDS = 3  # distinct words a line needs to make sense by itself
_MAX_TOPICS = {FILE: 30, ERROR: 10, TERM: 24}  # topics of an entry
_MAX_QUOTES = 3  # sentences of an entry about one name
_WORKTREE = re.compile(r"/\.?worktrees/.*$")
_INNER = re.compile(r"(?<=[^/:]/)(?:src|source)$")  # a folder every project has; not a project by itself
_CODE = re.compile(r"[`'‘“\"]([A-Za-z_@][\w@./:+-]{2,40}?)(?:\(\))?[`'’”\"]")
_NAME = re.compile(
    r"\b(?:[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[A-Z]{2,}[a-z0-9]\w*|[a-z0-9]+(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]{3,})\b"
)
_PROPER = re.compile(r"(?<=[a-z,;] )[A-Z][A-Za-z0-9]{3,}\b")
_PLACE = re.compile(r"https?://\S+|‹[^›]*›|(?:[~.]?/|[A-Za-z]:\\)[^\s'\"]+")  # names in them are not topics
_CLASS = re.compile(r"\b(?:[A-Za-z_][\w.]*)?(?:Error|Exception|Fault|Panic)\b")
_NUMBERED = re.compile(r"\b(?:TS\d{4}|E\d{4}|[A-Z]{2,6}\d{2,5}|E(?!RROR)[A-Z]{4,}|SIG[A-Z]{3,5})\b")
_VARIES = re.compile(
    r"0x[0-9a-fA-F]+|\b[0-9a-f]{7,40}\b|\b\d+(?:[.:]\d+)*\b|(?:[/~]|[A-Za-z]:\\|[\w.-]+/)[^\s'\",:;)\]]+|×\d+"
)
_NOISE = re.compile(r"(?i)tool_use_error|sibling tool call|file has not been read|user (?:doesn't want|rejected)")
_AGENT_FOLDERS = "|".join(rf"\.{re.escape(agent.name)}" for agent in list_agents())
_PLACELESS = re.compile(rf"(?:^|/)(?:{_AGENT_FOLDERS}|tmp|temp|private|node_modules)(?:/|$)")
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
    """Something that entries are about."""

    kind: str
    key: str  # unique key
    title: str
    project: str  # as shown; empty if it belongs to no project

    @property
    def name(self) -> str:
        """The file name of its page."""
        if self.kind == FILE:
            return build_slug(f"{self.project} {self.title}")
        return build_slug(f"{self.project} decisions") if self.kind == DECISIONS else build_slug(self.title)

    @property
    def other_name(self) -> str:
        """The file name if another topic has the first one."""
        return second_name(self.name, self.key)


def second_name(name: str, key: str) -> str:
    """Return a name that no other topic has."""
    return f"{name[:70]}-{blake2b(key.encode(), digest_size=3).hexdigest()}"


TopicEvidence = dict[str, "Any"]  # entry, day, at, link, flavor, goal, and the keys of its kind


def find_topics(entry: LogEntry) -> list[tuple[Topic, TopicEvidence]]:
    """Return the topics of an entry, each with its evidence."""
    parts = parse_sections(entry.content)
    root = project_root(entry.project)
    project = root.rpartition("/")[2].removesuffix(".git")
    base_evidence: TopicEvidence = {
        "entry": entry.id,
        "day": entry.day,
        "at": _parse_hour(entry.title),
        "link": link_to_entry(entry),
        "flavor": entry.flavor,
        "goal": find_goal(parts),
        "in": project,
        "root": root,
    }
    found_topics = chain(
        _find_project(root, project, parts, base_evidence),
        _find_files(root, project, parts, base_evidence),
        _find_errors(parts, base_evidence),
        _find_terms(parts, base_evidence),
    )
    unique = {topic.key: (_escape_title(topic), evidence) for topic, evidence in found_topics if topic.name}
    return list(unique.values())


def project_root(project: str) -> str:
    """Return the directory of a project in one spelling: not that of a worktree or of its sources."""
    path = re.sub(r"(?<!:)/{2,}", "/", project.replace("\\", "/")).rstrip("/")
    return _INNER.sub("", _WORKTREE.sub("", path)).rstrip("/")


def topic_key(kind: str, project: str, title: str) -> str:
    """Return the key of a topic; a project is identified by its name, wherever it is."""
    return f"{kind} {build_slug(project)} {title}" if kind == FILE else f"{kind} {build_slug(project)}"


def _escape_title(topic: Topic) -> Topic:
    """Return a topic whose title contains no links."""
    return Topic(**{**vars(topic), "title": escape_links(topic.title)})


def project_key(evidence: TopicEvidence) -> tuple[str, str]:
    """Return the key and the name of an entry's project."""
    name = evidence.get("in", "")
    return topic_key(PROJECT, name, name), build_slug(name)


def link_to_entry(entry: LogEntry) -> str:
    """Return the link to an entry; nothing in its heading can end the link."""
    return f"daily/{entry.day}#{to_one_line(re.sub(r'[][|#^]', ' ', entry.title), 120)}"


def find_goal(parts: dict[str, list[str]]) -> str:
    """Return the goal of an entry in a line, or its result if the goal says too little."""
    lines = [
        _strip_marks(line) for part in ("goal", "asked", "commits", "ended", "told") for line in parts.get(part, ())
    ]
    lines = [re.split(r"\s#{1,6} ", line, maxsplit=1)[0] for line in lines]
    telling = next((line for line in lines if len(set(extract_terms(line))) >= _MIN_TELLING_WORDS), None)
    return to_one_line(telling or next(iter(lines), ""), _GOAL_CHARS)


def clean_quote(line: str) -> str:
    """Return a line cleaned for quoting."""
    return to_one_line(_strip_marks(line), _QUOTE_CHARS)


def _strip_marks(line: str) -> str:
    """Remove markdown markers from a line."""
    return escape_links(re.sub(r"^(?:#+|>+|Implement the following plan:) *", "", line.replace("**", "").strip()))


def _parse_hour(title: str) -> str:
    match = re.search(r"\((\d{2}:\d{2})\)", title)
    return match[1] if match else ""


def _find_project(
    root: str, project: str, parts: dict[str, list[str]], base_evidence: TopicEvidence
) -> Iterator[tuple[Topic, TopicEvidence]]:
    if not build_slug(project):
        return
    lists = {
        name: [clean_quote(line) for line in parts.get(name, ())][:8] for name in ("failed", "tests", "commits", "open")
    }
    lists["failed"] = [line for line in lists["failed"] if not _NOISE.search(line)]
    files = list(_find_paths(root, parts))[:20]
    decided = list(_find_decisions(parts))
    ended = [clean_quote(line) for line in parts.get("ended", ())][:1]
    facts = {**base_evidence, **lists, "decided": decided, "files": files, "ended": ended}
    yield (
        Topic(kind=PROJECT, key=topic_key(PROJECT, project, project), title=project, project=project),
        _drop_empty(facts),
    )
    lessons = [clean_quote(line) for line in parts.get("lessons", ())]
    if decided or lessons:
        title = f"Decisions of {project}"
        topic = Topic(kind=DECISIONS, key=topic_key(DECISIONS, project, title), title=title, project=project)
        yield topic, _drop_empty({**base_evidence, "decided": decided, "lessons": lessons})


def _find_decisions(parts: dict[str, list[str]]) -> Iterator[str]:
    """Yield decisions that make sense by themselves: a bare yes means nothing a month later."""
    for line in parts.get("decided", ()):
        if len(set(extract_terms(line))) >= 4:
            yield clean_quote(line)


def _find_files(
    root: str, project: str, parts: dict[str, list[str]], base_evidence: TopicEvidence
) -> Iterator[tuple[Topic, TopicEvidence]]:
    paths = list(_find_paths(root, parts))[: _MAX_TOPICS[FILE]]
    for path in paths:
        name = path.rpartition("/")[2]
        about = [
            clean_quote(line)
            for line in _collect_lines(parts, ("decided", "failed", "corrected", "lessons"))
            if name in line
        ]
        other_files = [other for other in paths if other != path][:12]
        topic = Topic(kind=FILE, key=topic_key(FILE, project, path), title=path, project=project)
        yield topic, _drop_empty({**base_evidence, "said": about[:_MAX_QUOTES], "files": other_files})


def _find_paths(root: str, parts: dict[str, list[str]]) -> Iterator[str]:
    """Yield the files an entry changed, relative to their project."""
    for line in parts.get("changed", ()):
        code = re.match(r"`([^`]+)`", line)
        path = (code[1] if code else line.split(" ")[0]).replace("\\", "/").removeprefix(f"{root}/").removeprefix("./")
        path = re.sub(r"^(?:.*?/)?\.?worktrees/[^/]+/", "", path)
        if path and not path.startswith(("+", "…", "/", "~", "../")) and not _PLACELESS.search(path) and "." in path:
            yield path


def _find_errors(parts: dict[str, list[str]], base_evidence: TopicEvidence) -> Iterator[tuple[Topic, TopicEvidence]]:
    for line in parts.get("failed", [])[: _MAX_TOPICS[ERROR]]:
        failed = parse_failure(line)
        title = "" if _NOISE.search(line) else name_error(failed.what)
        if title:
            facts = {
                **base_evidence,
                "said": [clean_quote(line)],
                "fixes": [clean_quote(failed.fix)] if failed.fix else [],
            }
            yield Topic(kind=ERROR, key=f"error {build_slug(title)}", title=title, project=""), _drop_empty(facts)


def name_error(what: str) -> str:
    """Return the name of an error wherever it occurs: its class or number, and its words without details."""
    match = _CLASS.search(what) or _NUMBERED.search(what)
    name = match[0].rpartition(".")[2] if match else ""
    rest = re.split(r"[;|\n]|\. ", what[match.end() if match else 0 :], maxsplit=1)[0]
    rest = re.sub(r"(?:… ?)+", "… ", _VARIES.sub("…", rest)).strip(" :-…,()[]")
    if not name:
        return to_one_line(rest, 70) if len(re.findall(r"[A-Za-z]{3,}", rest)) >= _MIN_TELLING_WORDS else ""
    return to_one_line(f"{name}: {rest}" if rest and rest[0] not in "'\"" else f"{name} {rest}".strip(), 70)


def _find_terms(parts: dict[str, list[str]], base_evidence: TopicEvidence) -> Iterator[tuple[Topic, TopicEvidence]]:
    lines = list(_collect_lines(parts, ("decided", "lessons", "corrected", "goal", "asked", "told", "open", "ended")))
    prose = [_PLACE.sub(" ", line) for line in lines]
    plain_words = {word for line in prose for word in re.findall(r"\b[a-z]+\b", line)}
    names: dict[str, str] = {}
    for name in (found_name for line in prose for found_name in find_names(line, plain_words)):
        names.setdefault(_fold_name(name), name)
    for folded, name in list(names.items())[: _MAX_TOPICS[TERM]]:
        about = [clean_quote(line) for line, bare in zip(lines, prose, strict=True) if name in bare][:_MAX_QUOTES]
        yield (
            Topic(kind=TERM, key=f"term {folded}", title=name, project=""),
            _drop_empty({**base_evidence, "said": about}),
        )


def find_names(line: str, plain_words: set[str]) -> Iterator[str]:
    """Yield the names in a line: code, and words that are written like names and never as plain words."""
    for match in (*_CODE.finditer(line), *_NAME.finditer(line), *_PROPER.finditer(line)):
        name = match[match.lastindex or 0].strip(".:-/")
        if match.re is _PROPER and name.lower() in plain_words:
            continue
        is_dull = name.casefold() in DULL or name.casefold() in STOP_WORDS or "/" in name or _CLASS.fullmatch(name)
        if (
            not is_dull
            and len(name) > 3
            and not re.search(r"\.\w{1,4}$", name)
            and not re.fullmatch(r"[0-9a-f]{6,}", name)
        ):
            yield name


def _fold_name(name: str) -> str:
    return (extract_terms(name) or [name.casefold()])[0]


def _collect_lines(parts: dict[str, list[str]], names: Iterable[str]) -> Iterator[str]:
    return chain.from_iterable(parts.get(name, ()) for name in names)


def _drop_empty(facts: TopicEvidence) -> TopicEvidence:
    """Drop empty values from evidence."""
    return {name: fact for name, fact in facts.items() if fact}
