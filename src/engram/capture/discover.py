"""Find transcripts and detect which of them changed."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import PurePath
from stat import S_ISREG

from engram.agents.transcripts.adapter import HEAD_BYTES, Adapter, Mark, Place
from engram.agents.transcripts.formats.bounded_file import open_unpacked
from engram.agents.transcripts.registry import load_adapters, match_adapter
from engram.errors import Error
from engram.platform.value import value
from engram.platform.zstd import zstd
from engram.types import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

_LOOKED_AT = 5000  # items to read of a file whose format its content does not identify
_START = 4096  # bytes that show whether a file may be a transcript
_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?[\0\s]*(?:\{\s*"|\[\s*[\[{]|SQLite format 3\0)')
_ZSTD = b"\x28\xb5\x2f\xfd"
_DEPTH_SEARCHED = 32
_NOT_SEARCHED = (".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__")
_PROBE = 1024  # bytes at the start and end of the part already read, used to detect a replaced file


class UnreadableFile(Exception):
    """A file that no adapter can read; the message says why."""

    def __init__(self, reason: str, *, is_lasting: bool = True) -> None:
        super().__init__(reason)
        self.is_lasting = is_lasting  # until an adapter changes


class UnknownFormat(UnreadableFile):
    """A file whose content no adapter recognizes, outside the agents' directories."""


@value
class UnreadFile:
    """A file that could not be read."""

    path: str
    size: int  # bytes
    reason: str


@value
class TranscriptFile:
    """A transcript file with its current size and time."""

    path: str
    name: str  # path without the .zst extension
    flavor: str  # agent of the directory it is in; used only if the content does not identify it
    size: int
    changed_at: int
    inode: int
    expected: bool = True  # named by the user, or in an agent's transcript directory

    @property
    def display_path(self) -> str:
        """Return its path in a form any terminal and store can show."""
        return os.fsencode(self.path).decode("utf-8", "backslashreplace")

    def is_unchanged(self, cursor: Row) -> bool:
        """Return whether it is unchanged since it was last read."""
        last_seen = (cursor["size"], cursor["changed_at"], cursor["inode"])
        return last_seen == (self.size, self.changed_at, self.inode) and cursor["vanished_at"] is None


def get_machine(dialect: str) -> str:
    """Return the machine a cursor belongs to; "" for SQLite, which serves one machine."""
    return "" if dialect == "sqlite" else socket.gethostname()


def iter_places(projects: Iterable[str], flavor: str | None = None) -> Iterator[tuple[str, Place]]:
    """Yield the places where each agent keeps its transcripts."""
    for adapter in load_adapters().values():
        if flavor in (None, adapter.flavor):
            for place in adapter.places(os.environ, projects):
                yield adapter.flavor, place


def iter_transcripts(projects: Iterable[str], flavor: str | None = None) -> Iterator[TranscriptFile]:
    """Yield every file that may be a transcript, each once."""
    seen: set[str] = set()
    for name, place in iter_places(projects, flavor):
        for entry in _iter_files(place.root, place.endings, place.depth, place.left_out):
            plain = entry.removesuffix(".zst")
            if entry not in seen and (entry == plain or not os.path.exists(plain)):
                seen.add(entry)
                transcript = stat_transcript(entry, name)
                if transcript is not None:
                    yield transcript


