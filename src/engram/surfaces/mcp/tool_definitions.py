"""The part of each tool that is MCP's own: its operations, its text for models and its limits.

Parameters come from the operations; `tool_schemas` puts both together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engram.platform.value import value

LONGEST_WAIT = 50  # seconds; clients give up on a call after a minute


@value
class ToolDefinition:
    """A tool as the operations cannot describe it."""

    name: str
    title: str
    description: str
    operations: tuple[str, ...]  # a parameter is required if every one of them requires it
    left_out: Mapping[str, str] = {}  # parameters of the operations that are not offered, each with the reason
    own: Mapping[str, Any] = {}  # parameters that no operation has
    limits: Mapping[str, tuple[float, float]] = {}  # smallest and largest value
    descriptions: Mapping[str, str] = {}  # for parameters that mean something else here than in the operation
    is_idempotent: bool = False


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


_CURSOR = {"cursor": _text("the cursor of the previous answer to the same arguments, for the next part")}
_CALLER = "the server knows which session calls"
_BUDGET = "answers have a fixed size; cursor gets the next part"
_DIRECTORY = "relative paths start in the session's directory"
_DOMAIN = "a person assigns domains; a model knows projects"

DEFINITIONS = (
    ToolDefinition(
        name="recall",
        title="Recall from memory",
        description=(
            "Search what every coding agent on this machine said, did, decided and learned in past sessions. Call it"
            " before you start on something that may have been done, tried or decided before. Describe the problem, or"
            " paste the error, name the file, ask what was done last week or how to run the tests. Returns one hit per"
            " past episode or commit with what settled it (decisions, cause, fix, what is open), best first, or nothing"
            " if no memory matches. messages=true returns single messages."
        ),
        operations=("recall",),
        own=_CURSOR,
        limits={"k": (1, 50)},
        left_out={
            "exclude_session": "after a compaction the caller's own session holds what it lost",
            "budget": _BUDGET,
            "abstain": "a model must not get hits that do not match",
            "now": "for measurements",
            "domain": _DOMAIN,
        },
        descriptions={"project": 'only this project: its directory, or "." for the current one'},
    ),
    ToolDefinition(
        name="get",
        title="Get a memory in full",
        description=(
            "Show a hit of recall in full, with the messages before and after it; or a page: engram://session/ID,"
            " engram://gist/ID, engram://digest/ID, engram://era/YYYY-MM, engram://world, engram://profile,"
            " engram://article/concepts/NAME, engram://daily/YYYY-MM-DD."
        ),
        operations=("get",),
        own=_CURSOR,
        limits={"around": (0, 50)},
        descriptions={"id": "an id from recall (c5, x12, p3, e77) or the address of a page"},
    ),
    ToolDefinition(
        name="remember",
        title="Remember permanently",
        description=(
            "Store a fact, decision, preference or lesson for later sessions of any agent. One thing per call, in full"
            " sentences, with the names a later search would use. Secrets are redacted."
        ),
        operations=("remember",),
        left_out={"session_id": _CALLER, "role": "always the agent's own words", "origin": "always the agent"},
        descriptions={"content": "what to remember"},
    ),
    ToolDefinition(
        name="sitrep",
        title="Situation report",
        description=(
            "Show the current state: world state, other running agents, their work and their locks, unread messages,"
            " recently completed work. Call it when you start and before you change what others may be working on."
        ),
        operations=("get_situation_report",),
        left_out={"session_id": _CALLER, "tokens": _BUDGET},
        descriptions={"project": "directory of another project; the current one if left out"},
    ),
    ToolDefinition(
        name="lock",
        title="Lock files or names",
        description=(
            "Lock files, directories, globs or any name (db:migrations) while you change them: all or none. A refusal"
            " names the holder and the reason. A lock expires when your session goes silent; unlock when you are done."
        ),
        operations=("lock_resources",),
        limits={"wait": (0, LONGEST_WAIT)},
        left_out={"session_id": _CALLER, "cwd": _DIRECTORY},
    ),
    ToolDefinition(
        name="unlock",
        title="Release locks",
        description="Release your locks. Releasing what you do not hold changes nothing.",
        operations=("release_resource", "release_all"),
        own={
            "resources": {"type": "array", "items": {"type": "string"}, "description": "what to release"},
            "all": {"type": "boolean", "description": "release everything you hold", "default": False},
        },
        left_out={
            "session_id": _CALLER,
            "resource": "resources takes several",
            "token": "the caller is the holder",
            "cwd": _DIRECTORY,
        },
        is_idempotent=True,
    ),
    ToolDefinition(
        name="log",
        title="Log progress",
        description="Record what you did, found or decided in this session, for other agents and later sessions.",
        operations=("log",),
        left_out={"session_id": _CALLER},
    ),
    ToolDefinition(
        name="message",
        title="Send and read messages",
        description=(
            "Send a message to another session (its id), to all sessions in the project, or to the next session."
            " Without arguments, read your messages; each is delivered once."
        ),
        operations=("send", "inbox"),
        left_out={
            "sender": _CALLER,
            "session_id": _CALLER,
            "project": "all and next mean the caller's project",
            "peek": "each message is delivered once",
            "everything": "each message is delivered once",
            "limit": "answers have a fixed size; call again for the rest",
        },
    ),
    ToolDefinition(
        name="patterns",
        title="Patterns and their rules",
        description=(
            "Show what keeps going wrong or right in all agents' sessions, and the rules people approved: a list, or"
            " one pattern with its evidence. With what and why, recommend a decision; a person decides."
        ),
        operations=("list_patterns", "get_pattern", "recommend_pattern"),
        own=_CURSOR,
        left_out={
            "min_frequency": "the default hides what too few sessions show",
            "limit": _BUDGET,
            "effect": "a page always includes the effect of the rule",
            "who": _CALLER,
            "domain": _DOMAIN,
        },
        descriptions={"project": 'only seen in this project: its directory, or "." for the current one'},
        is_idempotent=True,
    ),
)
