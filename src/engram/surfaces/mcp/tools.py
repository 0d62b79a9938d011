"""The tools an agent is offered, written out: listing them must cost nothing.

What a tool does is in `calls`. A test holds this table to the operations behind it: names, types and defaults.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST_WAIT = 50  # seconds; clients give a call up after a minute
TIERS = ["exchange", "gist", "era", "digest", "profile", "narrative", "guide", "log", "completion", "world", "event"]


def _text(about: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": about, **more}


def _texts(about: str, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string", **more}, "description": about}


def _number(about: str, kind: str = "integer", **more: Any) -> dict[str, Any]:
    return {"type": kind, "description": about, **more}


def _object(required: list[str], /, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


def _result(**properties: Any) -> dict[str, Any]:
    """Return the schema of an answer. Nothing is required: clients hold a refusal to it as well."""
    refusal = {"error": _text("refused: why, in a word"), "message": _text("refused: why, and the way out")}
    facts = {"type": "object", "description": "refused: who holds it, until when, …"}
    return {"type": "object", "properties": {**properties, "news": _NEWS, **refusal, "facts": facts}}


def _hints(*, reads: bool = False, again: bool = False) -> dict[str, bool]:
    """Return all four hints: nothing here destroys, and nothing reaches beyond this memory."""
    return {
        "readOnlyHint": reads, "destructiveHint": False, "idempotentHint": reads or again, "openWorldHint": False,
    }  # fmt: skip


_CURSOR = _text("where an earlier answer to the same arguments stopped")
_NEXT = _text("there is more: call again with the same arguments and this cursor")
_NOTE = _text("how to take what is quoted")
_NEWS = _text("what waits for you, such as unread messages")
_HIT = _object(
    ["id", "tier", "snippet"],
    id=_text("what get takes"), tier=_text("what kind of memory"), snippet=_text("what was found, quoted"),
    session_id=_text("of which session"), role=_text("who said it"), at=_text("when"), flavor=_text("which agent"),
    project=_text("in which project"), summary=_text("what its session was about"),
    score=_number("how well it answers", "number"), state=_text("current, or superseded by something newer"),
    superseded_by=_text("what replaced it"),
)  # fmt: skip
_LOCK = _object(
    ["resource", "mode", "token"],
    resource=_text("its one name"), mode=_text("exclusive, shared or announce"), token=_number("fencing token"),
    until=_text("lapses then without a sign of life"), note=_text("why"),
)  # fmt: skip
_PATTERN = _object(
    ["id", "state", "title"],
    id=_text("what it is called"), state=_text("candidate, approved, …"), kind=_text("what kind of thing"),
    title=_text("what happens, quoted"), rule=_text("what agents are told, if it is approved"), fix=_text("its remedy"),
    scope=_text("where its rule holds"), sessions=_number("in how many it showed"), version=_number("of its rule"),
)  # fmt: skip
_MESSAGE = _object(
    ["body", "sent_at"],
    body=_text("what it says, quoted"), sent_at=_text("when"), sender=_text("which session; none for a person"),
    kind=_text("note, or loss of a lock"),
)  # fmt: skip

TOOLS: list[dict[str, Any]] = [
    {
        "name": "recall",
        "title": "Recall from memory",
        "description": (
            "Search what every coding agent here said, did, decided and learnt in the past. Ask before you start on"
            " something that may have been done, tried or decided before. Returns snippets with ids; nothing where"
            " nothing answers."
        ),
        "inputSchema": _object(
            ["query"],
            query=_text('a question or words; "exact phrase", beginn*'),
            k=_number("at most so many hits", default=5, minimum=1, maximum=50),
            project=_text("only of this project: a directory, or . for the one worked in; all if left out"),
            tiers=_texts("only these kinds of memory", enum=TIERS),
            since=_text("not before: 7d, 12h, 2026-11-01, last week"),
            file=_text("only of sessions that worked on this file"),
            cursor=_CURSOR,
        ),
        "outputSchema": _result(hits={"type": "array", "items": _HIT}, note=_NOTE, cursor=_NEXT),
        "annotations": _hints(reads=True),
    },
    {
        "name": "get",
        "title": "Get a memory whole",
        "description": (
            "Show what recall found whole, with what was said before and after it; or a page: engram://session/ID,"
            " engram://gist/ID, engram://digest/ID, engram://era/YYYY-MM, engram://world, engram://profile,"
            " engram://article/concepts/NAME, engram://daily/YYYY-MM-DD."
        ),
        "inputSchema": _object(
            ["id"],
            id=_text("an id from recall (x12, p3, e77), or the address of a page"),
            around=_number("how many exchanges before and after it", default=2, minimum=0, maximum=50),
            cursor=_CURSOR,
        ),
        "outputSchema": _result(
            id=_text("what was asked for"),
            text=_text("this part of it, quoted"),
            tier=_text("what kind of memory"),
            session_id=_text("of which session"),
            title=_text("what it is about"),
            at=_text("when"),
            source=_text("where it comes from"),
            note=_NOTE,
            cursor=_NEXT,
        ),
        "annotations": _hints(reads=True),
    },
    {
        "name": "remember",
        "title": "Remember for good",
        "description": (
            "Keep a fact, decision, preference or lesson that later sessions of any agent should find. One thing per"
            " call, in whole sentences with the names somebody will search for. Secrets are taken out."
        ),
        "inputSchema": _object(["content"], content=_text("what to remember")),
        "outputSchema": _result(id=_text("what get takes"), session_id=_text("kept under")),
        "annotations": _hints(),
    },
    {
        "name": "sitrep",
        "title": "Situation report",
        "description": (
            "Show the picture of now: world state, who else is here and what they do, what they hold, unread messages,"
            " work just completed. Call it at the start and before you change what others may be working on."
        ),
        "inputSchema": _object([], project=_text("another project than the one worked in: its directory")),
        "outputSchema": _result(report=_text("markdown; words of others are quoted"), session_id=_text("you")),
        "annotations": _hints(reads=True),
    },
    {
        "name": "lock",
        "title": "Lock files or names",
        "description": (
            "Hold files, directories, globs or any name (db:migrations) while you change them: all or none. Refused"
            " with who holds it and what for. It lapses when you fall silent; unlock it when you are done."
        ),
        "inputSchema": _object(
            ["resources"],
            resources=_texts("what to hold; paths may be relative to the directory worked in"),
            note=_text("why, for those who are refused"),
            mode=_text(
                "exclusive, shared (others may share too) or announce (refuses nobody)",
                enum=["exclusive", "shared", "announce"],
                default="exclusive",
            ),
            minutes=_number("lapses after so long without a sign of life", "number"),
            wait=_number(
                "seconds to wait while somebody else holds one", "number", default=0, minimum=0, maximum=LONGEST_WAIT
            ),
        ),
        "outputSchema": _result(locks={"type": "array", "items": _LOCK}),
        "annotations": _hints(),
    },
    {
        "name": "unlock",
        "title": "Let go of locks",
        "description": "Let go of what you hold; letting go of what you do not hold changes nothing.",
        "inputSchema": _object(
            [],
            resources=_texts("what to let go of"),
            all={"type": "boolean", "description": "let go of everything you hold", "default": False},
        ),
        "outputSchema": _result(released={"type": "array", "items": _LOCK}),
        "annotations": _hints(again=True),
    },
    {
        "name": "log",
        "title": "Log progress",
        "description": (
            "Note what you did, found or decided in this session, for those who work beside you and who come after."
        ),
        "inputSchema": _object(["entry"], entry=_text("what was done or found")),
        "outputSchema": _result(id=_number("of the entry"), session_id=_text("you")),
        "annotations": _hints(),
    },
    {
        "name": "message",
        "title": "Write and read messages",
        "description": (
            "Send a note to another session (its id), to all in the project, or to the next session of it. Without"
            " arguments, read what was sent to you; each message is delivered once."
        ),
        "inputSchema": _object([], to=_text("a session id, all, or next"), body=_text("what to tell them")),
        "outputSchema": _result(
            messages={"type": "array", "items": _MESSAGE},
            recipients=_texts("the sessions it will reach"),
            waiting={"type": "boolean", "description": "kept for the next session"},
            note=_NOTE,
        ),
        "annotations": _hints(),
    },
    {
        "name": "patterns",
        "title": "Patterns and their rules",
        "description": (
            "Show what keeps going wrong or right over all agents' sessions, and the rules people approved: all, or one"
            " with its evidence. With what and why, recommend a decision about it; only a person decides."
        ),
        "inputSchema": _object(
            [],
            pattern=_text("one of them: its id, or its beginning"),
            state=_text("only those", enum=["candidate", "approved", "rejected", "retired", "merged"]),
            what=_text("what you recommend", enum=["approve", "reject", "edit", "merge", "retire"]),
            why=_text("what speaks for it"),
            rule=_text("how its rule should read"),
            cursor=_CURSOR,
        ),
        "outputSchema": _result(
            patterns={"type": "array", "items": _PATTERN}, text=_text("one of them, quoted"), note=_NOTE, cursor=_NEXT
        ),
        "annotations": _hints(again=True),
    },
]
