"""Measure capture on real transcripts, side by side with the peers, so that ratios mean something.

The transcripts are replicated with fresh ids up to a size, so no program can know one copy by another. Every program
runs alone, in a home of its own, and is told by the CPU seconds of itself and its children: these hold on a busy
machine, wall time does not. Peers are installed on the spot and thrown away; one that cannot be had is named.

python benchmarks/capture.py [--short | --mb N] [--codex] [--large] [--alone | --peers FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
ENGRAM = str(Path(sys.executable).parent / "engram")
MB = 1_000_000
RESCANNED = 1_000
RESERVE = "engram/ballast"  # as large in a small store as in a large one
TOKENS = ("input", "output", "cache_read", "cache_write")
# The transcripts are older than what Engram keeps by default; a benchmark of storing must not drop them at once.
KEEP = {"ENGRAM_RAW_MAX_AGE_DAYS": "100000"}

# It starts a command and tells what it took. A child's peak begins at that of the process it was started from, so
# that process is this small one and not the benchmark.
LAUNCHER = """
import json, os, signal, subprocess, sys, time
command, env, cwd, limit = json.load(sys.stdin)
began = time.monotonic()
with open("out", "wb") as out, open("err", "wb") as err:
    child = subprocess.Popen(
        command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(child.pid, signal.SIGKILL))
    signal.alarm(limit)
    _, status, used = os.wait4(child.pid, 0)
took = time.monotonic() - began
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, took, used.ru_maxrss]))
"""

FLOOR = """
import json, sys
for path in open(sys.argv[1]).read().split("\\n"):
    with open(path, "rb") as file:
        for line in file:
            try:
                json.loads(line)
            except ValueError:
                pass
"""


# ---- The transcripts, and copies of them

_IDS = re.compile(
    rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # sessions, records, threads, turns
    rb"|\b(?:msg|req|toolu|call|fc|rs|ctc)_[A-Za-z0-9_]{12,}"  # messages, requests, calls
    rb'|(?:(?<=agent-)|(?<="agentId":"))[0-9a-f]{7,17}\b'
    rb'|(?<=T\d\d:\d\d:\d\d\.)\d{3}(?=Z")'  # milliseconds: some peers know an answer by its time
)
_SESSION = re.compile(rb'"sessionId": ?"([\w.-]{1,80})"')
_THREAD = re.compile(rb'"id": ?"([0-9a-f-]{36})"')
_STAMP = re.compile(rb'"timestamp": ?"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)')


def renewed(content: bytes, copy: str) -> bytes:
    """Give a transcript, or its name, the ids of a copy: the same everywhere within the copy."""
    return _IDS.sub(lambda found: _fresh(found[0], copy), content)


@lru_cache(maxsize=200_000)
def _fresh(old: bytes, copy: str) -> bytes:
    if len(old) == 3:
        return b"%03d" % ((int(old) + 7 * int(copy)) % 1000)
    kept = 24 if old.count(b"-") == 4 else old.find(b"_") + 1  # a thread's id begins with its time
    return old[:kept] + blake2b(old + copy.encode(), digest_size=32).hexdigest().encode()[: len(old) - kept]


@dataclass(frozen=True)
class Piece:
    """One real session: its files by where they lie in a home; `{copy}` stands for the number of the copy."""

    session: str
    files: dict[str, Path]

    @property
    def size(self) -> int:
        """Return its bytes."""
        return sum(path.stat().st_size for path in self.files.values())


def real(flavor: str) -> list[Path]:
    """Return the transcripts of real use there are of a flavor, one record to a line as their agent wrote them."""
    listed = json.loads((DATA / "transcripts" / "manifest.json").read_text())["files"]
    whole = (row for row in listed if (row.get("unparsable_lines") or 0) * 2 < (row.get("lines") or 1))
    chosen = [DATA / "transcripts" / row["file"] for row in whole if (row["flavor"], row["kind"]) == (flavor, "real")]
    labelled = sorted((DATA / "labelled" / "transcripts").glob("*.jsonl")) if flavor == "claude" else []
    return [path for path in [*labelled, *chosen] if path.suffix == ".jsonl" and path.exists() and path.stat().st_size]


def claude_pieces() -> list[Piece]:
    """Return every Claude session once, at its longest, with the subagents it sent."""
    sessions: dict[str, dict[str, Path]] = {}
    for path in real("claude"):
        found = _SESSION.search(path.read_bytes())
        session = found[1].decode() if found else path.stem
        folder = f".claude/projects/-bench-{{copy}}-{_digest(session)[0]}"
        child = path.name.startswith("agent-")
        below = f"{session}/subagents/{path.name}" if path.parent.name == "subagents" else path.name
        _keep_longest(sessions.setdefault(session, {}), f"{folder}/{below if child else session + '.jsonl'}", path)
    return _mixed(sessions)


def codex_pieces() -> list[Piece]:
    """Return every Codex thread once, at its longest."""
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
    """Return sessions in an order that is always the same and has nothing to do with where they come from."""
    return [Piece(session, sessions[session]) for session in sorted(sessions, key=_digest)]


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Corpus:
    """Transcripts laid out in a home."""

    home: Path
    files: tuple[Path, ...]
    copies: int

    @property
    def size(self) -> int:
        """Return the bytes of all transcripts."""
        return sum(path.stat().st_size for path in self.files)


def build(pieces: list[Piece], home: Path, size: int = 0, count: int = 0) -> Corpus:
    """Lay out copies until there are so many bytes and so many files."""
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
    """End the last line as agents do, if it is whole: who published a transcript may have trimmed it."""
    try:
        json.loads(content.rpartition(b"\n")[2])
    except ValueError:
        return content
    return content + b"\n"


def linked(corpus: Corpus, home: Path) -> Path:
    """Give a program its own home with the same transcripts."""
    for path in corpus.files:
        place = home / path.relative_to(corpus.home)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, place)
    return home


def one_long_session(pieces: list[Piece], path: Path, size: int) -> Path:
    """Write one session of many: all records carry one session's id."""
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


