"""Give an agent what is known of a file or a command when it uses it.

Most tools touch nothing that is known, so each moment asks one cheap question first and imports the rest only then.
"""

from __future__ import annotations

from engram.agents.agent import BEFORE
from engram.store import cases, handled_events, session_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.hub import Hub
    from engram.search.push_record import Push
    from engram.store.engine import Row
    from engram.surfaces.hooks.hook_event import HookEvent

_SHELL_MARKS = str.maketrans("&|;()\n\"'", "        ")
_READ_CHARACTERS, _READ_WORDS = 4000, 60


def push_for_file(hub: Hub, event: HookEvent, session: Row, moment: str, path: str) -> str:
    """Return what was decided about a file that a session reads or edits for the first time, or an empty string."""
    path = path.replace("\\", "/")
    leaf = path.rpartition("/")[2].lower()
    if not cases.is_anchored(hub.engine, session["project"], leaf):
        return ""
    if not _is_first(hub, event, "read", path):
        return ""

    def choose() -> Push:
        from engram.search.push import choose_for_file

        return choose_for_file(hub, session, path)

    return _push(hub, session, moment, choose)


def push_for_command(hub: Hub, event: HookEvent, session: Row) -> str:
    """Return that a command is known to fail here or was refused, or an empty string.

    After the tool, for an agent that hears nothing before it, a command that worked is told only of a refusal.
    """
    command = read_command(event)
    programs = session_errors.list_known_programs(hub.engine, session["project"], list_programs(command))
    if not programs:
        return ""
    from engram.evidence.command_shape import shape_command
    from engram.search.push_record import hash_text

    if not _is_first(hub, event, "command", hash_text(shape_command(command))):
        return ""
    only_refused = event.event != BEFORE and not event.failure

    def choose() -> Push:
        from engram.search.known_failures import choose_for_command

        return choose_for_command(hub, session, programs, command, only_refused=only_refused)

    return _push(hub, session, "command", choose)


def push_for_failure(hub: Hub, event: HookEvent, session: Row) -> str:
    """Return what ended the failure of a command before, or an empty string."""

    def choose() -> Push:
        from engram.search.known_failures import choose_for_failure

        return choose_for_failure(hub, session, read_command(event), event.failure)

    return _push(hub, session, "failure", choose)


def read_command(event: HookEvent) -> str:
    """Return the command of a shell tool."""
    command = event.tool_input.get("command") or event.tool_input.get("cmd") or ""
    if isinstance(command, list):
        words = [word for word in command if isinstance(word, str)]
        return words[-1] if words[1:2] in (["-c"], ["-lc"]) else " ".join(words)
    return command if isinstance(command, str) else ""


def list_programs(command: str) -> list[str]:
    """Return the words of a command line that may be programs, without the cost of parsing it."""
    words = command[:_READ_CHARACTERS].translate(_SHELL_MARKS).split()[:_READ_WORDS]
    names = (word.replace("\\", "/").rpartition("/")[2].lower() for word in words)
    return [name for name in dict.fromkeys(names) if name and name[0].isalnum()]


def _is_first(hub: Hub, event: HookEvent, name: str, what: str) -> bool:
    """Return whether a session comes to something for the first time."""
    with hub.engine.transaction():
        return handled_events.mark_first_time(
            hub.engine, event.flavor, event.session, name, what, hub.now(), handled_events.WEEK
        )


def _push(hub: Hub, session: Row, moment: str, choose: Callable[[], Push]) -> str:
    from engram.surfaces.hooks.timed_push import push_in_time

    return push_in_time(hub, session, moment, hub.settings.tool_recall, choose)
