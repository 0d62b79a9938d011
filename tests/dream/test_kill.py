"""A dreamer killed at any point is followed by the next, which repeats nothing and loses nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.capture import spool
from engram.dream.cycle import FORCED, dreamt
from engram.dream.steps import STEPS
from engram.store import leases
from engram.wiki import vault
from tests.conftest import ManualClock
from tests.dream.dying import BEGIN, END
from tests.patterns import plots
from tests.patterns.writers import START, Claude, Codex, Gemini

ROOT = Path(__file__).parents[2]
LATER = START + timedelta(days=10)
AT = int((LATER + timedelta(days=1)).timestamp() * 1_000_000)
NEXT = AT + 11 * 60 * 1_000_000  # when all transcripts are looked at again, whatever the one before came to
WHEN = re.compile(r"2026-11-12[T ][0-9:+.]*|\b\d{19}\b")  # of writing; the long one is that of a file
DRAFT = re.compile(r"\..+\.\d+-[0-9a-f]{6}")  # of a file whose writer died

# What a pass writes, without the times and numbers that tell when it did.
TOLD = {
    "documents": "kind, key, version, content, made_by", "gisted": "session_id, version, project, trust, first_at",
    "exchanges": "session_id, role, content, at, origin, gist", "events": "key, kind, name, verdict, at",
    "digests": "outcome, confidence, facts", "blobs": "sha256, evicted_at is null as kept, lost",
    "entries": "session_id, day, at, first, last, content, made_by, written_at is null as lacking",
    "flushes": "session_id, through, tries", "news": "step, key", "passages": "kind, key, part, content",
    "patterns": "kind, state, title, signals, sessions, times", "fingerprints": "kind, fingerprint, changed",
    "signals": "session_id, kind, fingerprint, text, times", "undetected": "session_id, problem",
    "likenesses": "kind, key, exact", "rot": "what, kind, key, other", "usage": "model, input, output, cost",
    "unindexed": "kind, source", "segments": "sum(count) as docs", "leases": "name",
    "sessions": "id, flavor, status, completion_summary",
}  # fmt: skip


class Dreamer:
    """A process that dreams over homes, and dies where it is told."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def order(self, home: Path, store: str, fatal: int = 0) -> list[tuple[str, str]]:
        """Let it dream until a trace; without one, return those a whole pass leaves."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([str(home), store, AT, fatal]) + "\n")
        self.process.stdin.flush()
        told = json.loads(self.process.stdout.readline())
        assert told["status"] == (signal.SIGKILL if fatal else 0)
        return [(step, how) for step, how in told["left"]]


@pytest.fixture(scope="module")
def dreamer(person: Path) -> Iterator[Dreamer]:
    command = [sys.executable, "-m", "tests.dream.dying"]
    environ = {**os.environ, "HOME": str(person)}
    with subprocess.Popen(
        command, cwd=ROOT, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:  # fmt: skip
        yield Dreamer(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody three agents worked for: once ten days ago, then again yesterday."""
    home = tmp_path_factory.mktemp("person")
    plots.failing_command(Claude(home, "first"), 0)
    return home


def worked(person: Path) -> Claude:
    """Let agents work once more; return the session that ended with a word."""
    ended = Claude(person, "second", start=LATER)
    plots.failing_command(ended, 0)
    plots.correction(Codex(person, "third", start=LATER + timedelta(hours=1)), 0)
    plots.tool_misuse(Gemini(person, "fourth", start=LATER + timedelta(hours=2)), 3)
    return ended


@contextmanager
def opened(home: Path, store: str, wall: int) -> Iterator[Engram]:
    clock = ManualClock()
    clock.wall = wall
    with Engram(home=str(home), store=store, clock=clock) as hub:
        yield hub


def filled(person: Path, home: Path, store: str) -> None:
    """Fill a home so that each step of a pass but the last has something to do."""
    home.mkdir()
    (home / "config.toml").write_text('embedder = "static"\n')
    before = int((START + timedelta(days=2)).timestamp() * 1_000_000)
    with opened(home, store, before) as hub:
        hub.ingest([str(person)])
        hub.flush()
        hub.compile()
    ended = worked(person)
    spool.ask(
        str(home), spool.Request(flavor="claude", native_id=ended.session, path=str(ended.path), event="end")
    )  # fmt: skip


def followed(home: Path, store: str) -> int:
    """Dream once more, after a death; return the number of the pass."""
    with opened(home, store, NEXT) as hub:
        return dreamt(hub, force=True, why=FORCED).id


def all_of(hub: Engram) -> dict[str, list[str]]:
    """Return all that a pass may write, without the times of writing and with names that are the same in each home."""
    names = {row["id"]: row["native_id"] for row in hub.engine.run("select id, native_id from sessions")}
    for row in hub.engine.run("select id, session_id, first from entries"):
        names[row["id"]] = f"entry {row['first']} of {names[row['session_id']]}"
    pattern = re.compile("|".join(map(re.escape, names)))

    def told(words: str) -> str:
        return WHEN.sub("…", pattern.sub(lambda found: names[found[0]], words))

    found = {
        table: sorted(told(json.dumps(row, default=str)) for row in hub.engine.run(f"select {columns} from {table}"))
        for table, columns in TOLD.items()
    }  # fmt: skip
    place = Path(vault.of(hub).root)
    files = [each for each in sorted(place.rglob("*")) if each.is_file() and each.suffix != ".lock"]
    kept = [each for each in files if not DRAFT.fullmatch(each.name) and "undo" not in each.relative_to(place).parts]
    return found | {str(each.relative_to(place)): told(each.read_text()).splitlines() for each in kept}
