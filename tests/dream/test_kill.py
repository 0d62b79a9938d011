"""After a dream is killed at any point, the next one repeats nothing and loses nothing."""

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
from datetime import timedelta
from pathlib import Path

import pytest

from engram import Engram
from engram.capture import spool
from engram.dream.steps import STEPS
from engram.store import dream_passes, leases
from engram.wiki.vault import vault
from tests.conftest import ManualClock, new_schema
from tests.dream.dying import BEGIN, END
from tests.patterns import plots
from tests.patterns.writers import START, Claude, Codex, Gemini
from tests.wiki import shop

ROOT = Path(__file__).parents[2]
LATER = START + timedelta(days=10)
AT = int((LATER + timedelta(days=1)).timestamp() * 1_000_000)
NEXT = AT + 11 * 60 * 1_000_000  # when all transcripts are scanned again, whatever the result of the last scan
WHEN = re.compile(r"20\d\d-\d\d-\d\dT[0-9:+.]*|\b\d{19}\b")  # times of writing; the long number is a file time
DRAFT = re.compile(r"\..+\.\d+-[0-9a-f]{6}")  # temporary file of a killed writer

# What a pass writes, without times and numbers that depend on when it ran.
TOLD = {
    "documents": "kind, key, version, content, made_by", "gisted": "session_id, version, project, trust, first_at",
    "exchanges": "session_id, role, content, at, origin, gist", "events": "key, kind, name, verdict, at",
    "digests": "outcome, confidence, facts", "blobs": "sha256, evicted_at is null as kept, lost",
    "entries": "session_id, day, at, first, last, content, made_by, written_at is null as lacking",
    "flushes": "session_id, through, tries", "news": "step, key", "passages": "kind, key, part, content",
    "patterns": "kind, state, title, signals, sessions, times", "fingerprints": "kind, fingerprint, changed",
    "signals": "session_id, kind, fingerprint, text, times", "undetected": "session_id, problem",
    "likenesses": "kind, key, exact", "rot": "what, kind, key, other", "usage": "model, input, output, cost",
    "unindexed": "kind, source", "segments": "sum(count) as docs",
    "sessions": "id, flavor, status, completion_summary",
}  # fmt: skip
CURRENT = """
select kind, key, content from documents d where kind in ('gist', 'era', 'profile', 'narrative', 'self')
   and content <> '' and version = (select max(version) from documents where kind = d.kind and key = d.key)
"""

Traces = list[tuple[str, str]]


