"""The narrative: where things stand now, from the last months, the last sessions and what is open."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

from engram import text
from engram.hub import Hub
from engram.memory import profile, versions
from engram.memory.months import Months
from engram.memory.versions import ERA, GIVEN, NARRATIVE, PROFILE
from engram.operation import Help, operation
from engram.store import documents

if TYPE_CHECKING:
    from engram.memory.integration import Integration

_TOKENS = 700
_RECENT = 12  # sessions
_ERAS = 3
_OPEN = 8
_TOLD = 10_000  # tokens that a model is given


@operation()
def get_narrative(
    hub: Hub, narrative_id: Annotated[str, Help("which, if there are several")] = "current"
) -> str | None:  # fmt: skip
    """Show where things stand: the current arc, and what is open."""
    row = versions.current(hub, NARRATIVE, text.name("narrative_id", narrative_id))
    return str(row["content"]) if row else None


@operation(writes=True)
def set_narrative(
    hub: Hub,
    content: Annotated[str, Help("the whole new narrative")],
    narrative_id: Annotated[str, Help("which, if there are several")] = "current",
    made_of: Annotated[list[str] | None, Help("sessions it is made of: deleting one takes out what it gave")] = None,
) -> str:  # fmt: skip
    """Replace the narrative; every version is kept."""
    name = text.name("narrative_id", narrative_id)
    facts = profile.given(hub, made_of) | {"hash": sources(hub, Months(hub))["hash"]}
    return str(versions.put(hub, NARRATIVE, name, versions.fit(hub, "content", content), facts, GIVEN)["content"])


def make(work: Integration, months: Months) -> str:
    """Make the narrative anew if something it is made of changed."""
    if not months.sessions:
        return work.empty(NARRATIVE, "current", versions.current(work.hub, NARRATIVE, "current"))
    facts = sources(work.hub, months)
    return work.put(NARRATIVE, "current", facts, lambda: _written(work, months))


def _recent(months: Months) -> list[str]:
    """Return the sessions that went on last."""
    rows = sorted(months.sessions.values(), key=lambda row: (-(row["last_at"] or 0), row["session_id"]))
    return [row["session_id"] for row in rows[:_RECENT]]


def sources(hub: Hub, months: Months) -> dict[str, Any]:
    """Return what a narrative of now is made of."""
    recent, (eras, about) = _recent(months), _below(hub)
    facts = months.made_of(recent)
    facts["hash"] = versions.fingerprint((facts["hash"], eras, about))
    facts["sessions"] = sorted({*recent, *_behind(hub, eras, months)})
    return facts


def _below(hub: Hub) -> tuple[list[tuple[str, int]], int]:
    """Return which versions of the last eras and of the profile it is made of."""
    rows = [row for row in documents.currents(hub.engine, ERA) if row["content"]]
    eras = sorted((row["key"], row["version"]) for row in rows)[-_ERAS:]
    return eras, documents.numbers(hub.engine, PROFILE).get("self", 0)


def _behind(hub: Hub, eras: list[tuple[str, int]], months: Months) -> set[str]:
    """Return the sessions behind eras and profile, which reach the narrative through a model."""
    rows = [documents.get(hub.engine, ERA, month, version) for month, version in eras]
    rows.append(documents.current(hub.engine, PROFILE, "self"))
    named = [versions.loaded(row["sources"]).get("sessions", ()) for row in rows if row]
    return {each for some in named for each in some if each in months.sessions}


def _written(work: Integration, months: Months) -> tuple[str, str]:
    from engram.memory import extract

    recent, (eras, _) = _recent(months), _below(work.hub)
    thought = (
        None
        if work.thinker.off
        else work.thinker.ask("narrative", _told(work, recent, eras), "narrative", ("threads",))
    )
    if thought is not None:
        threads = [f"- {each}" for each in thought.data["threads"]]
        return "\n".join([thought.data["narrative"], *(["Open:", *threads] if threads else [])]), thought.made_by
    parts = (_trend(work, months), _sessions(work, recent), _open(work, recent))
    return text.cut("\n".join(part for part in parts if part), _TOKENS), extract.RULES


def _told(work: Integration, recent: list[str], eras: list[tuple[str, int]]) -> str:
    """Return what a model is given: profile, eras, and the last gists, oldest first."""
    about = versions.current(work.hub, PROFILE, "self")
    rows = [documents.get(work.hub.engine, ERA, month, version) for month, version in eras]
    parts = [f"Profile:\n{about['content']}"] if about else []
    parts += [f"{row['key']}:\n{row['content']}" for row in rows if row]
    parts += [f"{work.title(each)}:\n{work.months.gist(each)['content']}" for each in recent[::-1]]
    return "\n\n".join(text.cut(part, _TOLD // max(1, len(parts))) for part in parts)


def _trend(work: Integration, months: Months) -> str:
    """Return how much was done lately, and where."""
    told = []
    for month in sorted(months.began)[-_ERAS:]:
        counts = Counter(work.project(each) for each in months.began[month])
        named = ", ".join(f"{name} {count}" for name, count in counts.most_common(3) if name)
        told.append(f"{month}: {len(months.began[month])}{f' ({named})' if named else ''}")
    return f"Sessions by month: {'; '.join(told)}."


def _sessions(work: Integration, recent: list[str]) -> str:
    """Return what the last sessions were about, each in one quote."""
    from engram.memory.extract import shown

    found = []
    for each in recent:
        lines = work.lines(each)
        first = next((line for line in lines if line.kind == "asked"), lines[0] if lines else None)
        if first is not None:
            found.append(f"- {work.title(each)}: {shown(first).removeprefix('- ')}")
    return "\n".join(["Last sessions, newest first:", *found]) if found else ""


def _open(work: Integration, recent: list[str]) -> str:
    """Return what the last sessions left open."""
    from engram.memory.extract import shown

    found = [shown(line) for each in recent for line in work.lines(each) if line.kind == "open"]
    return "\n".join(["Open:", *found[:_OPEN]]) if found else ""
