"""Handle hook events: register sessions, give context, guard edits, release locks, request captures."""

from __future__ import annotations

import os

from engram.agents.agent import AFTER, BEFORE, COMPACT, END, PROMPT, START, STOP
from engram.agents.registry import find_agent
from engram.clock import HOUR
from engram.errors import Error, Fenced, Held
from engram.hub import Hub
from engram.platform import host, text
from engram.sessions import checkouts, lifecycle, projects
from engram.settings import is_url
from engram.store import activity, commits, episodes, handled_events, injected_texts, server_probe
from engram.store import messages as message_store
from engram.store import sessions as session_store
from engram.surfaces.hooks import responses, tool_files
from engram.surfaces.hooks.responses import HookResponse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.settings import Settings
    from engram.surfaces.hooks.hook_event import HookEvent

_REPEAT_MICROSECONDS = 10_000_000  # the same event within this time is a repeat
_MAX_REFUSAL_CHARS = 199  # Copilot and Grok cut what is longer
_MIN_PROMPT_CHARS = 12  # shorter prompts hold no secret and match no memory


def handle_event(event: HookEvent, settings: Settings) -> HookResponse | None:
    """Request a capture if the event calls for one, handle the event, and return the response if there is one."""
    try:
        if event.event in (STOP, COMPACT, END):
            _create_missing_store(settings)
            _request_capture(event, settings.home)
    finally:  # a full disk must not keep locks from being released
        response = _handle_in_store(event, settings)
    return response


def _handle_in_store(event: HookEvent, settings: Settings) -> HookResponse | None:
    if not server_probe.is_reachable(settings):
        raise ConnectionError("cannot reach the store; next attempt in 30 seconds")
    hub = Hub(settings=settings)
    session_id = _find_session(hub, event)
    if session_id is None:
        return None
    if event.event in (BEFORE, AFTER):
        return _handle_tool(hub, event, session_id)
    if event.event == START:
        _request_first_read(hub, event)
    if event.event in (START, PROMPT):
        return _build_context(hub, event, session_id)
    if event.event == STOP and not event.in_subagent:
        from engram.sessions import file_edits

        file_edits.release_edit_locks(hub, session_id)
    elif event.event == END:
        from engram.sessions import crashed_sessions

        crashed_sessions.end_session(hub, session_id, event.source or "no reason given")
    return None


def _create_missing_store(settings: Settings) -> None:
    """Create the store of a new home before its spool; a spool without a store looks like a lost database."""
    if is_url(settings.store) or os.path.exists(settings.store):
        return
    try:
        Hub(settings=settings).close()
    except (Error, OSError):
        pass  # reported when the event is handled


def _request_capture(event: HookEvent, home: str) -> None:
    """Queue the transcript for capture and start the worker; needs no store."""
    agent = find_agent(event.flavor)
    if agent and agent.compacts_silently and event.event == COMPACT:
        return
    from engram.capture import spool

    spool.add_request(
        home,
        spool.CaptureRequest(flavor=event.flavor, native_id=event.session, path=event.transcript, event=event.event),
    )
    spool.start_worker(home)


def _request_first_read(hub: Hub, event: HookEvent) -> None:
    """Have the history of a repository read that was never read, so that its first session has a memory."""
    root = projects.find_git_location(event.cwd or host.get_working_directory() or os.sep).project
    if root and projects.read_head(root) and commits.find_head(hub.engine, checkouts.get_machine(hub), root) is None:
        _request_capture(event, hub.settings.home)


def _find_session(hub: Hub, event: HookEvent) -> str | None:
    """Return the id of the agent's session; register it if it is new."""
    task = _read_task(hub, event)
    row = session_store.find_by_native_id(hub.engine, event.flavor, event.session)
    if row is not None and event.event != START:
        if row["status"] == "active" or event.event not in (STOP, END):  # some agents send a stop after the end
            with hub.engine.transaction():
                lifecycle.touch_session(hub, row["id"], task)
        return str(row["id"])
    if row is None and event.event in (STOP, COMPACT, END):
        return None
    parent_session = None if row or event.event == START else lifecycle.find_current_session(hub)
    if parent_session is not None and parent_session.flavor == event.flavor:
        return parent_session.id  # a subagent with its own id acts for the session that started it
    summary = task or (row["summary"] if row else f"{event.flavor} session, just started")
    cwd = event.cwd or host.get_working_directory()
    return lifecycle.announce_session(
        hub, event.flavor, summary, None, event.flavor, event.session, cwd, model=event.model, durable=False
    )


