"""Doctor: report problems of this installation, with the command that fixes each."""

from __future__ import annotations

import os
from collections.abc import Iterator

from engram.agents.registry import find_agent
from engram.clock import HOUR
from engram.errors import Error
from engram.hub import Hub
from engram.install.finding import Finding
from engram.operation import Help, operation
from engram.platform.text import format_count, format_duration, format_size
from engram.sessions.checkouts import list_project_directories
from engram.settings import hide_password, is_known_timezone, list_memoria_variables
from engram.store import blobs, cursors, filesystem, integrity, reserve_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from engram.capture.discover import TranscriptFile
    from engram.store.engine import Row

_DAY = 24 * HOUR
_LOW_STABILITY = 0.05  # stability below which the memory is behind
_MAX_PATHS = 5  # paths shown of files that could not be read
_UPDATE = "update Engram, then engram ingest; report a file that stays unread, or remove it if it is damaged"


@operation(agent=False)
def doctor(
    hub: Hub,
    quick: Annotated[bool, Help("skip the full check of the store, which is slow for a large one")] = False,
) -> list[Finding]:
    """Show problems and how to fix them: the store, the agents and their hooks, and what is not captured yet."""
    from engram.install import health

    wired, captured = health.check_agents(hub.settings.home), _check_capture(hub)
    return [
        *_check_store(hub, quick),
        *_check_settings(),
        *_check_model(hub),
        *_group_by_subject([*wired, *captured]),
        *_check_budget(hub),
        *_check_dream(hub),
    ]


def _group_by_subject(findings: list[Finding]) -> list[Finding]:
    """Group findings by agent, in the order the agents first occur."""
    order = list(dict.fromkeys(finding.subject for finding in findings))
    return sorted(findings, key=lambda finding: order.index(finding.subject))


def check_without_store(home: str, problem: Error) -> list[Finding]:
    """Show what can be checked while the store cannot be opened."""
    from engram.install import health

    hint = "Agents keep working; their sessions are captured from the transcripts later."
    dead = Finding("problem", "store", f"{problem} {hint}", "engram config  # shows which store is used")
    return [dead, *health.check_agents(home)]


def _check_store(hub: Hub, quick: bool) -> Iterator[Finding]:
    store_name = hide_password(hub.settings.store)
    yield Finding(level="ok", subject="store", text=f"{store_name} ({integrity.get_library_version(hub.engine)})")
    if hub.engine.read_only:
        text = "The store is read-only from here, as in an agent's sandbox."
        yield Finding("warning", "store", text, f"allow this user or the sandbox to write to {hub.settings.home}")
    kind = filesystem.find_network_filesystem(hub.settings.home)
    if kind and hub.engine.dialect == "sqlite":
        text = f"The store is on {kind}, where SQLite can lose data."
        yield Finding("problem", "store", text, "set ENGRAM_HOME to a directory on a local disk")
    for problem in () if quick else integrity.find_structure_problems(hub.engine):
        yield Finding("problem", "store", f"{problem}.", "engram check")


def _check_settings() -> Iterator[Finding]:
    for theirs, ours in list_memoria_variables().items():
        yield Finding("ok", "settings", f"{theirs} is used because {ours} is not set.")
    zone = os.environ.get("TZ", "").lstrip(":")
    if "/" in zone and not os.path.isabs(zone) and not is_known_timezone(zone):
        text = f"TZ names an unknown time zone, {zone!r}, so times are shown in UTC."
        yield Finding("warning", "settings", text, "export TZ=Europe/Berlin  # or your own zone")


def _check_model(hub: Hub) -> Iterator[Finding]:
    from engram.models.status import model_status

    try:
        status = model_status(hub)
    except Error as problem:
        yield Finding("warning", "model", str(problem), "engram model")
        return
    if status.provider == "none":
        yield Finding("ok", "model", "No model is configured; summaries are quotes, which is free.")
    elif status.ready:
        yield Finding("ok", "model", f"{status.provider} is reachable.")
    else:
        yield Finding("warning", "model", status.reason, "engram model --try")


def _check_capture(hub: Hub) -> Iterator[Finding]:
    """Report for each agent on this machine what is captured, and which transcripts it will delete before they are."""
    from engram.agents.transcripts.registry import load_adapters
    from engram.capture import discover
    from engram.capture.sweep import needs_reading

    cursor_rows = cursors.list_by_host(hub.engine, discover.get_machine(hub.engine.dialect))
    now = hub.now()
    for flavor in load_adapters():
        transcripts = list(discover.iter_transcripts(list_project_directories(hub), flavor))
        if not transcripts:
            continue
        rows = {transcript: cursor_rows.pop(transcript.name, None) for transcript in transcripts}
        unread = {
            transcript.display_path: row
            for transcript, row in rows.items()
            if row and _is_unread(row, needs_reading(transcript, row))
        }
        waiting = [
            transcript
            for transcript, row in rows.items()
            if transcript.display_path not in unread and needs_reading(transcript, row)
        ]
        yield _report_captured(flavor, len(transcripts), len(waiting), len(unread))
        yield from _report_unread(flavor, unread)
        yield from _check_expiry(flavor, waiting, now)
        yield from _check_silent_hooks(hub, flavor, transcripts)
    yield from _report_unread("files", {path: row for path, row in cursor_rows.items() if _is_unread(row, False)})


