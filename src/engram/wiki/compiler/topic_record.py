"""The record of a topic: its latest evidence in full, older evidence as counts. Pure.

A record is a plain dict, saved beside the page. An entry counts once, however often it is added, and can be removed
when its log changes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.wiki.compiler.topics import Topic, TopicEvidence

MAX_FULL_ENTRIES = 40  # entries kept in full; older ones are counted by month
_MAX_PROJECT_RELATED = 60  # related pages of a project page
_MAX_RELATED = 12  # related pages of any other page

TopicRecord = dict[str, "Any"]


def create_record(topic: Topic) -> TopicRecord:
    """Create the record of a new topic."""
    return {**vars(topic), "evidence": [], "older": {}, "related": {}}


def add_evidence(record: TopicRecord, evidence: TopicEvidence) -> None:
    """Add what an entry says, replacing what it said before."""
    remove_evidence(record, evidence["entry"])
    all_evidence = [*record["evidence"], evidence]
    all_evidence.sort(key=lambda item: (item["day"], item.get("at", ""), item["entry"]), reverse=True)
    for item in all_evidence[MAX_FULL_ENTRIES:]:
        month = item["day"][:7]
        record["older"][month] = record["older"].get(month, 0) + 1
    record["evidence"] = all_evidence[:MAX_FULL_ENTRIES]
    days = [item["day"] for item in all_evidence]
    record["first"] = min(record.get("first", days[-1]), days[-1])
    record["last"] = max(days)


def remove_evidence(record: TopicRecord, entry: str) -> None:
    """Remove what an entry said."""
    record["evidence"] = [evidence for evidence in record["evidence"] if evidence["entry"] != entry]


def count_entries(record: TopicRecord) -> int:
    """Return the number of entries about a topic."""
    return len(record["evidence"]) + sum(int(months_count) for months_count in record["older"].values())


def count_days(record: TopicRecord) -> int:
    """Return the number of days with entries, as far as entries are kept in full."""
    return len({evidence["day"] for evidence in record["evidence"]})


def add_related(record: TopicRecord, target: str, title: str, kind: str, shared: int) -> None:
    """Add a related page; keep those that share the most entries."""
    related = record["related"]
    related[target] = {"title": title, "kind": kind, "shared": shared}
    limit = _MAX_PROJECT_RELATED if record["kind"] == "project" else _MAX_RELATED
    best = sorted(related, key=lambda target: (-related[target]["shared"], target))[:limit]
    record["related"] = {page: related[page] for page in best}
