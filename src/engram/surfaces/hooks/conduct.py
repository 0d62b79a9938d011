"""What is done at each event: announce, tell, refuse, notice, let go, capture."""

from __future__ import annotations

import os

from engram import host, text
from engram.clock import HOUR
from engram.coordination import sessions
from engram.errors import Error, Fenced, Held
from engram.hub import Hub
from engram.settings import is_url
from engram.store import activity, answered, reachable
from engram.store import messages as message_store
from engram.store import sessions as session_store
from engram.surfaces.hooks import dialect, tools
from engram.surfaces.hooks.dialect import Told
from engram.surfaces.hooks.occasion import AFTER, BEFORE, COMPACT, END, PROMPT, START, STOP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.settings import Settings
    from engram.surfaces.hooks.occasion import Occasion

_AGAIN = 10_000_000  # microseconds in which the same event told twice is one event
_SHORT = 12  # characters; a prompt of fewer holds no secret and asks for nothing that could be remembered


def answer(met: Occasion, settings: Settings) -> Told | None:
    """Ask for what is to be captured, and carry an event into the store; return what the agent is told, if anything."""
    try:
        if met.event in (STOP, COMPACT, END):
            _make_store_first(settings)
            _ask_for_capture(met, settings.home)
    finally:  # a full disk keeps nobody from letting go of locks
        told = _carried(met, settings)
    return told


def _carried(met: Occasion, settings: Settings) -> Told | None:
    if not reachable.now(settings):
        raise ConnectionError("the store cannot be reached; it is asked again in half a minute")
    hub = Hub(settings=settings)
    session_id = _session(hub, met)
    if session_id is None:
        return None
    if met.event in (BEFORE, AFTER):
        return _tool(hub, met, session_id)
    if met.event in (START, PROMPT):
        return _context(hub, met, session_id)
    if met.event == STOP and not met.inner:
        from engram.coordination import edits

        edits.let_go(hub, session_id)
    elif met.event == END:
        from engram.coordination import departed

        departed.leave(hub, session_id, met.source or "no reason given")
    return None


def _make_store_first(settings: Settings) -> None:
    """Create the store of a new home before its spool: a spool without one looks like a database that was lost."""
    if is_url(settings.store) or os.path.exists(settings.store):
        return
    try:
        Hub(settings=settings).close()
    except (Error, OSError):
        pass  # told when the event is carried into it


def _ask_for_capture(met: Occasion, home: str) -> None:
    """Ask for the transcript to be taken in by a process of its own; needs no store."""
    if met.flavor == "gemini" and met.event == COMPACT:
        return  # it fires that before every call of its model
    from engram.capture import spool

    spool.ask(home, spool.Request(flavor=met.flavor, native_id=met.session, path=met.transcript, event=met.event))
    spool.start_worker(home)


def _session(hub: Hub, met: Occasion) -> str | None:
    """Find the agent's session, or announce it."""
    task = _task(hub, met)
    known = session_store.by_native_id(hub.engine, met.flavor, met.session)
    if known is not None and met.event != START:
        if known["status"] == "active" or met.event not in (STOP, END):  # Grok says stop once more after its end
            with hub.engine.transaction():
                sessions.touch(hub, known["id"], task)
        return str(known["id"])
    if known is None and met.event in (STOP, COMPACT, END):
        return None
    above = None if known or met.event == START else sessions.current(hub)
    if above is not None and above.flavor == met.flavor:
        return above.id  # a subagent under an id of its own: it acts for the session that started it
    summary = task or (known["summary"] if known else f"{met.flavor} session, just started")
    cwd = met.cwd or host.directory()
    return sessions.announce(
        hub, met.flavor, summary, None, met.flavor, met.session, cwd, model=met.model, durable=False
    )


def _task(hub: Hub, met: Occasion) -> str | None:
    """Return what the user asked for, if this is the moment they asked; every session may read it, so no secrets."""
    if met.event not in (START, PROMPT) or met.inner or not met.prompt:
        return None
    if len(met.prompt) < _SHORT:
        return met.prompt
    from engram.redaction import known_secrets

    return known_secrets.redactor(hub.settings.home).clean(met.prompt[:4000])[:1000]


def _context(hub: Hub, met: Occasion, session_id: str) -> Told | None:
    """Tell a session that starts what helps, and one that was asked something what is new."""
    if not dialect.hears(met) or met.inner or not _first(hub, met):
        return None
    if _owed(hub, met):
        return _shown(_briefing(hub, session_id))
    if met.event == START:
        return None
    parts = (_news(hub, session_id), _freed(hub, met, session_id), _recalled(hub, met, session_id))
    return _shown("\n\n".join(part for part in parts if part))


