"""Click commands built from operations: parameters, help and defaults come from the operation's signature."""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib import import_module
from typing import Any

import click

from engram.errors import InvalidInput, MissingInput
from engram.hub import Hub
from engram.operation import Operation, find_operation
from engram.platform import host
from engram.platform.text import list_first
from engram.platform.value import value
from engram.sessions import caller, checkouts, project_names
from engram.surfaces.cli import options as shared_options
from engram.surfaces.cli.acting_session import find_acting_session, find_own_shell, find_session_type
from engram.surfaces.cli.output import announce_unread, mark_failed, print_notice, print_text, show_result
from engram.surfaces.cli.render import render
from engram.surfaces.cli.render.layout import MAX_ITEMS
from engram.surfaces.cli.render.project_labels import use_labels
from engram.surfaces.signature import Parameter, list_parameters

_SESSION_PARAMETERS = ("session_id", "sender", "updated_by")  # parameters that name the acting session
_PIPED_PARAMETERS = ("summary", "entry", "completion_summary", "body", "content")  # may come from a pipe
_FILLED_PARAMETERS = ("cwd",)  # filled in here, not by the user
_SHORT_FLAGS = {"session": "-s", "project": "-p", "note": "-m", "wait": "-w", "limit": "-n"}
_OPTION_NAMES = {"session_type": "type", "everything": "all", "own": "engram", "attempt": "try", "flavor": "agent"}


@value
class CommandSpec:
    """How an operation is called on the command line."""

    path: str
    operation: str  # its module below `engram`, and its function: "sessions.lifecycle:register"
    positional: tuple[str, ...] = ()
    reads_stdin: bool = True  # a missing text is read from a pipe
    empty_message: str = ""  # printed instead of an empty list
    item_name: str = ""  # if set, the first items of a list are shown one by one, not as a table
    announces_wait: bool = False  # names the holder before it waits for a lock
    json_operation: str = ""  # the operation whose result --json prints, if it is another
    document: str = ""  # the kind of versioned document it shows
    name_parameter: str = ""  # the parameter that names the document
    failure_field: str = ""  # the field of the result that lists failures: exit status 1 if it is not empty
    runner: str = ""  # a function of this package that runs the operation instead: "progress_runs:run_compile"


def load_operation(reference: str) -> Operation:
    """Import the module of an operation and return it."""
    module_name, _, name = reference.partition(":")
    import_module(f"engram.{module_name}")
    operation = find_operation(name)
    assert operation is not None, reference
    return operation


def build_command(spec: CommandSpec) -> click.Command:
    """Return the click command for an operation."""
    operation = load_operation(spec.operation)
    parameters = list_parameters(operation)
    click_parameters: list[click.Parameter] = [
        _build_argument(p) if p.name in spec.positional else _build_option(p, operation.writes)
        for p in parameters
        if p.name not in _FILLED_PARAMETERS
    ]
    if spec.document:
        from engram.surfaces.cli import document_options

        click_parameters += document_options.build_version_options(spec.document, parameters)
    click_parameters.sort(key=lambda parameter: _get_sort_position(spec, parameter))

    def run(**options: Any) -> None:
        as_json, version_option = options.pop("as_json"), _pop_version_option(spec, options)
        with Hub() as hub:
            use_labels(partial(project_names.name_projects, hub))
            arguments = {p.name: _resolve_argument(hub, spec, p, options) for p in parameters}
            if version_option:
                _show_version(hub, spec, arguments, version_option, as_json)
                return
            run_and_show(hub, spec, operation, {k: v for k, v in arguments.items() if v is not ...}, as_json)

    return click.Command(
        spec.path.rpartition(" ")[2],
        params=[*click_parameters, shared_options.json_option()],
        callback=run,
        help=operation.call.__doc__ or "",
    )


def run_and_show(hub: Hub, spec: CommandSpec, operation: Operation, arguments: dict[str, Any], as_json: bool) -> None:
    """Run an operation and show its result."""
    if as_json and spec.json_operation:
        operation = load_operation(spec.json_operation)
        names = {p.name for p in list_parameters(operation)}
        arguments = {name: argument for name, argument in arguments.items() if name in names}
    if spec.announces_wait:
        _announce_waiting(hub, arguments)
    result = _call_operation(hub, spec, operation, arguments)
    if spec.item_name and not as_json:
        print_text("\n".join(list_first(result, MAX_ITEMS, render, spec.item_name)))
    else:
        show_result(result, as_json, spec.empty_message)
    if spec.failure_field and getattr(result, spec.failure_field):
        mark_failed()
    if operation.name == "register" and not as_json:
        _print_session_hint(hub, result)
    actor = next((arguments[name] for name in _SESSION_PARAMETERS if arguments.get(name)), None)
    if actor and operation.writes and operation.name != "inbox":
        announce_unread(hub, actor)


def _call_operation(hub: Hub, spec: CommandSpec, operation: Operation, arguments: dict[str, Any]) -> Any:
    if not spec.runner:
        return operation.call(hub, **arguments)
    module_name, _, name = spec.runner.partition(":")
    run = getattr(import_module(f"engram.surfaces.cli.{module_name}"), name)
    return run(hub, operation, arguments)


def _pop_version_option(spec: CommandSpec, options: dict[str, Any]) -> dict[str, Any]:
    if not spec.document:
        return {}
    from engram.surfaces.cli import document_options

    return document_options.pop_version_option(options)


def _show_version(
    hub: Hub, spec: CommandSpec, arguments: dict[str, Any], version_option: dict[str, Any], as_json: bool
) -> None:
    from engram.surfaces.cli import document_options

    name = arguments.get(spec.name_parameter)
    result = document_options.run_version_option(hub, spec.document, name, version_option)
    show_result(result, as_json, "No older version is kept.")