def one_long_line(flavor: Flavor, path: Path, size: int) -> Path:
    """Write a session in which one line holds so many bytes of real text."""
    files = (each for piece in flavor.pieces() for each in piece.files.values())
    text = b"".join(each.read_bytes() for each in files).decode(errors="replace")
    text *= size // len(text) + 1
    half = len(flavor.line(text[: size // 2]))  # quotes and newlines take two bytes each
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(map(flavor.line, ("before", text[: int(size * size / 2 / half)], "after"))))
    return path


# ---- Running


@dataclass(frozen=True)
class Run:
    """What a command took."""

    status: int
    cpu: float
    wall: float
    peak: float  # MB
    said: str
    why: str = ""  # it failed


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a program that shall know nothing but its home."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(home), "ENGRAM_HOME": str(home / "engram"), **KEEP}


def run(command: list[str], home: Path, env: Mapping[str, str] = {}, limit: int = 900) -> Run:
    """Run a command alone and tell what it took, with its children."""
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="engram-run-") as place:
        words = json.dumps([command, {**environment(home), **env}, str(home), limit])
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", LAUNCHER],
            input=words, text=True, capture_output=True, check=False, cwd=place,
        )  # fmt: skip
        if done.returncode:
            return Run(-1, 0, 0, 0, "", _last(done.stderr))
        status, cpu, wall, peak = json.loads(done.stdout)
        said = (Path(place) / "out").read_text(errors="replace")
        why = _last((Path(place) / "err").read_text(errors="replace") or said) if status else ""
    why = f"stopped after {limit} s" if status == -9 else f"exit status {status}: {why}" if status else ""
    return Run(status, cpu, wall, peak * (1 if sys.platform == "darwin" else 1024) / MB, said, why)


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["it said nothing"])[-1][:160]


