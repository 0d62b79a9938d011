"""Chats in which a policy was decided, and others in which nothing was: are the decisions extracted, and only those?"""

from __future__ import annotations

import json
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

from benchmarks.evidence.scores import Report
from engram import Engram
from engram.evidence.decision_text import render_decisions

BUDGET = 300  # tokens of four characters
_STOP = frozenset(
    "a an the of to in is are be and or for on at by with not no it its as that this from only exactly then than when"
    " if but was were has have per into must never always rule post amendment".split()
)


def measure(data: Path) -> Report:
    """Measure how much of each policy the decisions of its chat hold, and how many other chats have decisions."""
    report = Report("chats with a decision, and without")
    content = json.loads((data / "answers" / "decisions_dev.json").read_text())
    shares, tokens = [], []
    with tempfile.TemporaryDirectory() as folder, Engram(f"{folder}/engram", raw_max_age_days=100_000) as engram:
        clock = datetime(2026, 9, 1, 9, tzinfo=timezone.utc)
        for task in content["tasks"]:
            if "conversations" not in task:
                continue
            chats = task["conversations"] if isinstance(task["conversations"][0], list) else [task["conversations"]]
            texts = []
            for number, turns in enumerate(chats):
                clock += timedelta(hours=7)
                path = write_transcript(Path(folder), f"{task['task_id']}-{number}", turns, clock)
                texts.append(_ingest(engram, path))
            policy, held = _words(task["policy"]), _words(texts[-1])
            shares.append(len(policy & held) / len(policy))
            tokens.append(len(texts[-1]) // 4)
            report["chats with at least 85 % of the policy's words"].add(
                shares[-1] >= 0.85,
                f"{task['task_id']} {shares[-1]:.0%} missing {sorted(policy - held)} in {texts[-1]!r}",
            )
            if len(chats) > 1:
                first = engram.list_decisions(session=str(_session_id(task["task_id"], 0)), everything=True)
                report["decisions amended later that are superseded"].add(
                    any(item.superseded_by for item in first),
                    f"{task['task_id']}: {[item.text[:80] for item in first]}",
                )
        for decoy in content["decoys"]:
            clock += timedelta(hours=7)
            text = _ingest(engram, write_transcript(Path(folder), f"decoy-{decoy['id']}", decoy["turns"], clock))
            report["chats without a decision in which none is seen"].add(not text, f"{decoy['id']}: {text!r}")
    report.summary.append(
        f"  policy words held: {sum(shares) / len(shares):.0%} on average, in {sum(tokens) / len(tokens):.0f} tokens"
        f" (at most {max(tokens)})"
    )
    return report


def _ingest(engram: Engram, path: Path) -> str:
    engram.ingest([str(path)])
    return render_decisions(engram.list_decisions(session=path.stem, everything=True), 4 * BUDGET)


def _session_id(name: str, number: int | None = None) -> Any:
    return uuid5(NAMESPACE_DNS, name if number is None else f"{name}-{number}")


def write_transcript(folder: Path, name: str, turns: list[dict[str, str]], start: datetime) -> Path:
    """Write a chat as a transcript of Claude Code."""
    session, parent, lines = str(_session_id(name)), None, []
    for number, turn in enumerate(turns):
        key = str(uuid5(NAMESPACE_DNS, f"{name}:{number}"))
        at = (start + timedelta(minutes=2 * number)).isoformat().replace("+00:00", "Z")
        message: dict[str, Any] = {"role": "user", "content": turn["text"]}
        if turn["role"] != "user":
            message = {
                "id": f"msg_{key[:8]}", "type": "message", "role": "assistant", "model": "claude-opus-4-6",
                "content": [{"type": "text", "text": turn["text"]}], "usage": {"input_tokens": 10, "output_tokens": 10},
            }  # fmt: skip
        record = {
            "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": str(folder),
            "sessionId": session, "version": "2.1.325", "gitBranch": "main", "type": turn["role"], "uuid": key,
            "timestamp": at, "message": message,
        }  # fmt: skip
        lines.append(json.dumps(record))
        parent = key
    path = folder / f"{session}.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def _words(text: str) -> set[str]:
    plain = "".join(character if character.isalnum() and character.isascii() else " " for character in text.lower())
    return {word for word in plain.split() if word not in _STOP and len(word) > 1}
