"""The profile: lasting facts about the user, from their own statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from engram.errors import InvalidInput
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform import text
from engram.sessions import lifecycle
from engram.store import documents
from engram.summaries import versions
from engram.summaries.versions import EVERYTHING, GIST, GIVEN, PROFILE

if TYPE_CHECKING:
    from engram.summaries.document_work import DocumentWork
    from engram.summaries.months import Months
    from engram.summaries.profile_statements import Statement

_TOKENS = 900
_MODEL_TOKENS = 8_000  # tokens of statements in the model's prompt
_FACTS = 40


@operation()
def get_profile(hub: Hub, profile_id: Annotated[str, Help("profile id, if there are several")] = "self") -> str | None:
    """Show the lasting facts about the user."""
    row = versions.get_current(hub, PROFILE, text.validate_name("profile_id", profile_id))
    return str(row["content"]) if row else None


@operation(writes=True)
def set_profile(
    hub: Hub,
    content: Annotated[str, Help("the new text")],
    sessions_covered: Annotated[int | None, Help("number of sessions it covers; counted if omitted")] = None,
    profile_id: Annotated[str, Help("profile id, if there are several")] = "self",
    made_of: Annotated[list[str] | None, Help("source sessions; deleting one removes its content")] = None,
) -> str:  # fmt: skip
    """Replace the profile; every version is kept."""
    gist_versions = documents.list_version_numbers(hub.engine, GIST)
    sources = build_given_sources(hub, made_of) | {
        "sessions_covered": _check_session_count(sessions_covered, len(gist_versions))
    }
    name = text.validate_name("profile_id", profile_id)
    return str(
        versions.save_version(hub, PROFILE, name, versions.clean_content(hub, "content", content), sources, GIVEN)[
            "content"
        ]
    )


@operation()
def profile_sessions_covered(
    hub: Hub, profile_id: Annotated[str, Help("profile id, if there are several")] = "self"
) -> int:  # fmt: skip
    """Count the sessions the profile covers."""
    row = versions.get_current(hub, PROFILE, text.validate_name("profile_id", profile_id))
    return int(versions.load_sources(row["sources"]).get("sessions_covered") or 0) if row else 0


def build_given_sources(hub: Hub, made_of: list[str] | None) -> dict[str, object]:
    """Return the sources of a given text: the sessions named, or any."""
    gist_versions = documents.list_version_numbers(hub.engine, GIST)
    session_ids = (
        EVERYTHING if made_of is None else sorted(lifecycle.get_session(hub, session).id for session in made_of)
    )
    return {"sessions": session_ids, "trust": "assistant", "hash": versions.fingerprint(sorted(gist_versions.items()))}


def refresh_profile(work: DocumentWork, months: Months) -> str:
    """Rebuild the profile if a gist changed."""
    sources = months.build_sources(list(months.sessions)) | {"sessions_covered": len(months.sessions)}
    if not months.sessions:
        return work.clear_document(PROFILE, "self", versions.get_current(work.hub, PROFILE, "self"))
    return work.save_document(PROFILE, "self", sources, lambda: _write_profile(work, months, sources))


def _write_profile(work: DocumentWork, months: Months, sources: dict[str, object]) -> tuple[str, str]:
    """Return a profile and its maker; its sources are exactly the sessions it quotes."""
    from engram.summaries import extract
    from engram.summaries.habits import list_habits
    from engram.summaries.monthly_statements import list_standing_statements

    statements = list_standing_statements(work.hub, months, keep=not work.dry)
    best = _select_best(statements)
    quoted_sessions = sorted({session for item in best for session in item.sessions})
    sources |= {"sessions": quoted_sessions, "trust": months.build_sources(quoted_sessions)["trust"]}
    prompt_text = text.cut_to_tokens(
        "\n".join(f"{work.format_day(item.line.at)} {item.line.text}" for item in statements[::-1]), _MODEL_TOKENS
    )
    answer = work.model.ask("profile", prompt_text, "", ("facts",)) if statements and not work.model.off else None
    if answer is not None:
        sources["sessions"] = sorted({session for item in statements for session in item.sessions})
        return "\n".join(f"- {item}" for item in answer.data["facts"][:_FACTS]), answer.made_by
    habits = [f"- {habit}" for habit in list_habits(work.hub)]
    counted = "\n".join(["Counted over the last sessions:", *habits]) if habits else ""
    return "\n".join(part for part in (_render_statements(work, best), counted) if part), extract.RULES


def _select_best(statements: list[Statement]) -> list[Statement]:
    """Return the most informative statements, in the order they were last said."""
    ranked = sorted(enumerate(statements), key=lambda pair: -(pair[1].weight + 0.8 * pair[0] / max(1, len(statements))))
    selected, remaining = [], _TOKENS - 30
    for position, item in ranked:
        remaining -= text.count_tokens(item.line.text) + 14
        if remaining < 0:
            break
        selected.append((position, item))
    return [item for _, item in sorted(selected, key=lambda entry: entry[0])]


def _render_statements(work: DocumentWork, best: list[Statement]) -> str:
    """Render statements by subject, each with when and where it was last said."""
    blocks: dict[str, list[str]] = {}
    for statement in best:
        heading = "Preferences" if statement.line.kind == "wished" else "About the user"
        repeats = f", said {len(statement.evidence)} times" if len(statement.evidence) > 1 else ""
        references = ", ".join(f"#{exchange_id}" for exchange_id in statement.newest_evidence)
        blocks.setdefault(heading, []).append(
            f"- {statement.line.text} [{work.format_day(statement.line.at)}{repeats}] ({references})"
        )
    return "\n".join("\n".join([f"{heading}:", *lines]) for heading, lines in sorted(blocks.items()))


def _check_session_count(number: int | None, default: int) -> int:
    if number is None:
        return default
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 1_000_000_000:
        raise InvalidInput(field="sessions_covered", reason=f"{number!r} is not a number of sessions.")
    return number