def _announce_waiting(hub: Hub, arguments: dict[str, Any]) -> None:
    """Say whose lock a request will wait for, before it waits."""
    from engram.sessions import locks

    session_id, cwd = arguments["session_id"], arguments["cwd"]
    for resource in arguments["resources"] if arguments["wait"] else ():
        for lock in locks.check_locks(hub, resource, session_id, cwd):
            if lock.session_id != session_id and lock.mode != "announce":
                notice = f"Waiting up to {arguments['wait']:g} s: {lock.resource} is locked by {lock.session_id}."
                click.echo(notice, err=True)


def _print_session_hint(hub: Hub, session_id: str) -> None:
    """Tell a person how later commands know the session, unless they find it by themselves."""
    if sys.stderr.isatty() and find_acting_session(hub, None, is_required=False) != session_id:
        print_notice(f"Next: export ENGRAM_SESSION={session_id}")


def _build_argument(parameter: Parameter) -> click.Argument:
    many = parameter.type is list
    required = (
        parameter.required and parameter.name not in _PIPED_PARAMETERS and parameter.name not in _SESSION_PARAMETERS
    )
    kind = click.INT if parameter.type is int else click.STRING
    return click.Argument([parameter.name], required=required, nargs=-1 if many else 1, type=kind)


def _build_option(parameter: Parameter, writes: bool) -> click.Option:
    if parameter.name in _SESSION_PARAMETERS:
        return shared_options.session_option(parameter.name == "session_id" and parameter.required)
    if parameter.name == "project":
        return shared_options.project_option(_to_sentence(parameter.help) if writes else "")
    name = _OPTION_NAMES.get(parameter.name, parameter.name)
    flags = [_SHORT_FLAGS[name]] if name in _SHORT_FLAGS else []
    flags.append(f"--{_to_option_name(name)}")
    kind: Any = {int: int, float: float}.get(parameter.type, str)
    if parameter.choices:
        kind = click.Choice(parameter.choices)
    shared: dict[str, Any] = {"help": _to_sentence(parameter.help), "default": parameter.default}
    if parameter.type is bool:
        return click.Option([*flags, parameter.name], is_flag=True, **shared)
    shared["show_default"] = parameter.default not in (None, "")
    if parameter.type is list:
        shared |= {"multiple": True, "default": ()}
    return click.Option([*flags, parameter.name], type=kind, **shared)


def _get_sort_position(spec: CommandSpec, parameter: click.Parameter) -> int:
    """Return the place of a parameter: arguments in the order the command names them, options behind."""
    return spec.positional.index(parameter.name or "") if parameter.name in spec.positional else 99


def _resolve_argument(hub: Hub, spec: CommandSpec, parameter: Parameter, options: dict[str, Any]) -> Any:
    """Return the argument for a parameter; `...` leaves it to its default."""
    name = parameter.name
    if name == "cwd":
        return host.get_working_directory()
    if name in _SESSION_PARAMETERS and name not in spec.positional:
        is_required = name == "session_id" and parameter.required
        return find_acting_session(hub, options["session"], is_required=is_required)
    if name in _SESSION_PARAMETERS:
        return find_acting_session(hub, options[name])
    if name == "project":
        return _find_project(hub, spec, options)
    if name == "session_type":
        return options[name] or find_session_type()
    if spec.path == "register" and name in ("flavor", "native_id"):
        return _find_native_identity(options)[name]
    if spec.path == "register" and name == "pid" and options[name] is None:
        return find_own_shell()
    if name == "metadata":
        return _parse_metadata(options[name])
    if name == "resources" and not options[name]:
        raise InvalidInput(field="resources", reason="Name at least one file, directory, glob or name.")
    if name in _PIPED_PARAMETERS and name in spec.positional and spec.reads_stdin:
        return _read_text(parameter, options[name])
    if options[name] == () and not parameter.required:
        return ...
    return list(options[name]) if isinstance(options[name], tuple) else options[name]


def _find_project(hub: Hub, spec: CommandSpec, options: dict[str, Any]) -> str | None:
    """Return the project an option names; a message without a sender goes to the current directory's."""
    project = shared_options.find_project(hub, options["project"])
    if project is None and spec.path == "send" and not find_acting_session(hub, options["session"], is_required=False):
        return checkouts.find_project(hub, host.get_working_directory())
    return project


def _read_text(parameter: Parameter, argument: str | None) -> str | None:
    """Return a text given as an argument, or read from a pipe."""
    if argument is not None and argument != "-":
        return argument
    piped_text = "" if argument is None and sys.stdin.isatty() else sys.stdin.buffer.read().decode("utf-8", "replace")
    if piped_text.strip() or argument == "-":
        return piped_text.rstrip("\n")
    reason = f"No {parameter.name.upper()} given ({parameter.help}). Pass it as an argument or through a pipe."
    raise MissingInput(field=parameter.name, reason=reason)


def _parse_metadata(raw_metadata: str | None) -> Any:
    import json

    try:
        return None if raw_metadata is None else json.loads(raw_metadata)
    except ValueError:
        return raw_metadata  # free text is fine as well


def _find_native_identity(options: dict[str, Any]) -> dict[str, str | None]:
    """Return agent and native id as given, or as the agent that runs us names its session."""
    flavor, native_id = caller.find_own_native_id(os.environ) or (None, None)
    if options["native_id"] or options["flavor"] not in (None, flavor):
        flavor = native_id = None
    return {"flavor": options["flavor"] or flavor, "native_id": options["native_id"] or native_id}


def _to_sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _to_option_name(name: str) -> str:
    return name.replace("_", "-")
