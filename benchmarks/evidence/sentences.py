"""Sentences of issue discussions labelled as decision or open issue, each without its context."""

from __future__ import annotations

import csv
from pathlib import Path

from benchmarks.evidence.scores import Report
from engram.evidence import open_items, replies


def measure(data: Path) -> Report:
    """Measure the marks of rules and of questions alone."""
    report = Report("single sentences of issue discussions")
    with (data / "decisions" / "condec_dev.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        sentence = row["sentence"]
        _count(report, "decision", replies.is_rule(sentence), row["isDecision"] == "1", sentence)
        _count(report, "open issue", is_open(sentence), row["isIssue"] == "1", sentence)
    return report


def is_open(sentence: str) -> bool:
    """Return whether a sentence asks, or says that something is not done."""
    return replies.is_plain_question(sentence) or bool(open_items.find_open_items(sentence))


def _count(report: Report, name: str, found: bool, labelled: bool, sentence: str) -> None:
    if labelled:
        report[f"{name}: recall"].add(found, sentence[:120])
    if found:
        report[f"{name}: precision"].add(labelled, sentence[:120])