class Dreamer:
    """A process that dreams in homes, and dies at a chosen write."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def order(self, verb: str, home: Path, store: str = "", fatal: int = 0, wall: int = AT) -> Traces:
        """Dream, tend or undo until a given write; without one, return all writes."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        words = [verb, str(home), store or str(home / "engram.db"), wall, fatal]
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        data = json.loads(self.process.stdout.readline())
        assert data["status"] == (signal.SIGKILL if fatal else 0)
        return [(step, how) for step, how in data["left"]]


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home directory with three agents."""
    return tmp_path_factory.mktemp("person")


@pytest.fixture(scope="module")
def dreamer(person: Path) -> Iterator[Dreamer]:
    foreign = ("ENGRAM_", "CLAUDE", "CODEX_", "XDG_")
    environ = {name: each for name, each in os.environ.items() if not name.startswith(foreign)}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.dream.dying"], cwd=ROOT, env={**environ, "HOME": str(person)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        yield Dreamer(process)


@contextmanager
def opened(home: Path, store: str = "") -> Iterator[Engram]:
    clock = ManualClock()
    clock.wall = NEXT
    with Engram(home=str(home), store=store or str(home / "engram.db"), clock=clock) as hub:
        yield hub


def filled(person: Path, home: Path, store: str = "") -> Path:
    """Fill a home: work of ten days ago that is in the wiki, and new work of yesterday."""
    home.mkdir()
    (home / "config.toml").write_text('embedder = "static"\n')
    shutil.rmtree(person)
    plots.failing_command(Claude(person, "first"), 0)
    for day, words in enumerate(shop.RULES):
        shop.work(person, f"shop{day}", 0, words)
    clock = ManualClock()
    clock.wall = int((START + timedelta(days=2)).timestamp() * 1_000_000)
    with Engram(home=str(home), store=store or str(home / "engram.db"), clock=clock) as hub:
        hub.ingest([str(person)])
        hub.flush()
        hub.compile()
    ended = Claude(person, "second", start=LATER)
    plots.failing_command(ended, 0)
    shop.work(person, "shop9", 10, "Weigh the flour. Sacks of flour must always be weighed twice before they leave.")
    plots.correction(Codex(person, "third", start=LATER + timedelta(hours=1)), 0)
    plots.tool_misuse(Gemini(person, "fourth", start=LATER + timedelta(hours=2)), 3)
    request = spool.CaptureRequest(flavor="claude", native_id=ended.session, path=str(ended.path), event="end")
    spool.add_request(str(home), request)
    return home


def all_of(hub: Engram) -> dict[str, list[str]]:
    """Return everything a pass may write, without times and with the same names in each home."""
    names = {row["id"]: row["native_id"] for row in hub.engine.run("select id, native_id from sessions")}
    for row in hub.engine.run("select id, session_id, first from entries"):
        names[row["id"]] = f"entry {row['first']} of {names[row['session_id']]}"
    known = re.compile("|".join(map(re.escape, names)))

    def told(words: str) -> str:
        return WHEN.sub("…", known.sub(lambda found: names[found[0]], words))

    found = {
        table: sorted(told(json.dumps(row, default=str)) for row in hub.engine.run(f"select {columns} from {table}"))
        for table, columns in TOLD.items()
    }
    place = Path(vault.open_vault(hub).root)
    files = [path for path in sorted(place.rglob("*")) if path.is_file() and path.suffix != ".lock"]
    # After a kill, the results of the killed pass are kept too, because they may have been read.
    own = {"undo", "history"}
    kept = [file for file in files if not DRAFT.fullmatch(file.name) and own.isdisjoint(file.relative_to(place).parts)]
    return found | {str(each.relative_to(place)): told(each.read_text()).splitlines() for each in kept}


def made_of_it(hub: Engram) -> dict[str, object]:
    """Return what an undo changes: documents, their search results, pages, log entries."""
    place = Path(vault.open_vault(hub).root)
    kinds = "('gist', 'era', 'profile', 'narrative', 'article')"
    rows = hub.engine.run(f"select kind, key, content from passages where kind in {kinds}")
    logs = sorted((place / "daily").glob("[0-9]*.md"))
    made = [row for row in hub.engine.run(CURRENT) if row["kind"] != "self"]  # only the reflection in it is undone
    return {
        "documents": sorted(map(str, made)), "found": sorted(map(str, rows)),
        "reflection": (hub.get_self_state() or {}).get("reflection"),
        "pages": {path.name: path.read_text() for path in sorted((place / "concepts").glob("[!.]*.md"))},
        "entries": [line for log in logs for line in log.read_text().splitlines() if "<!-- engram" in line],
    }  # fmt: skip


@pytest.fixture(scope="module")
def home(person: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which every step but the last has work."""
    return filled(person, tmp_path_factory.mktemp("filled") / "home")


@pytest.fixture(scope="module")
def done(home: Path, dreamer: Dreamer) -> tuple[Path, Traces]:
    """The same home after an uninterrupted pass, and its writes."""
    copy = home.parent / "done"
    shutil.copytree(home, copy)
    return copy, dreamer.order("dream", copy)


@pytest.fixture(scope="module")
def expected(done: tuple[Path, Traces], dreamer: Dreamer) -> dict[str, list[str]]:
    """The expected state after two uninterrupted passes."""
    copy = done[0].parent / "expected"
    shutil.copytree(done[0], copy)
    dreamer.order("dream", copy, wall=NEXT)
    with opened(copy) as hub:
        return all_of(hub)


def ends(left: Traces) -> list[int]:
    """Return the numbers of the first and last disk write, and of the last commit, in each step."""
    numbers = range(1, len(left) + 1)
    first = {left[number - 1]: number for number in reversed(numbers) if left[number - 1][1] != "commit"}
    return sorted({*first.values(), *({left[number - 1]: number for number in numbers}).values()})


def test_a_dreamer_killed_at_any_point_is_followed_by_one_that_ends_where_it_would_have(
    home: Path, done: tuple[Path, Traces], expected: dict[str, list[str]], dreamer: Dreamer, tmp_path: Path,
    thorough: bool,
) -> None:  # fmt: skip
    left = done[1]
    assert {step for step, _ in left} == {BEGIN, END, *(step.name for step in STEPS)} - {"evict"}
    for number in ends(left) if thorough else ends(left)[::4]:
        copy = tmp_path / f"h{number}"
        shutil.copytree(home, copy)
        dreamer.order("dream", copy, fatal=number)
        dreamer.order("dream", copy, wall=NEXT)
        with opened(copy) as hub:
            where = f"killed before trace {number}, {left[number - 1]}"
            assert all_of(hub) == expected, where
            assert hub.check().problems == (), where
            assert leases.get(hub.engine, "dream") is None, where
            died = [dream_pass for dream_pass in hub.dream_log()[1:] if number < len(left)]
            assert [each.ended_at for each in died] in ([], [None]), where
        shutil.rmtree(copy)


