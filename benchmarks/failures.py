"""Replay sessions in the order of time: is an agent told what mended a failure in an earlier session, and only that?

Each session meets a store that holds only the sessions that ended before it began. Every command is shown to the
chooser before it runs, every failed one after it failed. Every line that would be told is printed, with what ended the
failure in the session itself, to be read by a person.

python -m benchmarks.failures [TRANSCRIPTS ...] [--quiet]
"""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engram import Engram
from engram.capture.digests.event_bodies import EventBodies
from engram.evidence import error_lines, error_signature
from engram.evidence.actions import classify_call
from engram.platform import plain_json
from engram.search import known_failures
from engram.search.push_record import Push, record_push
from engram.store import events, session_errors
from engram.surfaces.hooks.tool_recall import list_programs

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
HISTORIES = (DATA / "histories", DATA / "transcripts" / "claude", DATA / "labelled" / "transcripts")
_LATE = 100_000  # days that bodies are kept: the sessions are old


@dataclass
class Replay:
    """What was met and told."""

    ran: int = 0
    failed: int = 0
    mended: int = 0  # failures with a message whose fix was verified in an earlier session
    same_program: int = 0  # those of the same program
    told: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)  # what was mended in an earlier session and not told
    warned: list[str] = field(default_factory=list)
    warned_in_vain: int = 0  # before a command that then worked
    seen: set[tuple[int | None, str]] = field(default_factory=set)  # a fork repeats the commands of its parent

    def render(self) -> str:
        """Return the counts as text."""
        return (
            f"{self.ran} commands ran, {self.failed} failed; {self.mended} with a message that was mended in an "
            f"earlier session, {self.same_program} of them of the same program\n"
            f"told after a failure: {len(self.told)}; warned before a command: {len(self.warned)}, "
            f"{self.warned_in_vain} of which then worked"
        )


@dataclass
class Session:
    """One session to replay."""

    path: Path
    capture: int
    row: dict[str, Any]
    began: int
    ended: int


