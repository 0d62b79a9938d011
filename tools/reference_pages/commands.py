"""The reference of the command line, from the click commands."""

from __future__ import annotations

import click

from engram.surfaces.cli.command_loader import LazyGroup, load_command
from engram.surfaces.cli.command_table import COMMANDS
from engram.surfaces.cli.command_table import GROUPS as SUBCOMMANDS
from engram.surfaces.cli.commands import load_operation
from engram.surfaces.cli.help_screen import EVERYDAY, GROUPS
from engram.surfaces.signature import list_parameters
from tools.reference_pages.markdown import (
    NOTICE,
    format_code,
    format_docstring,
    format_list,
    format_sentence,
    join_blocks,
)

_INTRODUCTION = """
`engram` without a command shows an overview. `engram --help` lists the everyday commands, `engram help all` lists all
of them, and `--help` explains each one. Nearly all take `--json`.

Exit status: 0 for success, 1 for an error, 2 for wrong usage, 3 if a lock or an edit is refused.

Name a session by its id, by the short id that lists show, by the beginning of its id, or by the id its agent gave it.
Name a project by the name of its directory or by its path.
"""
_SPECS = {spec.path: spec for spec in COMMANDS}


def build_page() -> str:
    """Return the page."""
    blocks = ["# Commands", NOTICE, _INTRODUCTION, "## Everyday commands", *map(_build_section, EVERYDAY)]
    for name, (description, paths) in GROUPS.items():
        blocks += [f"## {name.capitalize()}: {description}", *map(_build_section, paths)]
    return join_blocks(*blocks)


def _build_section(path: str, level: str = "###") -> str:
    command = load_command(path)
    assert command is not None, path
    heading, help_text = f"{level} engram {path}", format_docstring(command.help)
    if isinstance(command, LazyGroup):
        _, default = SUBCOMMANDS[path]
        note = f"Without a subcommand: `engram {path} {default}`." if default else ""
        names = command.list_commands(click.Context(command))
        return join_blocks(heading, help_text, note, *(_build_section(f"{path} {name}", "####") for name in names))
    return join_blocks(
        heading,
        format_code(_format_usage(path, command)),
        help_text,
        format_list(_list_arguments(path, command)),
        format_list([_format_option(p) for p in command.params if isinstance(p, click.Option) and not p.hidden]),
    )


def _format_usage(path: str, command: click.Command) -> str:
    arguments = [_format_argument(p) for p in command.params if isinstance(p, click.Argument)]
    has_options = any(isinstance(p, click.Option) for p in command.params)
    return " ".join([f"engram {path}", *(["[OPTIONS]"] if has_options else []), *arguments])


def _format_argument(argument: click.Argument) -> str:
    if argument.metavar:
        return argument.metavar
    name = _format_type(argument) if isinstance(argument.type, click.Choice) else (argument.name or "").upper()
    name = name if argument.required or name.startswith("[") else f"[{name}]"
    return f"{name}..." if argument.nargs == -1 else name


def _list_arguments(path: str, command: click.Command) -> list[str]:
    """Describe the arguments of a command built from an operation; the help text of the others names them."""
    if path not in _SPECS:
        return []
    descriptions = {p.name: p.help for p in list_parameters(load_operation(_SPECS[path].operation))}
    names = [p.name or "" for p in command.params if isinstance(p, click.Argument)]
    return [f"`{name.upper()}`: {format_sentence(descriptions[name])}" for name in names]


def _format_option(option: click.Option) -> str:
    names = [*option.opts, *option.secondary_opts]
    if not option.is_flag:
        names[-1] += f" {_format_type(option)}"
    notes = [format_sentence(option.help or ""), _format_range(option), _format_default(option)]
    if option.multiple and "repeated" not in notes[0]:
        notes.append("Can be repeated.")
    return f"{', '.join(f'`{name}`' for name in names)}: {' '.join(note for note in notes if note)}"


def _format_type(parameter: click.Parameter) -> str:
    if parameter.metavar:
        return parameter.metavar
    if isinstance(parameter.type, click.Choice):
        return f"[{'|'.join(map(str, parameter.type.choices))}]"
    return parameter.type.name.removesuffix(" range").upper()


def _format_range(option: click.Option) -> str:
    if not isinstance(option.type, click.IntRange | click.FloatRange):
        return ""
    least, most = option.type.min, option.type.max
    if most is None:
        return f"At least {least:g}."
    return f"From {least:g} to {most:g}."


def _format_default(option: click.Option) -> str:
    if option.is_flag and option.secondary_opts:
        return f"Default: `{option.opts[0] if option.default else option.secondary_opts[0]}`."
    if isinstance(option.default, bool) or not isinstance(option.default, str | int | float):
        return ""
    return f"Default: {option.default}." if option.default != "" else ""
