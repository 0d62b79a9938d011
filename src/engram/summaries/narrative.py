"""The narrative: the current state of work, from the last months, the last sessions and open items."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

from engram.capture.digests.episodes import list_episodes
from engram.evidence.open_items import is_worth_listing
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform import text
from engram.store import documents
from engram.summaries import profile, versions
from engram.summaries.months import Months
from engram.summaries.session_summary import describe_result, drop_hash
from engram.summaries.versions import ERA, GIVEN, NARRATIVE, PROFILE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.evidence.records import Episode
    from engram.summaries.document_work import DocumentWork

_TOKENS = 700
_RECENT = 12  # sessions
_ERAS = 3
_OPEN = 8
_ITEM = 140  # characters
_MODEL_TOKENS = 10_000  # tokens of the model's prompt


@operation()
def get_narrative(
    hub: Hub, narrative_id: Annotated[str, Help("narrative id, if there are several")] = "current"
) -> str | None:  # fmt: skip
    """Show the current state of work and what is open."""
    row = versions.get_current(hub, NARRATIVE, text.validate_name("narrative_id", narrative_id))
    return str(row["content"]) if row else None


@operation(writes=True)
def set_narrative(
    hub: Hub,
    content: Annotated[str, Help("the new text")],
    narrative_id: Annotated[str, Help("narrative id, if there are several")] = "current",
    made_of: Annotated[list[str] | None, Help("source sessions; deleting one removes its content")] = None,
) -> str:  # fmt: skip
    """Replace the narrative; every version is kept."""
    name = text.validate_name("narrative_id", narrative_id)
    facts = profile.build_given_sources(hub, made_of) | {"hash": collect_sources(hub, Months(hub))["hash"]}
    return str(
        versions.save_version(hub, NARRATIVE, name, versions.clean_content(hub, "content", content), facts, GIVEN)[
            "content"
        ]
    )


def refresh_narrative(work: DocumentWork, months: Months) -> str:
    """Rebuild the narrative if one of its sources changed."""
    if not months.sessions:
        return work.clear_document(NARRATIVE, "current", versions.get_current(work.hub, NARRATIVE, "current"))
    narrative_sources = collect_sources(work.hub, months)
    return work.save_document(NARRATIVE, "current", narrative_sources, lambda: _write_narrative(work, months))


def _list_recent_sessions(months: Months) -> list[str]:
    """Return the sessions that were active last."""
    rows = sorted(months.sessions.values(), key=lambda row: (-(row["last_at"] or 0), row["session_id"]))
    return [row["session_id"] for row in rows[:_RECENT]]


def collect_sources(hub: Hub, months: Months) -> dict[str, Any]:
    """Return the sources of the current narrative."""
    recent, (eras, profile_version) = _list_recent_sessions(months), _find_tier_versions(hub)
    collected = months.build_sources(recent)
    collected["hash"] = versions.fingerprint((collected["hash"], eras, profile_version))
    collected["sessions"] = sorted({*recent, *_find_source_sessions(hub, eras, months)})
    return collected


def _find_tier_versions(hub: Hub) -> tuple[list[tuple[str, int]], int]:
    """Return the versions of the last eras and of the profile it is based on."""
    rows = [row for row in documents.list_current(hub.engine, ERA) if row["content"]]
    eras = sorted((row["key"], row["version"]) for row in rows)[-_ERAS:]
    return eras, documents.list_version_numbers(hub.engine, PROFILE).get("self", 0)


def _find_source_sessions(hub: Hub, eras: list[tuple[str, int]], months: Months) -> set[str]:
    """Return the sessions behind eras and profile, which reach the narrative through a model."""
    rows = [documents.get(hub.engine, ERA, month, version) for month, version in eras]
    rows.append(documents.get_current(hub.engine, PROFILE, "self"))
    session_lists = [versions.load_sources(row["sources"]).get("sessions", ()) for row in rows if row]
    return {session for session_list in session_lists for session in session_list if session in months.sessions}


def _write_narrative(work: DocumentWork, months: Months) -> tuple[str, str]:
    from engram.summaries import extract

    recent, (eras, _) = _list_recent_sessions(months), _find_tier_versions(work.hub)
    answer = (
        None
        if work.model.off
        else work.model.ask("narrative", _render_for_model(work, recent, eras), "narrative", ("threads",))
    )
    if answer is not None:
        threads = [f"- {thread}" for thread in answer.data["threads"]]
        return "\n".join([answer.data["narrative"], *(["Open:", *threads] if threads else [])]), answer.made_by
    parts = (_format_trend(work, months), *_tell_recent(work, recent))
    return text.cut_to_tokens("\n".join(part for part in parts if part), _TOKENS), extract.RULES


def _render_for_model(work: DocumentWork, recent: list[str], eras: list[tuple[str, int]]) -> str:
    """Render the model's prompt: profile, eras, and the last gists, oldest first."""
    profile_row = versions.get_current(work.hub, PROFILE, "self")
    rows = [documents.get(work.hub.engine, ERA, month, version) for month, version in eras]
    parts = [f"Profile:\n{profile_row['content']}"] if profile_row else []
    parts += [f"{row['key']}:\n{row['content']}" for row in rows if row]
    parts += [
        f"{work.format_heading(session)}:\n{work.months.get_gist(session)['content']}" for session in recent[::-1]
    ]
    return "\n\n".join(text.cut_to_tokens(part, _MODEL_TOKENS // max(1, len(parts))) for part in parts)


def _format_trend(work: DocumentWork, months: Months) -> str:
    """Return the number of sessions in the last months, by project."""
    lines = []
    for month in sorted(months.began)[-_ERAS:]:
        counts = Counter(work.get_project_name(session) for session in months.began[month])
        projects = ", ".join(f"{name} {count}" for name, count in counts.most_common(3) if name)
        lines.append(f"{month}: {len(months.began[month])}{f' ({projects})' if projects else ''}")
    return f"Sessions by month: {'; '.join(lines)}."


def _tell_recent(work: DocumentWork, recent: list[str]) -> list[str]:
    """Return what the last sessions came to and left open; those without evidence are quoted."""
    found = {session: list_episodes(work.hub, session) for session in recent}
    told = [
        f"- {work.format_heading(session)}: {_tell_session(found[session])}" for session in recent if found[session]
    ]
    quoted = [session for session in recent if not found[session]]
    open_items = [item for session in recent for episode in found[session][-1:] for item in episode.open]
    open_items = list(dict.fromkeys(filter(is_worth_listing, open_items)))
    left_open = [f"- {text.to_one_line(item, _ITEM)}" for item in open_items[:_OPEN]]
    return [
        "\n".join(["Last sessions, newest first:", *told]) if told else "",
        "\n".join(["Open:", *left_open]) if left_open else "",
        _quote_sessions(work, quoted), _quote_open_items(work, quoted),
    ]  # fmt: skip


def _tell_session(found: Sequence[Episode]) -> str:
    """Return a session in one line: its title, how it ended, and its last commit."""
    commits = [drop_hash(commit) for episode in found for commit in episode.commits]
    committed = f"; last commit “{text.to_one_line(commits[-1], _ITEM)}”" if commits else ""
    return f"{found[0].title} ({describe_result(found)}{committed})"


def _quote_sessions(work: DocumentWork, recent: list[str]) -> str:
    """Quote the request of each of the last sessions."""
    from engram.summaries.extract import render_line

    quotes = []
    for session in recent:
        lines = work.list_lines(session)
        first = next((line for line in lines if line.kind == "asked"), lines[0] if lines else None)
        if first is not None:
            quotes.append(f"- {work.format_heading(session)}: {render_line(first).removeprefix('- ')}")
    return "\n".join(["Recent sessions, newest first:", *quotes]) if quotes else ""


def _quote_open_items(work: DocumentWork, recent: list[str]) -> str:
    """Quote what the last sessions left open."""
    from engram.summaries.extract import render_line

    quotes = [render_line(line) for session in recent for line in work.list_lines(session) if line.kind == "open"]
    return "\n".join(["Open:", *quotes[:_OPEN]]) if quotes else ""