def test_what_a_dreamer_did_before_it_was_killed_can_be_undone_and_does_not_come_back(
    home: Path, done: tuple[Path, Traces], dreamer: Dreamer, tmp_path: Path
) -> None:  # fmt: skip
    left = done[1]
    with opened(home) as hub:
        before = made_of_it(hub)
    half = len(left) // 2  # where the writes of the wiki are half done
    last = {step: number for number, (step, _) in enumerate(left, 1)}
    for number in (last["flush"], last["gist"], half, last["compile"], last["reflect"], last[END]):
        copy = tmp_path / f"h{number}"
        shutil.copytree(home, copy)
        dreamer.order("dream", copy, fatal=number)
        with opened(copy) as hub:
            assert hub.undo_dream(1).kept == (), left[number - 1]
            assert made_of_it(hub) == before, left[number - 1]
            gone = {row["key"] for row in dream_passes.list_changes(hub.engine, 1) if row["kind"] == "entry"}
        dreamer.order("dream", copy, wall=NEXT)
        with opened(copy) as hub:
            assert not [line for line in str(made_of_it(hub)["entries"]) if any(each in line for each in gone)]
            assert hub.check().problems == ()
        shutil.rmtree(copy)


def test_undoing_that_is_killed_is_finished_by_undoing_again(
    home: Path, done: tuple[Path, Traces], dreamer: Dreamer, tmp_path: Path, thorough: bool
) -> None:  # fmt: skip
    with opened(home) as hub:
        before = made_of_it(hub)
    whole = tmp_path / "whole"
    shutil.copytree(done[0], whole)
    left = dreamer.order("undo", whole)
    for number in range(1, len(left), 1 if thorough else 4):
        copy = tmp_path / f"h{number}"
        shutil.copytree(done[0], copy)
        dreamer.order("undo", copy, fatal=number)
        with opened(copy) as hub:
            assert hub.undo_dream(1).kept == (), number
            assert made_of_it(hub) == before, number
        shutil.rmtree(copy)


def test_a_dreamer_killed_while_it_drops_bodies_is_followed_by_one_that_drops_the_rest(
    done: tuple[Path, Traces], dreamer: Dreamer, tmp_path: Path
) -> None:  # fmt: skip
    full = tmp_path / "full"
    shutil.copytree(done[0], full)
    (full / "config.toml").write_text('embedder = "static"\nraw_soft_cap_bytes = 1\n')
    whole = tmp_path / "whole"
    shutil.copytree(full, whole)
    left = dreamer.order("tend", whole)
    with opened(whole) as hub:
        wanted = all_of(hub)
    assert not list((whole / "blobs").rglob("*.zst"))
    numbers = [number for number, (step, _) in enumerate(left, 1) if step == "evict"]
    assert numbers
    for number in numbers:
        copy = tmp_path / f"h{number}"
        shutil.copytree(full, copy)
        dreamer.order("tend", copy, fatal=number)
        dreamer.order("tend", copy)
        with opened(copy) as hub:
            assert all_of(hub) == wanted, number
            assert hub.check().problems == (), number
        assert not list((copy / "blobs").rglob("*.zst"))
        shutil.rmtree(copy)


def test_a_dreamer_killed_over_a_shared_store_is_followed_as_well(
    person: Path, dreamer: Dreamer, postgres: str, tmp_path: Path
) -> None:  # fmt: skip
    states, traces = [], list[Traces]()
    for wanted in ("", "gist", "compile"):
        store = new_schema(postgres)
        place = filled(person, tmp_path / f"home{wanted}", store)
        fatal = max((n for n, (step, _) in enumerate(traces[0], 1) if step == wanted), default=0) if traces else 0
        traces.append(dreamer.order("dream", place, store, fatal))
        if fatal:
            dreamer.order("dream", place, store)
        with opened(place, store) as hub:
            states.append(all_of(hub))
            assert hub.check().problems == ()
    assert states[1] == states[0]
    assert states[2] == states[0]