def stored(home: Path) -> int:
    """Return the bytes a program has put into its home beside the transcripts; our fixed reserve is told apart."""
    files = (path for path in home.rglob("*") if path.suffix != ".jsonl" and path != home / RESERVE)
    return sum(path.stat().st_size for path in files if path.is_file())


# ---- The peers


@dataclass(frozen=True)
class Peer:
    """A program that reads the same transcripts."""

    name: str
    does: str
    words: str  # its arguments; `{home}` and `{flavor}` stand for what they are called
    install: Callable[[Path], str]  # returns the program
    env: dict[str, str] = field(default_factory=dict)
    flavors: tuple[str, ...] = ("claude", "codex")
    tokens: str = ""  # its arguments when asked for token totals

    def run(self, program: str, words: str, home: Path, flavor: Flavor) -> Run:
        """Let it do something in a home."""
        arguments = [word.format(home=home, flavor=flavor.name) for word in words.split()]
        return run([program, *arguments], home, {name: word.format(home=home) for name, word in self.env.items()})


def from_pypi(package: str, folder: Path) -> str:
    """Install a package into an environment of its own; return its program."""
    program = folder / package / "bin" / package
    if not program.exists():
        base = getattr(sys, "_base_executable", sys.executable)  # our environment need not have pip
        _do(base, "-m", "venv", "--without-pip", str(folder / package))
        _do(base, "-m", "pip", "--python", str(folder / package / "bin" / "python"), "install", "-q", package)
    return str(program)


def from_npm(package: str, versions: tuple[str, ...], folder: Path) -> str:
    """Install a package of npm, the first version that runs; return its program."""
    program = folder / package / "node_modules" / ".bin" / package
    if shutil.which("npm") is None:
        raise OSError("npm is not here")
    for version in versions:
        if not program.exists():
            _do("npm", "install", "--silent", "--prefix", str(folder / package), f"{package}@{version}")
        if subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0:
            return str(program)
        shutil.rmtree(folder / package)
    raise OSError(f"none of the versions {', '.join(versions)} runs here")


def _do(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    if done.returncode:
        raise OSError(f"{command[0]}: {_last(done.stderr or done.stdout)}")


PEERS = (
    Peer(
        name="agentsview",
        does="SQLite and search",
        words="sync",
        install=partial(from_pypi, "agentsview"),
        env={
            "AGENTSVIEW_DATA_DIR": "{home}/agentsview", "AGENTSVIEW_NO_DAEMON": "1",
            "AGENTSVIEW_TELEMETRY_ENABLED": "false", "AGENTSVIEW_DISABLE_UPDATE_CHECK": "1",
        },
        tokens="usage daily --json --all --offline --no-sync",
    ),
    Peer(
        name="ccusage",
        does="cost only",
        words="{flavor} daily --json --offline",
        install=partial(from_npm, "ccusage", ("latest", "20.0.24", "18.0.11")),
        tokens="{flavor} daily --json --offline",
    ),
    Peer(
        name="claude-code-log",
        does="HTML and a cache",
        words="--all-projects --projects-dir {home}/.claude/projects -o {home}/html",
        install=partial(from_pypi, "claude-code-log"),
        flavors=("claude",),
    ),
)  # fmt: skip


def installed(folder: Path) -> dict[str, str | OSError]:
    """Return each peer's program, or why there is none."""

    def tried(peer: Peer) -> str | OSError:
        try:
            return peer.install(folder)
        except (OSError, subprocess.SubprocessError) as problem:
            return OSError(f"could not be installed: {problem}")

    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(len(PEERS)) as pool:
        return dict(zip((peer.name for peer in PEERS), pool.map(tried, PEERS), strict=True))


# ---- Flavors


@dataclass(frozen=True)
class Flavor:
    """What the benchmark must know of an agent's transcripts."""

    name: str
    pieces: Callable[[], list[Piece]]
    truth: Callable[[Corpus], dict[str, int]]
    line: Callable[..., str]  # what a user says, and in which session


def claude_line(text: str, session: str = "00000000-0000-4000-8000-00000000000b") -> str:
    """Return a line in which a user says something."""
    record = {
        "type": "user", "sessionId": session, "uuid": _uuid(text), "parentUuid": None, "cwd": "/bench",
        "timestamp": "2026-06-01T10:00:00.000Z", "message": {"role": "user", "content": text},
    }  # fmt: skip
    return json.dumps(record) + "\n"


def codex_line(text: str, _session: str = "") -> str:
    """Return a line in which a user says something; whose rollout it is, its first line says."""
    content = [{"type": "input_text", "text": text}]
    payload = {"type": "message", "role": "user", "content": content}
    return json.dumps({"timestamp": "2026-06-01T10:00:00.000Z", "type": "response_item", "payload": payload}) + "\n"


def _uuid(text: str) -> str:
    digest = blake2b(text.encode(), digest_size=16).hexdigest()
    return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:]))


