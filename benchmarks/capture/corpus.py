"""The transcripts for the benchmark: real ones, and copies of them with new ids."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from benchmarks.capture.running import DATA

_IDS = re.compile(
    rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # sessions, records, threads, turns
    rb"|\b(?:msg|req|toolu|call|fc|rs|ctc)_[A-Za-z0-9_]{12,}"  # messages, requests, calls
    rb'|(?:(?<=agent-)|(?<="agentId":"))[0-9a-f]{7,17}\b'
    rb'|(?<=T\d\d:\d\d:\d\d\.)\d{3}(?=Z")'  # milliseconds: some peers identify an answer by its time
)
_SESSION = re.compile(rb'"sessionId": ?"([\w.-]{1,80})"')
_THREAD = re.compile(rb'"id": ?"([0-9a-f-]{36})"')
_STAMP = re.compile(rb'"timestamp": ?"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)')


def renewed(content: bytes, copy: str) -> bytes:
    """Replace the ids in a transcript or its name; an id gets the same replacement everywhere in a copy."""
    return _IDS.sub(lambda match: _fresh(match[0], copy), content)


@lru_cache(maxsize=200_000)
def _fresh(old: bytes, copy: str) -> bytes:
    if len(old) == 3:
        return b"%03d" % ((int(old) + 7 * int(copy)) % 1000)
    prefix = 24 if old.count(b"-") == 4 else old.find(b"_") + 1  # the id of a thread starts with its time
    return old[:prefix] + blake2b(old + copy.encode(), digest_size=32).hexdigest().encode()[: len(old) - prefix]


@dataclass(frozen=True)
class Piece:
    """One real session: its files by their path in the home directory; `{copy}` stands for the number of the copy."""

    session: str
    files: dict[str, Path]

    @property
    def size(self) -> int:
        """The size in bytes."""
        return sum(path.stat().st_size for path in self.files.values())


def real(flavor: str) -> list[Path]:
    """Return the real transcripts of an agent that have one record per line."""
    listed = json.loads((DATA / "transcripts" / "manifest.json").read_text())["files"]
    whole = (row for row in listed if (row.get("unparsable_lines") or 0) * 2 < (row.get("lines") or 1))
    chosen = [DATA / "transcripts" / row["file"] for row in whole if (row["flavor"], row["kind"]) == (flavor, "real")]
    labelled = sorted((DATA / "labelled" / "transcripts").glob("*.jsonl")) if flavor == "claude" else []
    return [path for path in [*labelled, *chosen] if path.suffix == ".jsonl" and path.exists() and path.stat().st_size]


def claude_pieces() -> list[Piece]:
    """Return the longest version of every Claude session, with its subagents."""
    sessions: dict[str, dict[str, Path]] = {}
    for path in real("claude"):
        match = _SESSION.search(path.read_bytes())
        session = match[1].decode() if match else path.stem
        folder = f".claude/projects/-bench-{{copy}}-{_digest(session)[0]}"
        child = path.name.startswith("agent-")
        below = f"{session}/subagents/{path.name}" if path.parent.name == "subagents" else path.name
        _keep_longest(sessions.setdefault(session, {}), f"{folder}/{below if child else session + '.jsonl'}", path)
    return _mixed(sessions)


def codex_pieces() -> list[Piece]:
    """Return the longest version of every Codex thread."""
    threads: dict[str, dict[str, Path]] = {}
    for path in real("codex"):
        head = path.read_bytes()[:65536]
        thread, stamp = _THREAD.search(head), _STAMP.search(head)
        if thread and stamp:
            year, month, day, *clock = (part.decode() for part in stamp.groups())
            name = f"rollout-{year}-{month}-{day}T{'-'.join(clock)}-{thread[1].decode()}.jsonl"
            where = f".codex/sessions/{year}/{month}/{day}/{name}"
            _keep_longest(threads.setdefault(thread[1].decode(), {}), where, path)
    return _mixed(threads)


def _keep_longest(files: dict[str, Path], where: str, path: Path) -> None:
    if where not in files or files[where].stat().st_size < path.stat().st_size:
        files[where] = path


def _mixed(sessions: dict[str, dict[str, Path]]) -> list[Piece]:
    """Return the sessions in a fixed order that does not depend on their source."""
    return [Piece(session, sessions[session]) for session in sorted(sessions, key=_digest)]


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Corpus:
    """Transcripts in a home directory."""

    home: Path
    files: tuple[Path, ...]
    copies: int

    @property
    def size(self) -> int:
        """The size of all transcripts in bytes."""
        return sum(path.stat().st_size for path in self.files)


def build(pieces: list[Piece], home: Path, size: int = 0, count: int = 0) -> Corpus:
    """Write copies until there are at least `size` bytes and `count` files."""
    files: list[Path] = []
    written = number = 0
    while written < size or len(files) < count:
        copy, number = str(number), number + 1
        for piece in pieces:
            if written >= size and len(files) >= count:
                break
            for where, path in piece.files.items():
                content = ended(renewed(path.read_bytes(), copy))
                files.append(home / renewed(where.format(copy=copy).encode(), copy).decode())
                files[-1].parent.mkdir(parents=True, exist_ok=True)
                written += files[-1].write_bytes(content)
    return Corpus(home, tuple(files), number)


def ended(content: bytes) -> bytes:
    """Add the final newline if the last record is complete, because published transcripts may lack it."""
    try:
        json.loads(content.rpartition(b"\n")[2])
    except ValueError:
        return content
    return content + b"\n"


def linked(corpus: Corpus, home: Path) -> Path:
    """Create a home directory for a program, with hard links to the same transcripts."""
    for path in corpus.files:
        place = home / path.relative_to(corpus.home)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, place)
    return home


def one_long_session(pieces: list[Piece], path: Path, size: int) -> Path:
    """Join many sessions into one: all records get the same session id."""
    path.parent.mkdir(parents=True, exist_ok=True)
    identity = b'"sessionId":"00000000-0000-4000-8000-00000000000a"'
    mains = [next(iter(piece.files.values())) for piece in pieces]
    with path.open("wb") as file:
        copy = 0
        while file.tell() < size:
            for source in mains:
                content = ended(renewed(source.read_bytes(), str(copy)))
                file.write(_SESSION.sub(identity, content[: content.rfind(b"\n") + 1]))
            copy += 1
    return path
