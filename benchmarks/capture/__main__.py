"""Measure capture on real transcripts against comparable programs in the same run, so that ratios are meaningful.

The transcripts are copied with new ids up to a total size, so that no program recognizes a copy. Every program runs
alone in its own home directory. We compare CPU seconds, including child processes, because wall time is unreliable on a
busy machine. Peers are installed temporarily; one that cannot be installed is listed with the reason.

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
    """Format one line of the table, with its ratio to ours."""
    if row.run.why:
        return f"  {row.name:32} {row.run.why}"
    numbers = (
        f"{row.run.cpu:8.2f} {row.raw / MB / max(row.run.cpu, 0.001):9.1f} {row.run.cpu / ours.run.cpu:6.2f}x"
        f" {row.run.peak:8.0f} {row.stored / MB:8.1f} {row.stored / row.raw:7.1%} {row.run.wall:7.1f}"
    )
    return f"  {row.name:32} {numbers}  {row.note}".rstrip()


def side_by_side(flavor: Flavor, corpus: Corpus, programs: dict[str, str | OSError], root: Path) -> Row:
    """Print what every program takes for the same transcripts; return our own row."""
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
    print(f"  The stored size excludes Engram's fixed reserve file of {aside:.1f} MB.")
    return ours


def floor(corpus: Corpus, root: Path) -> Row:
    """Measure parsing every line and nothing else."""
    names = root / "names"
    names.write_text("\n".join(map(str, corpus.files)))
    done = run([sys.executable, "-c", FLOOR, str(names)], root / "floor")
    return Row("json.loads of every line", done, corpus.size, 0, "lower bound")


def without_copies(flavor: Flavor, root: Path) -> Row:
    """Ingest every real session once, because copies compress too well."""
    alone = build(flavor.pieces(), root / "distinct", count=sum(len(piece.files) for piece in flavor.pieces()))
    done = run([ENGRAM, "ingest", "--json"], alone.home)
    return Row("engram ingest, one copy", done, alone.size, stored(alone.home), "less work, so ignore its ratio")


def of_peer(peer: Peer, flavor: Flavor, corpus: Corpus, programs: dict[str, str | OSError], root: Path) -> Row:
    """Run a peer on the same transcripts, or return why it cannot run."""
    program = programs[peer.name]
    if flavor.name not in peer.flavors:
        program = OSError(f"cannot read a folder of {flavor.name} transcripts")
    if isinstance(program, OSError):
        return Row(peer.name, Run(-1, 0, 0, 0, "", f"not run: {program}"), corpus.size, 0)
    home = linked(corpus, root / peer.name)
    done = peer.run(program, peer.words, home, flavor)
    summary = last_line(done.output) if not done.output.startswith("{") else ""
    return Row(peer.name, done, corpus.size, stored(home), f"{peer.does}; {summary}" if summary else peer.does)


def _of_ours(done: Run) -> str:
    if done.why:
        return ""
    result = json.loads(done.output)
    failed = "".join(
        f", {count} {label}"
        for count, label in ((result["unknown"], "UNKNOWN"), (len(result["failures"]), "FAILED"))
        if count
    )
    return f"{result['sessions']:,} sessions, {result['events']:,} events, {result['damaged']:,} damaged bytes{failed}"


def _busy() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


# ---- Tokens


def tokens(flavor: Flavor, corpus: Corpus, programs: dict[str, str | OSError], root: Path) -> None:
    """Print the token totals of the reference, ours and the peers'."""
    truth = flavor.truth(corpus)
    print(f"\ntokens{'':28} {' '.join(f'{name:>24}' for name in TOKENS)}")
    print(f"  {'reference':32} {' '.join(f'{truth[name]:>24,}' for name in TOKENS)}")
    for name, counted in (("engram", our_tokens(corpus.home)), *peer_tokens(flavor, programs, root)):
        if counted is None:
            print(f"  {name:32} none reported")
            continue
        cells = (f"{counted[kind]:,} {_off(counted[kind], truth[kind])}" for kind in TOKENS)
        print(f"  {name:32} {' '.join(f'{cell:>24}' for cell in cells)}")


def _off(counted: int, truth: int) -> str:
    return f"{(counted - truth) / truth:+8.2%}" if truth else "        "


def our_tokens(home: Path) -> dict[str, int]:
    """Return the token totals of Engram."""
    from engram import Engram

    with Engram(str(home / "engram")) as engram:
        rows = engram.cost(by="flavor", days=100_000)
    total = {name: sum(getattr(row, name) for row in rows) for name in TOKENS}
    return total | {"cache_write": total["cache_write"] + sum(row.cache_write_long for row in rows)}


def peer_tokens(
    flavor: Flavor, programs: dict[str, str | OSError], root: Path
) -> Iterator[tuple[str, dict[str, int] | None]]:
    """Yield the token totals of the peers that count tokens."""
    for peer in PEERS:
        program = programs[peer.name]
        if peer.tokens and isinstance(program, str):
            done = peer.run(program, peer.tokens, root / peer.name, flavor)
            yield peer.name, None if done.why else _parse_totals(done.output)