def records(corpus: Corpus) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield every record that can be read."""
    for path in corpus.files:
        with path.open("rb") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                if isinstance(record, dict):
                    yield path, record


def claude_truth(corpus: Corpus) -> dict[str, int]:
    """Count tokens by the rule: one answer by message and request, its largest output, subagents too."""
    answers: dict[tuple[str, str], dict[str, Any]] = {}
    for _, record in records(corpus):
        told = _inner(record)
        message = told.get("message")
        if not isinstance(message, dict) or not message.get("id") or message.get("model") == "<synthetic>":
            continue
        usage, key = message.get("usage"), (message["id"], told.get("requestId") or "")
        if isinstance(usage, dict) and usage.get("output_tokens", 0) > answers.get(key, {}).get("output_tokens", -1):
            answers[key] = usage
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    sums = (sum(usage.get(name) or 0 for usage in answers.values()) for name in names)
    return dict(zip(TOKENS, sums, strict=True))


def _inner(record: dict[str, Any]) -> dict[str, Any]:
    """Return the subagent's record that a parent's progress repeats, or the record itself."""
    data = record.get("data")
    if record.get("type") != "progress" or not isinstance(data, dict) or data.get("type") != "agent_progress":
        return record
    inner = data.get("message")
    return inner if isinstance(inner, dict) else {}


def codex_truth(corpus: Corpus) -> dict[str, int]:
    """Count tokens by the running totals of each rollout: the last of each run that only grows."""
    total = dict.fromkeys(TOKENS, 0)
    last: dict[Path, dict[str, Any]] = {}
    for path, record in records(corpus):
        payload = record.get("payload")
        info = payload.get("info") if isinstance(payload, dict) and payload.get("type") == "token_count" else None
        running = info.get("total_token_usage") if isinstance(info, dict) else None
        if not isinstance(running, dict):
            continue
        if running.get("total_tokens", 0) < last.get(path, {}).get("total_tokens", 0):
            _add_running(total, last[path])
        last[path] = running
    for running in last.values():
        _add_running(total, running)
    return total


def _add_running(total: dict[str, int], running: dict[str, Any]) -> None:
    cached = running.get("cached_input_tokens") or 0
    total["input"] += (running.get("input_tokens") or 0) - cached
    total["output"] += running.get("output_tokens") or 0
    total["cache_read"] += cached


CLAUDE = Flavor("claude", claude_pieces, claude_truth, claude_line)
CODEX = Flavor("codex", codex_pieces, codex_truth, codex_line)


# ---- Side by side


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    run: Run
    raw: int
    stored: int
    note: str = ""


HEADING = f"{'':34} {'CPU s':>8} {'MB/CPU s':>9} {'x ours':>7} {'peak MB':>8} {'stored':>8} {'of raw':>7} {'wall s':>7}"


def shown(row: Row, ours: Row) -> str:
    """Write one line of the table, with its ratio to ours."""
    if row.run.why:
        return f"  {row.name:32} {row.run.why}"
    numbers = (
        f"{row.run.cpu:8.2f} {row.raw / MB / max(row.run.cpu, 0.001):9.1f} {row.run.cpu / ours.run.cpu:6.2f}x"
        f" {row.run.peak:8.0f} {row.stored / MB:8.1f} {row.stored / row.raw:7.1%} {row.run.wall:7.1f}"
    )
    return f"  {row.name:32} {numbers}  {row.note}".rstrip()


def side_by_side(flavor: Flavor, corpus: Corpus, programs: dict[str, str | OSError], root: Path) -> Row:
    """Print what everybody takes for the same transcripts; return our own line."""
    distinct = sum(piece.size for piece in flavor.pieces())
    print(
        f"{flavor.name}: {len(corpus.files):,} transcripts, {corpus.size / MB:.1f} MB,"
        f" {corpus.copies} copies of {distinct / MB:.1f} MB of real use; {_busy()}"
    )
    print(HEADING)
    done = run([ENGRAM, "ingest", "--json"], corpus.home)
    ours = Row("engram ingest", done, corpus.size, stored(corpus.home), _of_ours(done))
    for row in (floor(corpus, root), ours):
        print(shown(row, ours))
    if corpus.copies > 1:
        print(shown(without_copies(flavor, root), ours), flush=True)
    for peer in PEERS:
        print(shown(of_peer(peer, flavor, corpus, programs, root), ours), flush=True)
    reserve = corpus.home / RESERVE
    aside = reserve.stat().st_size / MB if reserve.exists() else 0
    print(f"  Stored is without Engram's fixed reserve of {aside:.1f} MB.")
    return ours


def floor(corpus: Corpus, root: Path) -> Row:
    """Parse every line, and do nothing with it."""
    names = root / "names"
    names.write_text("\n".join(map(str, corpus.files)))
    done = run([sys.executable, "-c", FLOOR, str(names)], root / "floor")
    return Row("json.loads of every line", done, corpus.size, 0, "a floor")


def without_copies(flavor: Flavor, root: Path) -> Row:
    """Ingest every real session once: what no copy makes look smaller than it is."""
    alone = build(flavor.pieces(), root / "distinct", count=sum(len(each.files) for each in flavor.pieces()))
    done = run([ENGRAM, "ingest", "--json"], alone.home)
    return Row("engram ingest, one copy", done, alone.size, stored(alone.home), "its ratio is of less work")


def of_peer(peer: Peer, flavor: Flavor, corpus: Corpus, programs: dict[str, str | OSError], root: Path) -> Row:
    """Let a peer do the same, or say why it cannot."""
    program = programs[peer.name]
    if flavor.name not in peer.flavors:
        program = OSError(f"cannot read a folder of {flavor.name} transcripts")
    if isinstance(program, OSError):
        return Row(peer.name, Run(-1, 0, 0, 0, "", f"not run: {program}"), corpus.size, 0)
    home = linked(corpus, root / peer.name)
    done = peer.run(program, peer.words, home, flavor)
    heard = _last(done.said) if not done.said.startswith("{") else ""
    return Row(peer.name, done, corpus.size, stored(home), f"{peer.does}; {heard}" if heard else peer.does)


def _of_ours(done: Run) -> str:
    if done.why:
        return ""
    told = json.loads(done.said)
    failed = "".join(
        f", {count} {what}"
        for count, what in ((told["unknown"], "UNKNOWN"), (len(told["failures"]), "FAILED"))
        if count
    )
    return f"{told['sessions']:,} sessions, {told['events']:,} events, {told['damaged']:,} damaged bytes{failed}"


def _busy() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


# ---- Tokens


def tokens(flavor: Flavor, corpus: Corpus, programs: dict[str, str | OSError], root: Path) -> None:
    """Print token totals against the reference, ours and the peers'."""
    truth = flavor.truth(corpus)
    print(f"\ntokens{'':28} {' '.join(f'{name:>24}' for name in TOKENS)}")
    print(f"  {'reference':32} {' '.join(f'{truth[name]:>24,}' for name in TOKENS)}")
    for name, counted in (("engram", our_tokens(corpus.home)), *peer_tokens(flavor, programs, root)):
        if counted is None:
            print(f"  {name:32} none told")
            continue
        cells = (f"{counted[each]:,} {_off(counted[each], truth[each])}" for each in TOKENS)
        print(f"  {name:32} {' '.join(f'{cell:>24}' for cell in cells)}")


