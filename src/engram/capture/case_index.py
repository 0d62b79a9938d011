"""Index cases: the words by which an episode or a commit is found, and the files and symbols it is about."""

from __future__ import annotations

import re

import orjson

from engram.evidence import anchors
from engram.hub import Hub
from engram.index.tokenizer import extract_terms
from engram.platform.file_below import read_file_below
from engram.store import captures, cases, commits, episodes, exchanges, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from engram.store.engine import Row

_BATCH = 64
_MESSAGE = 6_000  # characters of one message
_DISCUSSION = 60_000  # characters of the messages of an episode
_FEW_FILES = 12  # an episode that changed more files is about none of them
_FILES, _SYMBOLS = 48, 40
_MOST_CODE = 400_000  # bytes of a file in which a symbol is looked up
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)


def index_cases(hub: Hub, should_stop: Callable[[], bool] = lambda: False) -> int:
    """Index the words of new and changed cases; return how many."""
    count = 0
    while (rows := cases.list_stale(hub.engine, _BATCH)) and not should_stop():
        built = [(row, *_build(hub, row)) for row in rows]
        with hub.engine.transaction():
            for row, project, terms, found in built:
                cases.save_words(hub.engine, row["id"], project, terms, found)
        count += len(rows)
    return count


def _build(hub: Hub, row: Row) -> tuple[str, set[str], list[Row]]:
    return _build_commit(hub, row) if row["kind"] == "commit" else _build_episode(hub, row)


def _build_commit(hub: Hub, row: Row) -> tuple[str, set[str], list[Row]]:
    commit = commits.get(hub.engine, row["project"], row["hash"])
    if commit is None:
        return row["project"], set(), []
    text, files = f"{commit['subject']}\n{commit['body']}", orjson.loads(commit["files"])
    terms = {*extract_terms(text), *extract_terms(" ".join(files))}
    return row["project"], terms, _list_anchors(row["project"], text, files if len(files) <= _FEW_FILES else [])


def _build_episode(hub: Hub, row: Row) -> tuple[str, set[str], list[Row]]:
    capture = captures.get(hub.engine, row["capture"])
    session = sessions.get(hub.engine, capture["session_id"])
    found = [item for item in episodes.list_by_capture(hub.engine, row["capture"]) if item["number"] >= row["number"]]
    if session is None or not found or found[0]["number"] != row["number"]:
        return (session or {}).get("project", ""), set(), []
    facts = orjson.loads(found[0]["facts"])
    until = found[1]["started_at"] if len(found) > 1 else None
    messages = exchanges.list_between(
        hub.engine, session["id"], found[0]["started_at"] or 0, until or (1 << 62), _MESSAGE
    )
    discussion = "\n".join(row["content"] for row in messages)[:_DISCUSSION]
    settled = _join_settled(facts)
    files = [path.replace("\\", "/") for path in facts["changed"]]
    text = "\n".join((found[0]["title"], facts["request"], *facts["more"], settled, facts["report"], discussion))
    terms = {*extract_terms(_FENCE.sub(" ", text)), *extract_terms(" ".join([*files, *facts["commits"]]))}
    changed = [_shorten(path, session["project"]) for path in files] if len(files) <= _FEW_FILES else []
    return session["project"], terms, _list_anchors(session["project"], settled, changed)


def _join_settled(facts: dict[str, Any]) -> str:
    """Return what an episode settled, as one text."""
    lines = [item[name] for item in (*facts["decisions"], *facts["rejected"]) for name in ("text", "about")]
    lines += [item["text"] for item in facts["causes"]] + list(facts["open"])
    lines += [error[name] for error in facts["errors"] for name in ("line", "cause", "fix")]
    return "\n".join(filter(None, lines))


def _list_anchors(project: str, settled: str, changed: list[str]) -> list[Row]:
    """Return the files and symbols of a case: those named where something was settled, and the files changed."""
    files = dict.fromkeys(anchors.find_paths(settled), anchors.DECIDED)
    files |= {path: anchors.CHANGED for path in changed if path not in files}
    symbols = anchors.find_symbols(settled)[:_SYMBOLS]
    spans = _hash_spans(project, list(files), symbols) if symbols else {}
    return [
        *(
            _build_anchor("file", path, anchors.get_leaf(path), strength)
            for path, strength in list(files.items())[:_FILES]
        ),
        *(_build_anchor("symbol", name, name.lower(), anchors.DECIDED, spans.get(name)) for name in symbols),
    ]


def _build_anchor(kind: str, name: str, leaf: str, strength: int, span: str | None = None) -> Row:
    return {"kind": kind, "name": name, "leaf": leaf[:200], "strength": strength, "span": span}


def _hash_spans(project: str, files: list[str], symbols: list[str]) -> dict[str, str]:
    """Return a hash of the code of each symbol, as it is now in one of the files."""
    spans: dict[str, str] = {}
    for path in files[:_FEW_FILES]:
        code = read_file_below(project, path, _MOST_CODE)
        for symbol in symbols if code else []:
            span = anchors.hash_symbol(code or "", symbol) if symbol not in spans else None
            if span:
                spans[symbol] = span
    return spans


def _shorten(path: str, project: str) -> str:
    """Return a path relative to its project."""
    root = project.replace("\\", "/").rstrip("/") + "/"
    return path[len(root) :] if path.lower().startswith(root.lower()) else path
