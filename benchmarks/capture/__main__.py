"""Measure capture on real transcripts, side by side with the peers, so that ratios mean something.

The transcripts are replicated with fresh ids up to a size, so no program can know one copy by another. Every program
runs alone, in a home of its own, and is told by the CPU seconds of itself and its children: these hold on a busy
machine, wall time does not. Peers are installed on the spot and thrown away; one that cannot be had is named.

python -m benchmarks.capture [--short | --mb N] [--codex] [--large] [--alone | --peers FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.capture.corpus import (
    _SESSION,
    Corpus,
    Piece,
    _digest,
    build,
    linked,
    one_long_session,
)
from benchmarks.capture.flavors import CLAUDE, CODEX, Flavor, one_long_line
from benchmarks.capture.peers import PEERS, Peer, installed
from benchmarks.capture.running import DATA, ENGRAM, FLOOR, MB, RESCANNED, RESERVE, TOKENS, Run, last_line, run, stored


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
    heard = last_line(done.said) if not done.said.startswith("{") else ""
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


def rescan(flavor: Flavor, programs: dict[str, str | OSError], root: Path, size: int) -> None:
    """Print what it takes to find that nothing is new."""
    pieces = [each for each in (beginning(piece, root / "begun") for piece in flavor.pieces()) if each.size]
    corpus = build(pieces, root / "rescan", count=min(RESCANNED, 50 * size // MB))
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
        rescan(flavor, programs, root, size)
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