def main() -> int:
    """Replay the given transcripts, or all that are here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcripts", nargs="*", type=Path, help="directories or files")
    parser.add_argument("--quiet", action="store_true", help="print only the counts")
    options = parser.parse_args()
    sources = options.transcripts or [source for source in HISTORIES if source.is_dir()]
    if not sources:
        print(f"No transcripts are at {DATA}.")
        return 1
    total = Replay()
    for source in sources:
        replay = replay_history(source)
        print(f"{source}: {replay.render()}\n")
        if not options.quiet:
            print("\n\n".join([*replay.told, *replay.warned, *replay.silent]), end="\n\n")
        total.told += replay.told
        total.warned += replay.warned
    print(f"told {len(total.told)}, warned {len(total.warned)}")
    return 0


def replay_history(source: Path) -> Replay:
    """Replay the sessions of a directory, oldest first."""
    replay = Replay()
    with tempfile.TemporaryDirectory() as folder:
        paths = _unpack(source, Path(folder) / "files")
        with (
            Engram(f"{folder}/all", raw_max_age_days=_LATE) as everything,
            Engram(f"{folder}/past", raw_max_age_days=_LATE) as past,
        ):
            sessions = sorted(_ingest_each(everything, paths), key=lambda session: session.began)
            waiting = sorted(sessions, key=lambda session: session.ended)
            for session in sessions:
                while waiting and waiting[0].ended < session.began:
                    past.ingest([str(waiting.pop(0).path)])
                _replay_session(everything, past, session, replay)
    return replay


def _unpack(source: Path, folder: Path) -> list[Path]:
    """Return transcripts as files of their own, unpacked."""
    found = [source] if source.is_file() else sorted(source.rglob("*.jsonl")) + sorted(source.rglob("*.jsonl.gz"))
    folder.mkdir()
    unpacked = []
    for number, path in enumerate(found):
        target = folder / str(number) / "projects" / path.parent.name / path.name.removesuffix(".gz")
        target.parent.mkdir(parents=True)
        target.write_bytes(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
        unpacked.append(target)
    return unpacked


def _ingest_each(engram: Engram, paths: list[Path]) -> list[Session]:
    """Ingest transcripts one by one, and return the sessions that each one added."""
    sessions: list[Session] = []
    known: set[int] = set()
    for path in paths:
        engram.ingest([str(path)])
        rows = engram.engine.run(
            "select c.num, c.started_at, c.last_at, s.* from captures c join sessions s on s.id = c.session_id"
        )
        sessions += [
            Session(path, row["num"], row, row["started_at"] or row["last_at"], row["last_at"])
            for row in rows
            if row["num"] not in known and row["last_at"]
        ]
        known |= {row["num"] for row in rows}
    return sessions


def _replay_session(everything: Engram, past: Engram, session: Session, replay: Replay) -> None:
    """Show each command and each failure of a session to the choosers."""
    project = session.row["project"] or ""
    caller = past.register("replay", "replay", native_id=f"replay-{session.capture}", cwd=project or None)
    asker = {"id": caller, "native_id": f"replay-{session.capture}", "project": project}
    bodies, calls, warned = EventBodies(everything), {}, {}
    for row in events.list_by_capture(everything.engine, session.capture):
        if row["kind"] not in ("call", "result"):
            continue
        event = bodies.load_event(row)
        if event.kind == "call":
            action = classify_call(event.name, event.arguments)
            if action.kind == "run" and (event.at, action.subject) not in replay.seen:
                replay.seen.add((event.at, action.subject))
                calls[event.call_id] = action.subject
                warned[event.call_id] = _warn(past, asker, action.subject, replay)
        elif event.call_id in calls:
            failed = event.verdict == "error" or bool(event.exit_code)
            replay.warned_in_vain += bool(warned[event.call_id]) and not failed
            if failed and event.verdict not in ("denied", "interrupted"):
                replay.failed += 1
                _tell(everything, past, session, asker, calls[event.call_id], event.text, replay)
    past.engine.run("delete from sessions where id = :id", id=caller)


def _warn(past: Engram, asker: dict[str, Any], command: str, replay: Replay) -> bool:
    replay.ran += 1
    programs = session_errors.list_known_programs(past.engine, asker["project"], list_programs(command))
    push = known_failures.choose_for_command(past, asker, programs, command) if programs else None
    if push is None or not push.text:
        return False
    _record(past, asker, "command", push)
    replay.warned.append(f"BEFORE {command[:200]!r}\n   {push.text}")
    return True


def _tell(
    everything: Engram, past: Engram, session: Session, asker: dict[str, Any], command: str, output: str, replay: Replay
) -> None:
    message = error_lines.find_error_line(output)
    signature = error_signature.make_signature(message) if message else ""
    known = session_errors.list_fixed(past.engine, asker["project"], signature, 100) if signature else []
    programs = set(list_programs(command))
    is_same_program = any(row["program"] in programs for row in known)
    replay.mended += bool(known)
    replay.same_program += is_same_program
    push = known_failures.choose_for_failure(past, asker, command, output)
    if not push.text:
        if known:
            replay.silent.append(
                f"SILENT {command[:160]!r}\n   message: {message}\n   known: {known[0]['line']} → {known[0]['fix']}"
            )
        return
    _record(past, asker, "failure", push)
    ended = [
        f"{row['fix']} ({'verified' if row['verified'] else 'not verified'})"
        for row in session_errors.list_by_capture(everything.engine, session.capture)
        if row["signature"] == signature
        and plain_json.loads(row["facts"])["command"][:60] == " ".join(command.split())[:60]
    ]
    replay.told.append(f"FAILED {command[:200]!r}\n   {push.text}\n   then: {ended or 'not seen'}")


def _record(past: Engram, asker: dict[str, Any], moment: str, push: Push) -> None:
    record_push(past, asker, moment, push, shown=True)


if __name__ == "__main__":
    sys.exit(main())