def _off(counted: int, truth: int) -> str:
    return f"{(counted - truth) / truth:+8.2%}" if truth else "        "


def our_tokens(home: Path) -> dict[str, int]:
    """Return what Engram counted."""
    from engram import Engram

    with Engram(str(home / "engram")) as engram:
        rows = engram.cost(by="flavor", days=100_000)
    total = {name: sum(getattr(row, name) for row in rows) for name in TOKENS}
    return total | {"cache_write": total["cache_write"] + sum(row.cache_write_long for row in rows)}


def peer_tokens(
    flavor: Flavor, programs: dict[str, str | OSError], root: Path
) -> Iterator[tuple[str, dict[str, int] | None]]:
    """Yield what the peers that count tokens make of them."""
    for peer in PEERS:
        program = programs[peer.name]
        if peer.tokens and isinstance(program, str):
            done = peer.run(program, peer.tokens, root / peer.name, flavor)
            yield peer.name, None if done.why else _told(done.said)


def _told(said: str) -> dict[str, int] | None:
    try:
        totals = json.loads(said)["totals"]
    except (ValueError, KeyError):
        return None
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens")
    counted = dict(zip(TOKENS, (totals.get(name) or 0 for name in names), strict=True))
    if "cachedInputTokens" in totals:  # of Codex, where cached tokens are among the input
        counted["cache_read"] = totals["cachedInputTokens"]
        counted["input"] -= counted["cache_read"]
    return counted