def _parse_totals(output: str) -> dict[str, int] | None:
    try:
        totals = json.loads(output)["totals"]
    except (ValueError, KeyError):
        return None
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens")
    counted = dict(zip(TOKENS, (totals.get(name) or 0 for name in names), strict=True))
    if "cachedInputTokens" in totals:  # Codex, whose input includes cached tokens
        counted["cache_read"] = totals["cachedInputTokens"]
        counted["input"] -= counted["cache_read"]
    return counted


# ---- Rescan, one more line, and very large input


def beginning(piece: Piece, folder: Path, size: int = 30_000) -> Piece:
    """Return the first lines of a session's main transcript as a session."""
    where, path = next(iter(piece.files.items()))
    folder.mkdir(exist_ok=True)
    begun = folder / _digest(piece.session)
    begun.write_bytes(path.read_bytes()[:size].rpartition(b"\n")[0])
    return Piece(piece.session, {where: begun})


def rescan(flavor: Flavor, programs: dict[str, str | OSError], root: Path, size: int) -> None:
    """Print the cost of a run that finds nothing new."""
    pieces = [short for short in (beginning(piece, root / "begun") for piece in flavor.pieces()) if short.size]
    corpus = build(pieces, root / "rescan", count=min(RESCANNED, 50 * size // MB))
    print(f"\nnothing new among {len(corpus.files):,} transcripts ({corpus.size / MB:.1f} MB)")
    ours = [ENGRAM, "ingest", "--json"]
    first, second = run(ours, corpus.home), run(ours, corpus.home)
    print(f"  {'engram ingest':32} {_cost(second)}; first run {first.cpu:.2f} CPU s")
    peer, program = PEERS[0], programs[PEERS[0].name]
    if isinstance(program, OSError):
        print(f"  {peer.name:32} not run: {program}")
        return
    home = linked(corpus, root / "rescan-peer")
    first, again = (peer.run(program, peer.words, home, flavor) for _ in range(2))
    ratio = f"{again.cpu / second.cpu:.2f}x ours" if second.cpu else ""
    print(f"  {peer.name:32} {_cost(again)} ({ratio}); first run {first.cpu:.2f} CPU s")


def _cost(done: Run) -> str:
    return done.why or f"{done.cpu:.2f} CPU s, {done.wall:.2f} s, {done.peak:.0f} MB"


def one_line_more(flavor: Flavor, full: Corpus, root: Path) -> None:
    """Print the cost from appending a line to finding it, in a small store and in the full one."""
    source = sorted(full.files, key=lambda path: path.stat().st_size)[len(full.files) // 2]
    small = root / "small" / source.relative_to(full.home)
    small.parent.mkdir(parents=True)
    shutil.copy(source, small)
    print(f"\nappend one line to a session of {source.stat().st_size / MB:.2f} MB, until recall finds it")
    first = appended(flavor, small, root / "small" / "engram")
    last = appended(flavor, source, full.home / "engram")
    print(f"  {'in a store with only that session':32} {_spread(first)}")
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
            hits = engram.recall(word)
            took.append(time.process_time() - began)
            if not hits:
                raise SystemExit(f"{word} was appended to {path}, but recall does not find it.")
    return took[1:]  # the first run loads modules


def _spread(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.1f} ms of CPU (fastest {min(seconds) * 1000:.1f})"


def very_large(flavor: Flavor, root: Path, large: bool) -> None:
    """Print the peak memory for one long line and, with --large, for one long session."""
    print("\nmemory")
    line = one_long_line(flavor, root / "line" / "line.jsonl", 50 * MB)
    print(f"  {f'one line of {line.stat().st_size / MB:.0f} MB':32} {_ingested(line)}", flush=True)
    if large and flavor is CLAUDE:
        session = one_long_session(flavor.pieces(), root / "long" / "long.jsonl", 400 * MB)
        print(f"  {f'one session of {session.stat().st_size / MB:.0f} MB':32} {_ingested(session)}")


def _ingested(path: Path) -> str:
    done = run([ENGRAM, "ingest", "--json", str(path)], path.parent)
    share = stored(path.parent) / path.stat().st_size
    note = _of_ours(done)
    return done.why or f"peak {done.peak:.0f} MB, {done.cpu:.1f} CPU s, stored {share:.1%} of raw; {note}"


def measure(flavor: Flavor, size: int, programs: dict[str, str | OSError], large: bool) -> None:
    """Measure everything for one agent in a temporary directory."""
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
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Measure capture against comparable programs.")
    parser.add_argument("--mb", type=int, default=200, help="MB of transcripts (default 200)")
    parser.add_argument("--short", action="store_true", help="use 20 MB of transcripts")
    parser.add_argument("--codex", action="store_true", help="use Codex rollouts instead of Claude transcripts")
    parser.add_argument("--large", action="store_true", help="also measure one session of 400 MB")
    parser.add_argument("--alone", action="store_true", help="do not run the peers")
    parser.add_argument("--peers", type=Path, help="install the peers here and reuse them next time")
    options = parser.parse_args(words)
    if not (DATA / "transcripts" / "manifest.json").exists():
        print(f"No transcripts to measure with: {DATA} is missing.")
        return 0
    with tempfile.TemporaryDirectory(prefix="engram-peers-") as folder:
        none: dict[str, str | OSError] = {peer.name: OSError("--alone") for peer in PEERS}
        programs = none if options.alone else installed(options.peers or Path(folder))
        measure(CODEX if options.codex else CLAUDE, (20 if options.short else options.mb) * MB, programs, options.large)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
