"""Click commands made from operations."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from engram import host, text
from engram.api import Engram
from engram.coordination import callers, messages, projects, sessions
from engram.coordination.claims import MODES
from engram.errors import InvalidInput
from engram.operation import Operation, find
from engram.store import sessions as session_store
from engram.surfaces.cli import versioned
from engram.surfaces.cli.render import render
from engram.surfaces.encode import to_json
from engram.surfaces.signature import Parameter, parameters
from engram.value import value

_SESSIONS = ("session_id", "sender", "updated_by")  # parameters that say who acts
_TEXTS = ("summary", "entry", "completion_summary", "body", "content")  # may come from a pipe
_HIDDEN = ("cwd",)  # filled in by us
_SHORT = {"session": "-s", "project": "-p", "note": "-m", "wait": "-w", "limit": "-n"}
_RENAMED = {"session_type": "type", "everything": "all", "own": "engram", "attempt": "try"}


@value
class Command:
    """How an operation is called on the command line."""

    path: str
    operation: str
    positional: tuple[str, ...] = ()
    stdin: bool = True  # a missing text is read from a pipe
    empty: str = ""  # what to say when a list has nothing
    each: bool = False  # what a list holds is told one by one, not as a table
    patient: bool = False  # says whom it waits for before it waits
    plain: str = ""  # the operation whose value --json shows, if it is another
    document: str = ""  # the kind of versioned document it shows
    named: str = ""  # the parameter that says which one


def build(command: Command, operation: Operation) -> click.Command:
    """Return the click command for an operation."""
    found = parameters(operation)
    shown = [_argument(p) if p.name in command.positional else _option(p) for p in found if p.name not in _HIDDEN]
    shown += versioned.options(command.document, found) if command.document else []
    ordered = sorted(shown, key=lambda each: _place(command, each))

    def run(**given: Any) -> None:
        as_json, asked = given.pop("as_json"), versioned.taken(given)
        with Engram() as engram:
            arguments = {p.name: _resolve(engram, command, p, given) for p in found}
            if asked:
                name = arguments.get(command.named)
                show(versioned.answered(engram, command.document, name, asked), as_json, "No version is kept.")
                return
            answer(engram, command, operation, {k: v for k, v in arguments.items() if v is not ...}, as_json)

    return click.Command(
        command.path.rpartition(" ")[2], params=[*ordered, json_option()], callback=run, help=_help(operation)
    )


def answer(engram: Engram, command: Command, operation: Operation, arguments: dict[str, Any], as_json: bool) -> None:
    """Carry an operation out and show what came of it."""
    shown = find(command.plain) if as_json and command.plain else None
    if shown is not None:
        operation, names = shown, {p.name for p in parameters(shown)}
        arguments = {name: argument for name, argument in arguments.items() if name in names}
    if command.patient:
        _announce_waiting(engram, arguments)
    result = operation.call(engram, **arguments)
    for part in result if command.each and not as_json else [result]:
        show(part, as_json, command.empty)
    if operation.name == "register" and not as_json:
        _advise(result)
    actor = next((arguments[name] for name in _SESSIONS if arguments.get(name)), None)
    if actor and operation.writes and operation.name != "inbox":
        tell(engram, actor)


def _announce_waiting(engram: Engram, arguments: dict[str, Any]) -> None:
    """Tell the user whom a claim will wait for, before it waits."""
    who, cwd = arguments["session_id"], arguments["cwd"]
    for resource in arguments["resources"] if arguments["wait"] else ():
        for lock in engram.check_locks(resource, who, cwd):
            if lock.session_id != who and lock.mode != "announce":
                words = f"Waiting up to {arguments['wait']:g} s: {lock.resource} is held by {lock.session_id}."
                click.echo(words, err=True)


def _advise(session_id: str) -> None:
    """Tell a person at a terminal how the next commands know who acts."""
    if sys.stderr.isatty() and host.agent() is None:
        click.echo(click.style(f"Next: export ENGRAM_SESSION={session_id}", dim=True), err=True)


def show(result: Any, as_json: bool, empty: str = "") -> None:
    """Print a result for a program or for a person."""
    if as_json:
        click.echo(to_json(result))
    else:
        say(render(result) if result or not empty else empty)


def say(words: str) -> None:
    """Print words; to an agent those of others come without the power to pass for its own."""
    click.echo(text.disarm(click.unstyle(words)) if _is_read_by_agent() else words)


def _is_read_by_agent() -> bool:
    return callers.named(os.environ) is not None or host.agent() is not None


def tell(engram: Engram, session_id: str) -> None:
    """Say on the side that messages wait."""
    known = session_store.get(engram.engine, session_id) is not None
    unread = messages.unread_count(engram, session_id) if known else 0
    if unread:
        click.echo(click.style(f"✉ {unread} unread: engram inbox -s {session_id}", fg="cyan"), err=True)


def json_option() -> click.Option:
    """Return the option every command has."""
    return click.Option(["--json", "as_json"], is_flag=True, help="Answer as JSON.")


def session_option(required: bool = True) -> click.Option:
    """Return the option that says which session acts."""
    note = "Who acts: ENGRAM_SESSION, or the session of the agent that runs this, if not given."
    return click.Option(
        ["-s", "--session"], help=note if required else f"{note} Nobody is fine too.", shell_complete=_complete_session
    )


def project_option() -> click.Option:
    """Return the option that names a project by any path inside it."""
    return click.Option(
        ["-p", "--project"], is_flag=False, flag_value=".", help="A project, by any path in it; alone: this one."
    )


def acting(engram: Engram, given: str | None, needed: bool = True) -> str | None:
    """Find out which session acts: by option, environment, or the agent above us, announced if it acts first."""
    named = given or os.environ.get("ENGRAM_SESSION")
    if named:
        return engram.get_session(named).id
    if callers.named(os.environ):
        found = callers.find(engram, os.environ)
        return found or (_announce(engram) if needed else None)
    above = sessions.current(engram)
    if above is None and needed:
        reason = "which one acts? Pass --session, set ENGRAM_SESSION, or run `engram register` first."
        raise InvalidInput(field="session", reason=reason)
    return above.id if above else None


def _announce(engram: Engram) -> str:
    return callers.announce(engram, os.environ, host.directory(), _session_type())


def project_at(path: str | None) -> str | None:
    """Return the project a path lies in."""
    if path is None:
        return None
    if not os.path.isdir(path):
        raise InvalidInput(field="project", reason=f"{path!r} is not a directory.")
    return projects.project_of(path)


def _argument(parameter: Parameter) -> click.Argument:
    many = parameter.type is list
    required = parameter.required and parameter.name not in _TEXTS and parameter.name not in _SESSIONS
    kind = click.INT if parameter.type is int else click.STRING
    return click.Argument([parameter.name], required=required, nargs=-1 if many else 1, type=kind)


def _option(parameter: Parameter) -> click.Option:
    if parameter.name in _SESSIONS:
        return session_option(parameter.name == "session_id" and parameter.required)
    if parameter.name == "project":
        return project_option()
    name = _RENAMED.get(parameter.name, parameter.name)
    flags = [_SHORT[name]] if name in _SHORT else []
    kind: Any = click.Choice(MODES) if name == "mode" else {int: int, float: float}.get(parameter.type, str)
    shared: dict[str, Any] = {"help": _sentence(parameter.help), "default": parameter.default}
    if parameter.type is bool:
        return click.Option([*flags, f"--{_dashed(name)}", parameter.name], is_flag=True, **shared)
    shared["show_default"] = parameter.default is not None
    if parameter.type is list:
        shared |= {"multiple": True, "default": ()}
    return click.Option([*flags, f"--{_dashed(name)}", parameter.name], type=kind, **shared)


def _place(command: Command, each: click.Parameter) -> int:
    """Sort arguments into the order the command names them, options behind."""
    return command.positional.index(each.name or "") if each.name in command.positional else 99


def _resolve(engram: Engram, command: Command, parameter: Parameter, given: dict[str, Any]) -> Any:
    """Return the argument for a parameter; `...` leaves it to its default."""
    name = parameter.name
    if name == "cwd":
        return host.directory()
    if name in _SESSIONS and name not in command.positional:
        return acting(engram, given["session"], needed=name == "session_id" and parameter.required)
    if name in _SESSIONS:
        return acting(engram, given[name])
    if name == "project":
        return project_at(given["project"])
    if name == "session_type":
        return given[name] or _session_type()
    if command.operation == "register" and name in ("flavor", "native_id"):
        return _identity(given)[name]
    if name == "metadata":
        return _parsed(given[name])
    if name == "resources" and not given[name]:
        raise InvalidInput(field="resources", reason="name at least one file, directory, glob or name.")
    if name in _TEXTS and name in command.positional and command.stdin:
        return _text(parameter, given[name])
    if given[name] == () and not parameter.required:
        return ...
    return list(given[name]) if isinstance(given[name], tuple) else given[name]


def _text(parameter: Parameter, given: str | None) -> str | None:
    """Return a text given as an argument, or read from a pipe."""
    if given is not None and given != "-":
        return given
    piped = "" if given is None and sys.stdin.isatty() else sys.stdin.buffer.read().decode("utf-8", "replace")
    if piped.strip() or given == "-":
        return piped.rstrip("\n")
    reason = f"it is missing: {parameter.help}. Give it as an argument, or pipe it in."
    raise InvalidInput(field=parameter.name, reason=reason)


def _parsed(given: str | None) -> Any:
    import json

    try:
        return None if given is None else json.loads(given)
    except ValueError:
        return given  # free text is fine as well


def _session_type() -> str:
    above = host.agent()
    return above[1] if above else "shell"


def _identity(given: dict[str, Any]) -> dict[str, str | None]:
    """Return flavor and native id as given, or as the agent that runs us names its session."""
    flavor, native = callers.named(os.environ) or (None, None)
    if given["native_id"] or given["flavor"] not in (None, flavor):
        flavor = native = None
    return {"flavor": given["flavor"] or flavor, "native_id": given["native_id"] or native}


def _complete_session(_: click.Context, __: click.Parameter, typed: str) -> list[str]:
    with Engram() as engram:
        return [session.id for session in engram.get_active_sessions(limit=50) if session.id.startswith(typed)]


def _help(operation: Operation) -> str:
    return operation.call.__doc__ or ""


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _dashed(name: str) -> str:
    return name.replace("_", "-")