def _read_task(hub: Hub, event: HookEvent) -> str | None:
    """Return the user's prompt as the session's task, redacted because every session can read it."""
    if event.event not in (START, PROMPT) or event.in_subagent or not event.prompt:
        return None
    if len(event.prompt) < _MIN_PROMPT_CHARS:
        return event.prompt
    from engram.redaction import known_secrets

    return known_secrets.load_home_redactor(hub.settings.home).redact(event.prompt[:4000])[:1000]


def _build_context(hub: Hub, event: HookEvent, session_id: str) -> HookResponse | None:
    """Return the briefing for a session that starts, and news and memories for a prompt."""
    if not responses.reaches_model(event) or event.in_subagent or not _is_first_report(hub, event):
        return None
    if _needs_briefing(hub, event):
        if _goes_on(hub, event, session_id):
            return _to_response(_build_news(hub, session_id))
        return HookResponse(context=_build_briefing(hub, session_id), notice=_build_notice(hub, event, session_id))
    if event.event == START:
        return None
    parts = (
        _format_unread_messages(hub, session_id),
        _format_freed_files(hub, event, session_id),
        _recall_for_prompt(hub, event, session_id),
    )
    return _to_response("\n\n".join(part for part in parts if part))


def _is_first_report(hub: Hub, event: HookEvent) -> bool:
    """Return whether this event is new; an agent may run our hook from several files."""
    turn = event.turn or (f"{event.source} {_hash_text(event.prompt)}" if event.prompt else event.source)
    span = handled_events.WEEK if event.turn and event.event == PROMPT else _REPEAT_MICROSECONDS
    with hub.engine.transaction():
        return handled_events.mark_first_time(
            hub.engine, event.flavor, event.session, event.event, turn, hub.now(), span
        )


def _hash_text(text: str) -> str:
    """Return a short hash of a text that is stable across processes."""
    from _blake2 import blake2b  # hashlib loads OpenSSL, which takes longer than the rest of a hook

    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _needs_briefing(hub: Hub, event: HookEvent) -> bool:
    """Return whether to brief a session now: at its start, or later for agents that may miss the start.

    Those agents may report a prompt before the start; then the prompt already got the briefing.
    """
    agent = find_agent(event.flavor)
    if agent is None or not agent.may_miss_start:
        return event.event == START
    span = _REPEAT_MICROSECONDS if event.event == START else handled_events.WEEK
    with hub.engine.transaction():
        return handled_events.mark_first_time(
            hub.engine, event.flavor, event.session, handled_events.BRIEFED, "", hub.now(), span
        )


def _goes_on(hub: Hub, event: HookEvent, session_id: str) -> bool:
    """Return whether a session goes on that was briefed before."""
    return event.source in ("resume", "compact") and bool(injected_texts.filter_sessions(hub.engine, [session_id]))


def _build_news(hub: Hub, session_id: str) -> str:
    from engram.search.briefing import build_news

    return build_news(hub, session_id)


def _build_briefing(hub: Hub, session_id: str) -> str:
    from engram.search.briefing import build_briefing

    return build_briefing(hub, session_id).text


def _build_notice(hub: Hub, event: HookEvent, session_id: str) -> str:
    """Return a line for the person about what is known of the project, or an empty string."""
    agent = find_agent(event.flavor)
    project = lifecycle.require_session(hub, session_id)["project"]
    if not (project and agent and agent.shows_notices and event.event == START and not event.borrowed):
        return ""
    counts = ((episodes.count_recent_items(hub.engine, project, kind), kind) for kind in ("decision", "open item"))
    known = [text.format_count(count, kind) for count, kind in counts if count]
    return f"Engram: {', '.join(known)} known here." if known else ""


def _format_unread_messages(hub: Hub, session_id: str) -> str:
    if not message_store.count_unread(hub.engine, session_id):
        return ""
    from engram.sessions import messages

    return "\n\n".join(messages.format_message(message) for message in messages.inbox(hub, session_id))


def _format_freed_files(hub: Hub, event: HookEvent, session_id: str) -> str:
    """Return a line for each file that was refused earlier and is free now; report each file once."""
    if not activity.list_refusals(hub.engine, session_id, hub.now() - HOUR):
        return ""
    from engram.sessions import file_edits

    lines = []
    for number, name in file_edits.list_freed_resources(hub, session_id):
        with hub.engine.transaction():
            if handled_events.mark_first_time(
                hub.engine, event.flavor, event.session, "freed", str(number), hub.now(), handled_events.WEEK
            ):
                lines.append(f"`{text.escape_inline(name, 200)}`, which you could not edit, is free now.")
    return "\n".join(lines)


