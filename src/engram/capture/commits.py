"""Read the messages of a project's commits: the reasons they give are a memory before any session is."""

from __future__ import annotations

import os
import subprocess

import orjson

from engram.evidence import commit_messages
from engram.hub import Hub
from engram.platform.text import validate_text
from engram.redaction.redactor import Redactor
from engram.sessions.checkouts import get_machine, list_project_directories
from engram.sessions.projects import read_head
from engram.store import cases, commits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from engram.store.engine import Row

_MOST = 3_000  # commits read of a history that was never read
_SECONDS = 60
_BODY = 6_000  # characters of a message
_FILES = 40  # files kept of a commit; one that changes more is about none of them
_RECORD, _FIELD = "\x1e", "\x1f"
_FORMAT = f"--format={_RECORD}%H{_FIELD}%ct{_FIELD}%an{_FIELD}%s{_FIELD}%b{_FIELD}"
# What a repository's own configuration could make git run or fetch.
_SAFE = (
    "-c", "log.showSignature=false", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
    "-c", "log.mailmap=false", "-c", "core.quotePath=false", "--no-pager",
)  # fmt: skip
_ENVIRONMENT = {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


def read_all_commits(hub: Hub, redactor: Redactor) -> int:
    """Read the new commits of every checkout on this machine; return how many."""
    directories = list_project_directories(hub)
    return sum(read_commits(hub, directory, project, redactor) for directory, project in directories.items())


def read_commits(hub: Hub, directory: str, project: str, redactor: Redactor) -> int:
    """Read the new commits of one checkout; return how many. A directory without git has none."""
    host, head = get_machine(hub), read_head(directory)
    known = commits.find_head(hub.engine, host, directory)
    if not head or head == known:
        return 0
    rows = [_redact_row(row, redactor) for row in _list_commits(directory, known)]
    stored = commits.list_hashes(hub.engine, project)
    new = [row for row in rows if row["hash"] not in stored]
    with hub.engine.transaction():
        _save(hub, project, new)
        commits.save_head(hub.engine, host, directory, head, hub.now())
    return len(new)


def _save(hub: Hub, project: str, rows: list[Row]) -> None:
    """Save commits; those that give a reason become cases, those that were reverted are marked."""
    commits.save(hub.engine, [{**row, "project": project} for row in rows])
    reasoned = [row for row in rows if commit_messages.gives_reason(row["author"], row["subject"], row["body"])]
    cases.add_commits(hub.engine, [{"project": project, "hash": row["hash"], "at": row["at"]} for row in reasoned])
    for row in rows:
        for prefix in commit_messages.find_reverted(row["body"]):
            commits.mark_reverted(hub.engine, project, prefix, row["hash"])


def _list_commits(directory: str, known: str | None) -> Iterator[Row]:
    """Yield the commits since a known one, or the last ones if it is not in the history any more."""
    output = _run_git(directory, f"{known}..HEAD") if known else None
    for record in (output if output is not None else _run_git(directory, "HEAD") or "").split(_RECORD)[1:]:
        fields = record.split(_FIELD)
        if len(fields) == 6 and fields[1].isdigit():
            yield _build_row(*fields)


def _build_row(hash_: str, at: str, author: str, subject: str, body: str, files: str) -> Row:
    names = [line for line in files.splitlines() if line.strip()]
    return {
        "hash": hash_, "at": int(at) * 1_000_000, "author": validate_text("author", author)[:200],
        "subject": validate_text("subject", subject)[:400],
        "body": validate_text("body", body, _BODY * 4).strip()[:_BODY],
        "files": [validate_text("file", name)[:400] for name in names] if len(names) <= _FILES else [],
    }  # fmt: skip


def _redact_row(row: Row, redactor: Redactor) -> Row:
    files = orjson.dumps([redactor.redact(name) for name in row["files"]]).decode()
    return {**row, **{name: redactor.redact(row[name]) for name in ("author", "subject", "body")}, "files": files}


def _run_git(directory: str, revisions: str) -> str | None:
    """Return the log of a range, or None if git is missing or refuses."""
    command = ["git", *_SAFE, "log", "--no-merges", "--name-only", f"--max-count={_MOST}", _FORMAT, revisions, "--"]
    try:
        done = subprocess.run(
            command, cwd=directory, env={**os.environ, **_ENVIRONMENT}, capture_output=True, timeout=_SECONDS,
            check=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")