# ---- Again, a line more, and the very large


def beginning(piece: Piece, folder: Path, size: int = 30_000) -> Piece:
    """Return the first lines of a session's own transcript as a session."""
    where, path = next(iter(piece.files.items()))
    folder.mkdir(exist_ok=True)
    begun = folder / _digest(piece.session)
    begun.write_bytes(path.read_bytes()[:size].rpartition(b"\n")[0])
    return Piece(piece.session, {where: begun})


def rescan(flavor: Flavor, programs: dict[str, str | OSError], root: Path) -> None:
    """Print what it takes to find that nothing is new."""
    pieces = [each for each in (beginning(piece, root / "begun") for piece in flavor.pieces()) if each.size]
    corpus = build(pieces, root / "rescan", count=RESCANNED)
    print(f"\nnothing new among {len(corpus.files):,} transcripts ({corpus.size / MB:.1f} MB)")
    ours = [ENGRAM, "ingest", "--json"]
    first, second = run(ours, corpus.home), run(ours, corpus.home)
    print(f"  {'engram ingest':32} {_cost(second)}; the first time {first.cpu:.2f} CPU s")
    peer, program = PEERS[0], programs[PEERS[0].name]
    if isinstance(program, OSError):
        print(f"  {peer.name:32} not run: {program}")
        return
    home = linked(corpus, root / "rescan-peer")
    first, again = (peer.run(program, peer.words, home, flavor) for _ in range(2))
    ratio = f"{again.cpu / second.cpu:.2f}x ours" if second.cpu else ""
    print(f"  {peer.name:32} {_cost(again)} ({ratio}); the first time {first.cpu:.2f} CPU s")


def _cost(done: Run) -> str:
    return done.why or f"{done.cpu:.2f} CPU s, {done.wall:.2f} s, {done.peak:.0f} MB"


