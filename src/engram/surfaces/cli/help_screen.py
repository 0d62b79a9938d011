"""`engram --help` and `engram help`: the everyday commands first, the others by group."""

from __future__ import annotations

import click

from engram.surfaces.cli.render.layout import wrap_text

EVERYDAY = ("init", "sessions", "show", "recall", "ask", "cost", "ui", "dream", "patterns", "doctor")
GROUPS = {
    "agents": (
        "running agents: sessions, locks, messages, world state",
        (
            "sitrep", "register", "heartbeat", "log", "logs", "complete", "lock", "unlock", "locks", "send", "inbox",
            "messages", "world", "activity",
        ),
    ),
    "memory": (
        "what is remembered: notes, summaries, profile, days",
        (
            "remember", "get", "context", "playbook", "decisions", "open", "episodes", "history", "recent", "digest",
            "outcome", "gist", "eras", "profile", "narrative", "self", "projects", "days", "pushed", "delete", "memory",
        ),
    ),
    "wiki": (
        "daily logs and the pages compiled from them",
        ("wiki", "flush", "compile", "lint", "failures"),
    ),
    "admin": (
        "ingest and import, indexes, servers, checks, settings",
        (
            "ingest", "import", "index", "summarize", "integrate", "backlog", "stats", "storage", "check", "hooks",
            "model", "config", "uninit", "serve", "mcp", "hook", "completion", "demo", "help",
        ),
    ),
}  # fmt: skip
_NAME_WIDTH = 11


def format_main_help() -> str:
    """Return the first screen of help."""
    lines = [
        "One memory for every coding agent.",
        "",
        "Usage: engram COMMAND [OPTIONS]. Without a command: an overview.",
        "",
    ]
    lines += [_format_command_line(name) for name in EVERYDAY]
    lines += ["", "More commands, explained by `engram help GROUP` or `engram help all`:"]
    lines += [f"  {name:<{_NAME_WIDTH}}{description}" for name, (description, _) in GROUPS.items()]
    return "\n".join(lines) + "\n"


def show_help(topic: tuple[str, ...]) -> None:
    """Explain a command or a group of commands."""
    root = click.get_current_context().find_root()
    if not topic:
        click.echo(format_main_help(), nl=False)
    elif topic == ("all",):
        click.echo("\n\n".join(_format_group(name) for name in ("everyday", *GROUPS)))
    elif len(topic) == 1 and topic[0] in GROUPS and topic[0] != "wiki":
        click.echo(_format_group(topic[0]))
    else:
        _show_command_help(root, topic)


def _show_command_help(root: click.Context, path: tuple[str, ...]) -> None:
    context, command = root, root.command
    for name in path:
        subcommand = command.get_command(context, name) if isinstance(command, click.Group) else None
        if subcommand is None:
            raise click.UsageError(f"No such command: {' '.join(path)}. `engram help all` lists all commands.")
        context, command = click.Context(subcommand, info_name=name, parent=context), subcommand
    click.echo(command.get_help(context))
    if path == ("wiki",):
        click.echo(f"\n{_format_group('wiki')}")


def _format_group(name: str) -> str:
    if name == "everyday":
        return "\n".join([click.style("Everyday commands", bold=True), *map(_format_command_line, EVERYDAY)])
    description, names = GROUPS[name]
    heading = click.style(description[:1].upper() + description[1:], bold=True)
    return "\n".join([heading, *map(_format_command_line, names)])


def _format_command_line(name: str) -> str:
    margin = " " * (2 + _NAME_WIDTH)
    summary = wrap_text(get_summary(name), margin)
    return f"  {name:<{_NAME_WIDTH}}{summary.removeprefix(margin)}"


def get_summary(path: str) -> str:
    """Return the first sentence of a command's help."""
    from engram.surfaces.cli.command_loader import load_command

    command = load_command(path)
    assert command is not None, path
    first_paragraph = " ".join((command.help or "").strip().split("\n\n")[0].split())
    return first_paragraph.partition(". ")[0].rstrip(".")


COMMANDS = {
    "help": click.Command(
        "help",
        callback=show_help,
        help=show_help.__doc__,
        params=[click.Argument(["topic"], nargs=-1, metavar="[COMMAND | GROUP | all]")],
    )
}
