"""Write every payload into every field that people, agents and transcripts fill."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engram import Engram
from tests.patterns.writers import Claude
from tests.surfaces.dashboard.payloads import COUNT, payloads
from tools import season

ALL = payloads()
# What the main part of our pages never contains, whoever wrote the text.
NEVER = ("script", "iframe", "object", "embed", "style", "base", "img", "video", "audio", "math", "template", "marquee")


class Planted:
    """The ids of planted things, for pages that need an id."""

    def __init__(self) -> None:
        self.sessions: list[str] = []
        self.pages: list[str] = []


def plant(engram: Engram, person: Path) -> Planted:
    """Write every payload into every field that people, agents and transcripts fill."""
    _transcripts(person)
    engram.ingest([str(person)])
    _coordination(engram)
    result = Planted()
    result.sessions = [capture.session.id for capture in engram.list_sessions(limit=1000, subagents=True)]
    _memory(engram, result.sessions[0])
    engram.flush()
    engram.compile()
    engram.detect()
    result.pages = list(_pages(engram))
    return result


def _transcripts(person: Path) -> None:
    """Write two sessions with all payloads in each kind of event, and two hundred that start with one."""
    for number in range(2):
        long = Claude(person, f"long-{number}", season.HARBOUR)
        for each in ALL:
            long.says(each)
            long._assistant({"type": "thinking", "thinking": each, "signature": "x"})
            long.answers(each)
            long.call(each[:60] or "x", {each[:40]: each, "nested": [each]}, each)
            long.edits(each[:100], each, f"{each} changed")
            long.runs(each, each, 1)
        long.compacts()
    for number, each in enumerate(ALL):
        short = Claude(person, f"short-{number}", "/home/mara/x")
        short.project = f"/home/mara/{each}"  # not a valid directory name
        short.record("user", message={"role": "user", "content": each}, gitBranch=each)
        short.record("assistant", message={"id": f"m{number}", "role": "assistant", "model": each, "content": each})
        short.write({"type": "summary", "summary": each, "leafUuid": "x"})


def _coordination(engram: Engram) -> None:
    for number, each in enumerate(ALL):
        safe, named = each.replace("\0", ""), _name(each)
        who = engram.register(named, safe, flavor="claude", project=named, model=named, metadata={safe: safe})
        engram.log(who, safe)
        engram.send(who, who, safe)
        engram.lock_resource(who, f"name:{number} {named}", note=safe)
        if number % 2:
            engram.complete(who, safe)
    everything = "\n\n".join(each.replace("\0", "") for each in ALL)
    for first in range(0, len(everything), 4_000):
        engram.set_world_state(everything[first : first + 4_000], updated_by=_name(ALL[first % COUNT]))


def _name(payload: str) -> str:
    """Return a payload without characters that a name cannot contain."""
    return "".join(each for each in " ".join(payload.split()) if each.isprintable())[:100]


def _memory(engram: Engram, session: str) -> None:
    safe = [each.replace("\0", "") for each in ALL]
    everything = "\n\n".join(safe)
    engram.store_summary(session, everything)
    engram.store_era("2026-11", everything)
    engram.set_profile(everything)
    engram.set_narrative(everything)
    for each in safe:
        engram.remember("remembered", "user", each)
        engram.remember("remembered", "assistant", each)


def _pages(engram: Engram) -> Iterator[str]:
    for number, each in enumerate(ALL):
        target = f"concepts/hostile-{number}"
        said = each.replace("\0", "")
        engram.edit_page(target, f"---\ntitle: {said!r}\ntags:\n  - {said!r}\n---\n\n# {said}\n\n{said}\n", "")
        yield target