def one_line_more(flavor: Flavor, full: Corpus, root: Path) -> None:
    """Print what one line more costs until it is found, in a small store and in the full one."""
    source = sorted(full.files, key=lambda path: path.stat().st_size)[len(full.files) // 2]
    small = root / "small" / source.relative_to(full.home)
    small.parent.mkdir(parents=True)
    shutil.copy(source, small)
    print(f"\none line more in a session of {source.stat().st_size / MB:.2f} MB, until it is found")
    first = appended(flavor, small, root / "small" / "engram")
    last = appended(flavor, source, full.home / "engram")
    print(f"  {'in a store of that session alone':32} {_spread(first)}")
    ratio = statistics.median(last) / statistics.median(first)
    print(f"  {f'in the store of {full.size / MB:.0f} MB':32} {_spread(last)}, {ratio:.2f}x")


def appended(flavor: Flavor, path: Path, store: Path, times: int = 9) -> list[float]:
    """Append lines one at a time; return the CPU seconds until each is found."""
    from engram import Engram

    session = _SESSION.search(path.read_bytes())
    took = []
    with Engram(str(store), raw_max_age_days=100_000) as engram:
        engram.ingest([str(path)])
        for number in range(times + 1):
            word = f"quintessence{_digest(f'{store}{number}')}"
            with path.open("a") as file:
                file.write(flavor.line(f"please look at {word}", session[1].decode() if session else ""))
            began = time.process_time()
            engram.ingest([str(path)])
            found = engram.recall(word)
            took.append(time.process_time() - began)
            if not found:
                raise SystemExit(f"{word} was appended to {path} and is not found")
    return took[1:]  # the first time something is loaded


def _spread(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.1f} ms of CPU (fastest {min(seconds) * 1000:.1f})"


def very_large(flavor: Flavor, root: Path, large: bool) -> None:
    """Print the peak of memory over one long line and, if asked, over one long session."""
    print("\nmemory")
    line = one_long_line(flavor, root / "line" / "line.jsonl", 50 * MB)
    print(f"  {f'one line of {line.stat().st_size / MB:.0f} MB':32} {_ingested(line)}", flush=True)
    if large and flavor is CLAUDE:
        session = one_long_session(flavor.pieces(), root / "long" / "long.jsonl", 400 * MB)
        print(f"  {f'one session of {session.stat().st_size / MB:.0f} MB':32} {_ingested(session)}")


def _ingested(path: Path) -> str:
    done = run([ENGRAM, "ingest", "--json", str(path)], path.parent)
    kept = stored(path.parent) / path.stat().st_size
    note = _of_ours(done)
    return done.why or f"peak {done.peak:.0f} MB, {done.cpu:.1f} CPU s, stored {kept:.1%} of raw; {note}"


def measure(flavor: Flavor, size: int, programs: dict[str, str | OSError], large: bool) -> None:
    """Measure everything about one flavor in a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="engram-bench-") as name:
        root = Path(name)
        corpus = build(flavor.pieces(), root / "home", size=size)
        ours = side_by_side(flavor, corpus, programs, root)
        if ours.run.why:
            return
        tokens(flavor, corpus, programs, root)
        rescan(flavor, programs, root)
        one_line_more(flavor, corpus, root)
        very_large(flavor, root, large)


def main(words: list[str]) -> int:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description="Measure capture, side by side with the peers.")
    parser.add_argument("--mb", type=int, default=200, help="how many MB of transcripts")
    parser.add_argument("--short", action="store_true", help="20 MB")
    parser.add_argument("--codex", action="store_true", help="rollouts of Codex instead of Claude's transcripts")
    parser.add_argument("--large", action="store_true", help="also one session of 400 MB")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--peers", type=Path, help="keep the installed peers in this folder for the next time")
    given = parser.parse_args(words)
    if not (DATA / "transcripts" / "manifest.json").exists():
        print(f"There are no transcripts to measure with: {DATA} is missing.")
        return 0
    with tempfile.TemporaryDirectory(prefix="engram-peers-") as folder:
        nobody: dict[str, str | OSError] = {peer.name: OSError("--alone") for peer in PEERS}
        programs = nobody if given.alone else installed(given.peers or Path(folder))
        measure(CODEX if given.codex else CLAUDE, (20 if given.short else given.mb) * MB, programs, given.large)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
