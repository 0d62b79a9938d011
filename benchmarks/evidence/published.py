"""Sessions whose publishers wrote a summary of each: intent, files, friction, open items."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from benchmarks.evidence.scores import Report, match_files, says, share
from engram import Engram


def measure(data: Path) -> Report:
    """Measure digests and episodes against the published summaries."""
    report = Report("sessions with published summaries")
    folder = data / "labelled"
    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]
    for label in labels:
        with tempfile.TemporaryDirectory() as home, Engram(f"{home}/engram", raw_max_age_days=100_000) as engram:
            engram.ingest([str(folder / label["transcript"])])
            main = max(engram.list_sessions(limit=100), key=lambda capture: capture.events)
            digest, found = engram.get_digest(main.session.id), engram.list_episodes(main.session.id)
        name, reference = label["transcript"][-30:-11], label["reference_summary"]
        goal = str(digest.facts.get("goal", ""))
        report["goal is neither empty nor boilerplate"].add(len(goal) > 8 and not goal.lower().startswith(
            ("implement the following plan", "<", "base directory")), f"{name}: {goal!r}")  # fmt: skip
        report["intent in the goal and titles"].add(
            share(reference["intent"], " ".join([goal, *(episode.title for episode in found)])) >= 0.35,
            f"{name}: {goal[:150]!r} for {reference['intent'][:150]!r}",
        )
        changed = [path for path in digest.facts.get("changed", []) if not path.startswith("+")]
        files, right = match_files(label["files_touched"], changed)
        for is_found, path in zip(files, label["files_touched"], strict=True):
            report["files changed: recall"].add(is_found, f"{name}: {path}")
        for is_right, path in zip(right, changed, strict=True):
            report["files changed: precision"].add(is_right, f"{name}: {path}")
        facts = json.dumps(digest.facts, ensure_ascii=False)
        for line in reference["friction"]:
            report["friction: recall in the digest"].add(share(line, facts) >= 0.35, f"{name}: {line}")
        listed = list(digest.facts.get("open") or ())
        for line in reference["open_items"]:
            report["open items: recall"].add(
                says(line, [*listed, *(item for episode in found for item in episode.open)]), f"{name}: {line}"
            )
        for item in listed:
            is_right = any(share(line, item) >= 0.3 or share(item, line) >= 0.3 for line in reference["open_items"])
            report["open items in the digest: precision"].add(is_right, f"{name}: {item}")
        evidence = digest.facts.get("evidence")
        report["outcome: success"].add(digest.outcome == "success", f"{name}: {digest.outcome} {evidence}")
    return report
