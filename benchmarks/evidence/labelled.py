"""Forty public sessions labelled by reading: labels.jsonl holds one object for each."""

from __future__ import annotations

import gzip
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.evidence.scores import Report, match_files, says, share
from engram import Digest, Engram, Episode, Event
from engram.agents.transcripts.adapter import HEAD_BYTES, Mark
from engram.agents.transcripts.registry import match_adapter
from engram.evidence.actions import classify_call
from engram.evidence.purposes import TEST, find_run
from engram.evidence.run_output import judge_run
from engram.surfaces.cli.render import render

LABELS = Path(__file__).parent / "labels.jsonl"
VERDICTS = {True: "passed", False: "failed", None: "unknown"}


@dataclass(frozen=True)
class Session:
    """A labelled session as Engram understood it."""

    label: dict[str, Any]
    digest: Digest
    episodes: list[Episode]
    events: list[Event]
    numbers: dict[str, int]  # the label's number of an event, by the event's key

    @property
    def name(self) -> str:
        """A short name for messages."""
        path = str(self.label["file"])
        return path.split("/")[-3 if path.endswith("full.jsonl") else -1][:20]

    def count_from(self, ids: tuple[int, ...]) -> set[int]:
        """Return the label's numbers of events."""
        keys = {event.id: event.key for event in self.events}
        return {self.numbers[keys[i]] for i in ids if i in keys and keys[i] in self.numbers}