def _is_unread(row: Row, is_waiting: bool) -> bool:
    """Check whether a file could not be read; if a newer reader is available, it is only waiting."""
    tried = not is_waiting or row["readers"] == ""
    return row["unread"] is not None and tried and any(map(os.path.exists, (row["path"], f"{row['path']}.zst")))


def _report_captured(flavor: str, total: int, waiting: int, unread: int) -> Finding:
    parts = [format_count(total, "transcript"), f"{total - waiting - unread} captured"]
    parts += [f"{waiting} not captured yet"] if waiting else []
    parts += [f"{unread} unreadable"] if unread else []
    level = "warning" if waiting or unread else "ok"
    return Finding(level, flavor, f"{', '.join(parts)}.", "engram ingest" if waiting else "")


def _report_unread(subject: str, unread: dict[str, Row]) -> Iterator[Finding]:
    """List the unreadable files, the first few for each reason, and what to do."""
    reasons: dict[tuple[str, bool], list[str]] = {}
    for path, row in unread.items():
        reasons.setdefault((row["unread"], row["readers"] == ""), []).append(path)
    for (reason, is_passing), paths in reasons.items():
        more = f" and {len(paths) - _MAX_PATHS} more" if len(paths) > _MAX_PATHS else ""
        text = f"Could not read {', '.join(paths[:_MAX_PATHS])}{more}: {reason}."
        yield Finding("warning", subject, text, "engram ingest  # after you fix it" if is_passing else _UPDATE)


def _check_silent_hooks(hub: Hub, flavor: str, transcripts: list[TranscriptFile]) -> Iterator[Finding]:
    """Report an agent that is connected and was used since, but whose hooks did not fire."""
    from engram.install import health

    worked_at = max(transcript.changed_at for transcript in transcripts)
    heard_at = max(
        health.get_last_hook_time(hub.settings.home, flavor), health.get_wiring_time(hub.settings.home, flavor)
    )
    if heard_at and worked_at > heard_at + HOUR and health.is_wired(flavor):
        text = f"It is connected and was used {format_duration(hub.now() - worked_at)} ago, but its hooks did not fire."
        yield Finding("warning", flavor, text, f"engram init --agent {flavor}, then restart it")


def _check_expiry(flavor: str, waiting: list[TranscriptFile], now: int) -> Iterator[Finding]:
    days = _get_transcript_days(flavor)
    if days is None:
        return
    oldest = min((transcript.changed_at for transcript in waiting), default=None)
    if oldest is not None:
        time_left = oldest + int(days * _DAY) - now
        when = f"within {format_duration(time_left)}" if time_left > 0 else "at any moment"
        text = f"It deletes transcripts after {days:g} days; the oldest one not captured will be deleted {when}."
        yield Finding("problem" if time_left < 3 * _DAY else "warning", flavor, text, "engram ingest")
    else:
        text = f"It deletes transcripts after {days:g} days; captured sessions are kept."
        yield Finding(level="ok", subject=flavor, text=text)


def _get_transcript_days(flavor: str) -> float | None:
    """Return the days after which an agent deletes its transcripts, if it does."""
    agent = find_agent(flavor)
    return agent.transcript_days() if agent else None


def _check_budget(hub: Hub) -> Iterator[Finding]:
    used_bytes, cap = blobs.get_kept_bytes(hub.engine), hub.settings.raw_soft_cap_bytes
    yield Finding(
        level="ok", subject="budget", text=f"{format_size(used_bytes)} of {format_size(cap)} used for captured content."
    )
    if hub.engine.dialect == "sqlite" and not reserve_file.is_reserved(hub.settings.home):
        text = "No disk space is reserved for cleanup; the next ingest reserves it if possible."
        yield Finding("warning", "disk", text, "engram ingest")


def _check_dream(hub: Hub) -> Iterator[Finding]:
    """Report how far the memory is behind, and what failed in the last dream."""
    from engram.dream import journal, probes

    last = next(iter(journal.list_passes(hub, 1)), None)
    stability = probes.sense_drives(hub)["stability"]
    failures = [f"{name}: {why}" for done in last.steps for name, why in done.failed.items()] if last else []
    if failures:
        yield Finding("warning", "dream", f"The last dream had failures: {failures[0]}", "engram dream log")
    if stability.level < _LOW_STABILITY:
        yield Finding("warning", "dream", f"Memory is behind: {stability.why}.", "engram dream --force")
    else:
        yield Finding("ok", "dream", "Memory is up to date.")