def _first(hub: Hub, met: Occasion) -> bool:
    """Tell whether nobody answered this event yet: an agent may run the hooks of several files."""
    turn = met.turn or (f"{met.source} {_hash(met.prompt)}" if met.prompt else met.source)
    span = answered.EVER if met.turn and met.event == PROMPT else _AGAIN
    with hub.engine.transaction():
        return answered.first(hub.engine, met.flavor, met.session, met.event, turn, hub.now(), span)


def _hash(text: str) -> str:
    """Return a short name for a text, the same in every process."""
    from _blake2 import blake2b  # hashlib would load OpenSSL, which costs a hook more than all the rest

    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _owed(hub: Hub, met: Occasion) -> bool:
    """Tell whether a session has to be briefed now: at its start, or later where its start could not be answered.

    These agents may tell of a prompt before they tell of the start; then the prompt was answered with the briefing.
    """
    if met.flavor not in ("grok", "copilot"):
        return met.event == START
    span = _AGAIN if met.event == START else answered.EVER
    with hub.engine.transaction():
        return answered.first(hub.engine, met.flavor, met.session, answered.BRIEFED, "", hub.now(), span)


def _briefing(hub: Hub, session_id: str) -> str:
    from engram.recall.briefing import brief

    return brief(hub, session_id).text


def _news(hub: Hub, session_id: str) -> str:
    if not message_store.unread_count(hub.engine, session_id):
        return ""
    from engram.coordination import messages

    return "\n\n".join(messages.quoted(message) for message in messages.inbox(hub, session_id))


def _freed(hub: Hub, met: Occasion, session_id: str) -> str:
    """Return which of the files a session was refused it may edit now; say so once."""
    if not activity.refusals(hub.engine, session_id, hub.now() - HOUR):
        return ""
    from engram.coordination import edits

    told = []
    for number, name in edits.freed(hub, session_id):
        with hub.engine.transaction():
            if answered.first(hub.engine, met.flavor, met.session, "freed", str(number), hub.now(), answered.EVER):
                told.append(f"`{text.inline(name, 200)}`, which you were refused, is free now.")
    return "\n".join(told)


def _recalled(hub: Hub, met: Occasion, session_id: str) -> str:
    """Return what is remembered of a prompt, if that is clearly to the point and comes in time."""
    if not hub.settings.prompt_recall or len(met.prompt) < _SHORT:
        return ""
    from engram.surfaces.hooks.unasked import recalled

    return recalled(hub, met.prompt, sessions.require(hub, session_id))


def _tool(hub: Hub, met: Occasion, session_id: str) -> Told | None:
    """Guard what a tool is about to write, and look at what it did."""
    paths = tools.edited(met.tool, met.given)
    seen = paths or tools.read(met.tool, met.given)
    shell = tools.is_shell(met.tool)
    if not (seen or shell):
        return _shown(_waiting(hub, met, session_id))
    from engram.coordination import edits

    if met.event == BEFORE:
        told = _guarded(hub, met, session_id, paths) if paths else None
        if shell and not paths:
            edits.before_command(hub, session_id)
        return told
    if seen:
        edits.saw(hub, session_id, seen, met.cwd)
    changes = edits.after_command(hub, session_id) if shell else []
    return _shown("\n\n".join(part for part in (*changes, _waiting(hub, met, session_id)) if part))


def _guarded(hub: Hub, met: Occasion, session_id: str, paths: list[str]) -> Told | None:
    from engram.coordination import edits

    try:
        warnings = "\n".join(edits.begin(hub, session_id, paths, met.cwd))
    except (Held, Fenced) as refusal:
        return Told(refusal=str(refusal))
    if warnings and not dialect.hears(met):  # told after the tool instead
        row = sessions.require(hub, session_id)
        with hub.engine.transaction():
            message_store.insert(
                hub.engine, sender=None, recipient=session_id, project=row["project"], kind="change", body=warnings,
                now=hub.now(),
            )  # fmt: skip
        return None
    return _shown(warnings)


def _waiting(hub: Hub, met: Occasion, session_id: str) -> str:
    """Return what a session should hear between two tools: its briefing if that is owed, else what is new."""
    if met.event != AFTER or not dialect.hears(met) or met.inner:
        return ""
    return _briefing(hub, session_id) if _owed(hub, met) else _news(hub, session_id)


def _shown(context: str) -> Told | None:
    return Told(context=context) if context else None