def _recall_for_prompt(hub: Hub, event: HookEvent, session_id: str) -> str:
    """Return memories that clearly match a prompt and are found in time."""
    if hub.settings.prompt_recall == "off" or len(event.prompt) < _MIN_PROMPT_CHARS:
        return ""
    from engram.surfaces.hooks.prompt_recall import push_for_prompt

    return push_for_prompt(hub, event, lifecycle.require_session(hub, session_id))


def _handle_tool(hub: Hub, event: HookEvent, session_id: str) -> HookResponse | None:
    """Guard files before a tool writes them, and record what it read or wrote afterwards."""
    paths = tool_files.list_edited_files(event.tool, event.tool_input)
    seen_paths = paths or tool_files.list_read_files(event.tool, event.tool_input)
    is_shell = tool_files.is_shell(event.tool)
    if not (seen_paths or is_shell):
        return _to_response(_build_tool_context(hub, event, session_id))
    from engram.sessions import file_edits

    if event.event == BEFORE:
        if paths:
            return _guard_edit(hub, event, session_id, paths)
        if is_shell:
            file_edits.record_before_command(hub, session_id)
        return _to_response(_recall_for_tool(hub, event, session_id, [], is_shell=is_shell))
    if seen_paths:
        file_edits.record_files_seen(hub, session_id, seen_paths, event.cwd)
    changes = file_edits.check_after_command(hub, session_id) if is_shell else []
    known = _recall_for_tool(hub, event, session_id, seen_paths, is_shell=is_shell, edits=bool(paths))
    parts = (*changes, _build_tool_context(hub, event, session_id), known)
    return _to_response("\n\n".join(part for part in parts if part))


def _recall_for_tool(
    hub: Hub, event: HookEvent, session_id: str, paths: list[str], *, is_shell: bool, edits: bool = False
) -> str:
    """Return what is known of the file or the command of a tool, at the event at which the agent hears it."""
    if hub.settings.tool_recall == "off" or event.in_subagent or not responses.reaches_model(event):
        return ""
    from engram.surfaces.hooks import tool_recall

    row = lifecycle.require_session(hub, session_id)
    if not row["project"]:
        return ""
    is_first_chance = event.event == BEFORE or not responses.reaches_model(event, BEFORE)
    if paths:
        moment = "edit" if edits else "read"
        is_due = is_first_chance or not edits
        return tool_recall.push_for_file(hub, event, row, moment, paths[0]) if is_due else ""
    if not is_shell:
        return ""
    known = tool_recall.push_for_failure(hub, event, row) if event.failure else ""
    return known or (tool_recall.push_for_command(hub, event, row) if is_first_chance else "")


def _guard_edit(hub: Hub, event: HookEvent, session_id: str, paths: list[str]) -> HookResponse | None:
    from engram.sessions import file_edits

    try:
        warnings = "\n".join(file_edits.begin_edit(hub, session_id, paths, event.cwd))
    except Held as refusal:
        return HookResponse(refusal=refusal.shorten(_MAX_REFUSAL_CHARS))
    except Fenced as refusal:
        return HookResponse(refusal=str(refusal))
    if warnings and not responses.reaches_model(event):  # deliver it after the tool instead
        row = lifecycle.require_session(hub, session_id)
        with hub.engine.transaction():
            message_store.insert(
                hub.engine, sender=None, recipient=session_id, project=row["project"], kind="change", body=warnings,
                now=hub.now(),
            )  # fmt: skip
        return None
    known = _recall_for_tool(hub, event, session_id, paths, is_shell=False, edits=True)
    return _to_response("\n\n".join(part for part in (warnings, known) if part))


def _build_tool_context(hub: Hub, event: HookEvent, session_id: str) -> str:
    """Return the briefing if it is still due after a tool, otherwise the unread messages."""
    if event.event != AFTER or not responses.reaches_model(event) or event.in_subagent:
        return ""
    return _build_briefing(hub, session_id) if _needs_briefing(hub, event) else _format_unread_messages(hub, session_id)


def _to_response(context: str) -> HookResponse | None:
    return HookResponse(context=context) if context else None
