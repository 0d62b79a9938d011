"""The profile: standing facts about the user, from what they said of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from engram import text
from engram.coordination import sessions
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.memory import versions
from engram.memory.versions import EVERYTHING, GIST, GIVEN, PROFILE
from engram.operation import Help, operation
from engram.store import documents

if TYPE_CHECKING:
    from engram.memory.integration import Integration
    from engram.memory.months import Months
    from engram.memory.statements import Statement

_TOKENS = 900
_TOLD = 8_000  # tokens of statements that a model is given
_FACTS = 40


@operation()
def get_profile(hub: Hub, profile_id: Annotated[str, Help("whose, if there are several")] = "self") -> str | None:
    """Show the standing facts about the user."""
    row = versions.current(hub, PROFILE, text.name("profile_id", profile_id))
    return str(row["content"]) if row else None


@operation(writes=True)
def set_profile(
    hub: Hub,
    content: Annotated[str, Help("the whole new profile")],
    sessions_covered: Annotated[int | None, Help("how many sessions it is made of; counted if left out")] = None,
    profile_id: Annotated[str, Help("whose, if there are several")] = "self",
    made_of: Annotated[list[str] | None, Help("sessions it is made of: deleting one takes out what it gave")] = None,
) -> str:  # fmt: skip
    """Replace the profile; every version is kept."""
    known = documents.numbers(hub.engine, GIST)
    facts = given(hub, made_of) | {"sessions_covered": _covered(sessions_covered, len(known))}
    name = text.name("profile_id", profile_id)
    return str(versions.put(hub, PROFILE, name, versions.fit(hub, "content", content), facts, GIVEN)["content"])


@operation()
def profile_sessions_covered(
    hub: Hub, profile_id: Annotated[str, Help("whose, if there are several")] = "self"
) -> int:  # fmt: skip
    """Count the sessions the profile is made of."""
    row = versions.current(hub, PROFILE, text.name("profile_id", profile_id))
    return int(versions.loaded(row["sources"]).get("sessions_covered") or 0) if row else 0


def given(hub: Hub, made_of: list[str] | None) -> dict[str, object]:
    """Return the sources of what somebody gives: the sessions they name, or any there is."""
    known = documents.numbers(hub.engine, GIST)
    named = EVERYTHING if made_of is None else sorted(sessions.get_session(hub, each).id for each in made_of)
    return {"sessions": named, "trust": "assistant", "hash": versions.fingerprint(sorted(known.items()))}


def make(work: Integration, months: Months) -> str:
    """Make the profile anew if a gist changed."""
    facts = months.made_of(list(months.sessions)) | {"sessions_covered": len(months.sessions)}
    if not months.sessions:
        return work.empty(PROFILE, "self", versions.current(work.hub, PROFILE, "self"))
    return work.put(PROFILE, "self", facts, lambda: _written(work, months, facts))


def _written(work: Integration, months: Months, facts: dict[str, object]) -> tuple[str, str]:
    """Return a profile and what made it; its sources are the sessions it quotes, no others."""
    from engram.memory import extract
    from engram.memory.standing import standing

    found = standing(work.hub, months, keep=not work.dry)
    best = _best(found)
    quoted = sorted({session for each in best for session in each.sessions})
    facts |= {"sessions": quoted, "trust": months.made_of(quoted)["trust"]}
    told = text.cut("\n".join(f"{work.day(each.line.at)} {each.line.text}" for each in found[::-1]), _TOLD)
    thought = work.thinker.ask("profile", told, "", ("facts",)) if found and not work.thinker.off else None
    if thought is not None:
        facts["sessions"] = sorted({session for each in found for session in each.sessions})
        return "\n".join(f"- {each}" for each in thought.data["facts"][:_FACTS]), thought.made_by
    return _quoted(work, best), extract.RULES


def _best(found: list[Statement]) -> list[Statement]:
    """Return the statements that tell most of a person, in the order they were last said."""
    ranked = sorted(enumerate(found), key=lambda each: -(each[1].weight + 0.8 * each[0] / max(1, len(found))))
    kept, room = [], _TOKENS - 30
    for place, each in ranked:
        room -= text.tokens(each.line.text) + 14
        if room < 0:
            break
        kept.append((place, each))
    return [each for _, each in sorted(kept, key=lambda each: each[0])]


def _quoted(work: Integration, best: list[Statement]) -> str:
    """Return statements as text, under what they are about, each with when and where it was last said."""
    blocks: dict[str, list[str]] = {}
    for each in best:
        about = "How they want things done" if each.line.kind == "wished" else "About the user"
        often = f", said {len(each.evidence)} times" if len(each.evidence) > 1 else ""
        places = ", ".join(f"#{place}" for place in each.places)
        blocks.setdefault(about, []).append(f"- {each.line.text} [{work.day(each.line.at)}{often}] ({places})")
    return "\n".join("\n".join([f"{about}:", *lines]) for about, lines in sorted(blocks.items()))


def _covered(number: int | None, counted: int) -> int:
    if number is None:
        return counted
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 1_000_000_000:
        raise InvalidInput(field="sessions_covered", reason=f"{number!r} is not a number of sessions.")
    return number
