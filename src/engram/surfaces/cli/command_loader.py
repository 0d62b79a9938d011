"""Commands, built or imported when they are called: most calls need one."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from engram.surfaces.cli.command_table import COMMANDS, GROUPS, MODULES
from engram.surfaces.cli.commands import build_command

_SPECS = {spec.path: spec for spec in COMMANDS}


class LazyGroup(click.Group):
    """A group whose commands come from the table."""

    def __init__(self, prefix: str = "", default_command: str = "", **group_options: Any) -> None:
        super().__init__(**group_options)
        self.prefix, self.default_command = prefix, default_command

    def list_commands(self, _: click.Context) -> list[str]:
        paths = [*_SPECS, *MODULES, *(() if self.prefix else GROUPS)]
        names = {path.removeprefix(self.prefix) for path in paths if path.startswith(self.prefix)}
        return sorted(name for name in names if " " not in name)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        return load_command(f"{self.prefix}{cmd_name}")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f" Did you mean `{near[0]}`?" if near else f" `{ctx.command_path} --help` lists the commands."
            raise click.UsageError(f"No such command: {args[0]}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        if self.default_command and not ctx._protected_args and not ctx.args:
            command = self.get_command(ctx, self.default_command)
            assert command is not None
            with command.make_context(self.default_command, [], parent=ctx) as child:
                return command.invoke(child)
        return super().invoke(ctx)


def load_command(path: str) -> click.Command | None:
    """Return the command of a path such as `wiki show`; None if there is none."""
    if path in _SPECS:
        return build_command(_SPECS[path])
    if path in MODULES:
        commands: dict[str, click.Command] = import_module(f"engram.surfaces.cli.{MODULES[path]}").COMMANDS
        return commands[path]
    if path in GROUPS:
        help_text, default_command = GROUPS[path]
        return LazyGroup(
            f"{path} ", default_command, name=path, help=help_text, invoke_without_command=bool(default_command)
        )
    return None