def measure(data: Path) -> Report:
    """Measure everything that the labels tell."""
    report = Report("sessions labelled by reading")
    labels = [json.loads(line) for line in LABELS.read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder, Engram(f"{folder}/engram", raw_max_age_days=100_000) as engram:
        sessions = [load(engram, data, label, Path(folder)) for label in labels]
    for session in filter(None, sessions):
        _score_request(session, report)
        _score_tests(session, report)
        _score_files(session, report)
        _score_decisions(session, report)
        _score_errors(session, report)
        _score_lists(session, report)
    decided = [episode for session in filter(None, sessions) for episode in session.episodes if episode.decisions]
    report.examples = [f"\n{render(episode)}" for episode in decided]
    return report


def load(engram: Engram, data: Path, label: dict[str, Any], folder: Path) -> Session | None:
    """Ingest the transcript of a label and return what was understood."""
    path = data / label["file"]
    if not path.exists():
        return None
    if path.suffix == ".gz":
        unpacked = folder / path.stem
        unpacked.write_bytes(gzip.decompress(path.read_bytes()))
        path = unpacked
    engram.ingest([str(path)])
    numbers, native_id = _number_events(path)
    found = [capture for capture in engram.list_sessions(limit=1000) if capture.session.native_id == native_id]
    if not found:
        return None
    session_id = found[0].session.id
    return Session(
        label=label, digest=engram.get_digest(session_id), episodes=engram.list_episodes(session_id),
        events=engram.get_events(session_id, limit=100_000), numbers=numbers,
    )  # fmt: skip


def _number_events(path: Path) -> tuple[dict[str, int], str]:
    """Return the number of each event as the labels count them, and the id of the session."""
    adapter = match_adapter(str(path), path.read_bytes()[:HEAD_BYTES])
    assert adapter is not None
    events = [item for item in adapter.read(str(path), Mark()) if isinstance(item, Event)]
    main = next(event.session for event in events if "/" not in event.session)
    return {event.key: number for number, event in enumerate(events, 1)}, main


def _score_request(session: Session, report: Report) -> None:
    goal = str(session.digest.facts.get("goal", ""))
    if session.label["goal"]:
        first = f"{goal} {session.episodes[0].title if session.episodes else ''}"
        report["goal is neither empty nor boilerplate"].add(
            share(session.label["goal"], first) >= 0.2, f"{session.name}: {goal!r} for {session.label['goal']!r}"
        )
    for episode in session.episodes:
        is_short = 3 <= len(episode.title) <= 80
        report["titles of at most 80 characters"].add(is_short, f"{session.name}: {episode.title!r}")


def _score_tests(session: Session, report: Report) -> None:
    """Compare the verdict of every test run, and of the last one."""
    verdicts = {}
    calls = {event.call_id: event for event in session.events if event.kind == "call"}
    for event in session.events:
        call = calls.get(event.call_id) if event.kind == "result" else None
        action = classify_call(call.name, call.arguments) if call else None
        purpose, run = find_run(action.subject) if action and action.kind == "run" else ("", None)
        if run and purpose == TEST and event.verdict not in ("denied", "interrupted"):
            failed = event.verdict == "error" or bool(event.exit_code)
            verdicts[session.numbers.get(event.key, 0)] = (
                VERDICTS[judge_run(event.text, run.status, event.exit_code, failed)], action.subject if action else "",
            )  # fmt: skip
    for run_label in session.label["tests"]:
        ours, command = verdicts.pop(run_label["at"], ("not seen as a test run", ""))
        report["test verdicts"].add(
            ours == run_label["verdict"],
            f"{session.name} {run_label['at']}: {ours}, not {run_label['verdict']}: {command[:150]}",
        )
    for at, (verdict, command) in verdicts.items():
        report["runs taken for tests are tests"].add(False, f"{session.name} {at}: {verdict}: {command[:150]}")
    report["runs taken for tests are tests"].right += len(session.label["tests"])
    report["runs taken for tests are tests"].total += len(session.label["tests"])
    tests = session.digest.facts.get("tests") or {}
    last = {True: "passed", False: "failed", None: "none"}.get(tests.get("last"), "unknown")
    labelled = session.label["last_tests"]
    report["last tests"].add(last == labelled, f"{session.name}: {last}, not {labelled}")


def _score_files(session: Session, report: Report) -> None:
    ours = [path for episode in session.episodes for path in episode.changed]
    found, right = match_files(session.label["changed"], list(dict.fromkeys(ours)))
    for is_found, path in zip(found, session.label["changed"], strict=True):
        report["files changed: recall"].add(is_found, f"{session.name}: {path}")
    for is_right, path in zip(right, dict.fromkeys(ours), strict=True):
        report["files changed: precision"].add(is_right, f"{session.name}: {path}")


def _score_decisions(session: Session, report: Report) -> None:
    """A decision of ours is right if it stands on a labelled message, or says what a label says."""
    ours = [decision for episode in session.episodes for decision in episode.decisions]
    rejected = [decision for episode in session.episodes for decision in episode.rejected]
    labels = session.label["decisions"]
    every = [*labels, *session.label["rejected"]]
    for label in labels:
        near = [item.text + " " + item.about for item in ours if label["at"] in session.count_from(item.events)]
        is_found = says(label["text"], [f"{item.text} {item.about}" for item in ours]) or says(label["text"], near, 0.2)
        report["decisions: recall"].add(is_found, f"{session.name} {label['at']} {label['kind']}: {label['text']}")
    for item in ours:
        numbers = session.count_from(item.events)
        is_right = any(label["at"] in numbers for label in every) or any(
            share(label["text"], item.text) >= 0.35 or share(item.text, label["text"]) >= 0.5 for label in every
        )
        report["decisions: precision"].add(is_right, f"{session.name} {sorted(numbers)} {item.kind}: {item.text[:200]}")
    for label in session.label["rejected"]:
        there = any(label["at"] in session.count_from(item.events) for item in rejected)
        report["rejected: recall"].add(there or says(label["text"], [item.text for item in rejected]),
                                       f"{session.name} {label['at']}: {label['text']}")  # fmt: skip


def _score_errors(session: Session, report: Report) -> None:
    ours = [error for episode in session.episodes for error in episode.errors]
    for label in session.label["errors"]:
        if not label["fix"]:
            continue
        same = [
            error
            for error in ours
            if label["at"] in session.count_from(error.events) or says(label["error"], [error.error], 0.5)
        ]
        report["errors found"].add(bool(same), f"{session.name} {label['at']}: {label['error']}")
        fixes = [f"{error.fix} {error.cause}" for error in same if error.fix]
        report["errors joined to their fix"].add(
            says(label["fix"], fixes, 0.25) or any(share(fix, label["fix"]) >= 0.25 for fix in fixes),
            f"{session.name} {label['at']}: {label['error'][:70]} → {label['fix']} | ours: {fixes}",
        )


def _score_lists(session: Session, report: Report) -> None:
    opened = [item for episode in session.episodes for item in episode.open]
    last = list(session.digest.facts.get("open") or ())
    for label in session.label["open"]:
        report["open items: recall"].add(says(label, [*opened, *last]), f"{session.name}: {label}")
    for item in last:
        is_right = any(share(label, item) >= 0.3 or share(item, label) >= 0.3 for label in session.label["open"])
        report["open items in the digest: precision"].add(is_right, f"{session.name}: {item}")
    facts = json.dumps(session.digest.facts, ensure_ascii=False)
    for label in session.label["friction"]:
        report["friction: recall in the digest"].add(share(label, facts) >= 0.35, f"{session.name}: {label}")
    causes = [cause for episode in session.episodes for cause in episode.causes]
    for label in session.label["causes"]:
        report["causes: recall"].add(says(label, causes), f"{session.name}: {label}")
    report["outcome"].add(
        (session.digest.outcome == "success") == (session.label["outcome"] == "success"),
        f"{session.name}: {session.digest.outcome}, not {session.label['outcome']}",
    )
