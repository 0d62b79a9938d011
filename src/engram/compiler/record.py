"""The record of a topic: its evidence, the newest in full, what is older as counts. Pure.

A record is a plain dict, as it is kept beside the page. An entry counts once, however often it is taken in, and can be
taken out again when its log says something else.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.compiler.topics import Evidence, Topic

FULL = 40  # entries that are quoted; older ones are counted by month
_MEMBERS = 60  # pages a project page knows of
_RELATED = 12  # pages any other page knows of

Record = dict[str, "Any"]


def new(topic: Topic) -> Record:
    """Return the record of a topic nothing is known of yet."""
    return {**vars(topic), "evidence": [], "older": {}, "related": {}}


def add(record: Record, evidence: Evidence) -> None:
    """Take in what an entry says, in the place of what it said before."""
    drop(record, evidence["entry"])
    held = [*record["evidence"], evidence]
    held.sort(key=lambda each: (each["day"], each.get("at", ""), each["entry"]), reverse=True)
    for each in held[FULL:]:
        month = each["day"][:7]
        record["older"][month] = record["older"].get(month, 0) + 1
    record["evidence"] = held[:FULL]
    days = [each["day"] for each in held]
    record["first"] = min(record.get("first", days[-1]), days[-1])
    record["last"] = max(days)


def drop(record: Record, entry: str) -> None:
    """Take out what an entry said."""
    record["evidence"] = [each for each in record["evidence"] if each["entry"] != entry]


def count(record: Record) -> int:
    """Return how many entries are about a topic."""
    return len(record["evidence"]) + sum(int(each) for each in record["older"].values())


def days(record: Record) -> int:
    """Return on how many different days a topic came up, as far as entries are held in full."""
    return len({each["day"] for each in record["evidence"]})


def relate(record: Record, target: str, title: str, kind: str, shared: int) -> None:
    """Note that another page has to do with this one; those that share most stay."""
    known = record["related"]
    known[target] = {"title": title, "kind": kind, "shared": shared}
    most = _MEMBERS if record["kind"] == "project" else _RELATED
    best = sorted(known, key=lambda each: (-known[each]["shared"], each))[:most]
    record["related"] = {each: known[each] for each in best}