def stat_transcript(path: str, flavor: str = "", *, expected: bool = True) -> TranscriptFile | None:
    """Return a file's current state, including the write-ahead log of a database."""
    try:
        stat = os.stat(path)
    except (OSError, ValueError):
        return None
    if not S_ISREG(stat.st_mode):
        return None  # reading a pipe would block forever
    size, changed = stat.st_size, stat.st_mtime_ns // 1000
    if path.endswith((".db", ".vscdb", ".sqlite")):
        try:
            log = os.stat(f"{path}-wal")
            size, changed = size + log.st_size, max(changed, log.st_mtime_ns // 1000)
        except OSError:
            pass
    inode = stat.st_ino if stat.st_ino < 1 << 63 else stat.st_ino >> 1
    name = path.removesuffix(".zst")
    if not name.isascii():
        name = os.fsencode(name).decode("utf-8", "backslashreplace")  # valid text for any store
    return TranscriptFile(
        path=path, name=name, flavor=flavor, size=size, changed_at=changed, inode=inode, expected=expected
    )  # fmt: skip


def _iter_files(root: str, endings: tuple[str, ...], depth: int, left_out: tuple[str, ...]) -> Iterator[str]:
    """Yield files below a directory, sorted by name; links to directories are not followed."""
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError:
        if root.endswith(endings) and os.path.isfile(root):
            yield root
        return
    for entry in entries:
        if left_out and _is_left_out(entry.name, left_out):
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth:
                yield from _iter_files(entry.path, endings, depth - 1, left_out)
        elif entry.name.endswith(endings):
            yield entry.path


def _is_left_out(name: str, left_out: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in left_out)


def list_files_below(directory: str, flavor: str | None = None) -> list[str]:
    """Return every file below a directory that may be a transcript, by its name."""
    known_places = [place for _, place in iter_places((), flavor)]
    endings = tuple({ending for place in known_places for ending in place.endings})
    left_out = tuple({pattern for place in known_places for pattern in place.left_out})
    return list(_iter_files(directory, endings, 12, left_out))


def list_candidates_below(directory: str) -> list[str]:
    """Return every file below a directory that may be a transcript, whatever its name."""
    known_places = [place for _, place in iter_places((directory,))]
    left_out = tuple({pattern for place in known_places for pattern in place.left_out}) + _NOT_SEARCHED
    endings = tuple({ending for place in known_places for ending in place.endings})
    files = dict.fromkeys(_iter_files(directory, ("",), _DEPTH_SEARCHED, left_out))
    plain = (path for path in files if not path.endswith(".zst") or path.removesuffix(".zst") not in files)
    return [path for path in plain if path.endswith(endings) or _may_be_transcript(path)]


def _may_be_transcript(path: str) -> bool:
    """Return whether a file starts like one: JSON, a database, or a chat history of Aider."""
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            start = file.read(_START) if S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return False
    is_chat_history = path.endswith(".md") and b"# aider chat started at " in start
    return bool(_BEGINNING.match(start)) or is_chat_history or start.startswith(_ZSTD)


def find_flavor(path: str, known_places: Iterable[tuple[str, Place]]) -> str:
    """Return the agent whose transcript directory contains a file, also through links, or ""."""
    real = os.path.realpath(path)
    fitting = ((flavor, place) for flavor, place in known_places if path.endswith(place.endings))
    return next((flavor for flavor, place in fitting if _is_inside(path, real, place)), "")


def _is_inside(path: str, real: str, place: Place) -> bool:
    for inner, root in ((path, place.root), (real, _real(place.root))):
        if PurePath(inner).is_relative_to(root):
            inside = PurePath(inner).relative_to(root).parts
            return len(inside) <= place.depth + 1 and not any(_is_left_out(part, place.left_out) for part in inside)
    return False


_real = lru_cache(maxsize=256)(os.path.realpath)


def find_adapter(transcript: TranscriptFile) -> Adapter | None:
    """Return the adapter for a file, by its content or else its location; None if it is still empty."""
    head = _read_head(transcript.path)
    if not head.strip(b"\0\r\n "):
        return None
    return match_adapter(transcript.path, head, transcript.flavor) or _find_adapter_by_place(transcript)


def _read_head(path: str) -> bytes:
    try:
        with open_unpacked(path) as file:
            return file.read(HEAD_BYTES)
    except (EOFError, ValueError, zstd.ZstdError) as problem:
        raise UnreadableFile(f"cannot be unpacked: {problem}") from problem


def _find_adapter_by_place(transcript: TranscriptFile) -> Adapter:
    """Return the adapter of the agent whose directory contains the file, if it can read anything in it."""
    adapter = load_adapters().get(transcript.flavor)
    if adapter is None:
        raise UnknownFormat("not a format of any supported agent")
    if not _has_known_events(adapter, transcript.path):
        raise UnreadableFile(f"in the transcript directory of {adapter.flavor}, but in an unknown format")
    return adapter


def _has_known_events(adapter: Adapter, path: str) -> bool:
    """Return whether an adapter reads more from a file than unknown or damaged records."""
    is_strange = False
    try:
        for item in islice(adapter.read(path, Mark()), _LOOKED_AT):
            if isinstance(item, Event):
                is_strange = True
                if item.kind not in ("opaque", "damage") and (item.text or item.name or item.arguments):
                    return True
    except Error as problem:  # a database that is locked or not readable
        raise UnreadableFile(str(problem), is_lasting=False) from problem
    return not is_strange


def find_resume_mark(transcript: TranscriptFile, cursor: Row | None) -> Mark:
    """Return where to resume reading: after the part already read, or at the start if the file was replaced."""
    import orjson

    if cursor is None or not cursor["place"]:
        state = orjson.loads(cursor["state"]) if cursor and cursor["state"] else None
        return Mark(offset=0, state=state)
    if hash_ends(transcript.path, cursor["place"]) != (cursor["head"], cursor["tail"]):
        return Mark()
    return Mark(offset=cursor["place"], state=orjson.loads(cursor["state"]) if cursor["state"] else None)


def hash_ends(path: str, offset: int) -> tuple[str, str]:
    """Return hashes of the first bytes of a file and of the bytes before an offset."""
    if not offset:
        return "", ""
    length = min(_PROBE, offset)
    try:
        with open_unpacked(path) as file:
            head = file.read(length)
            file.seek(offset - length)
            tail = file.read(length)
    except (OSError, EOFError, ValueError):
        return "?", "?"
    return blake2b(head, digest_size=8).hexdigest(), blake2b(tail, digest_size=8).hexdigest()
