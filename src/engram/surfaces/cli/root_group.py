"""The root of the command line: the overview, help, errors, and what is kept after Ctrl-C."""

from __future__ import annotations

import os
from typing import Any

import click

from engram.errors import Error
from engram.surfaces.cli.command_loader import LazyGroup
from engram.surfaces.cli.output import FAILED_KEY, print_error

_INTERRUPTED_STATUS = 130
_KEPT_WORK = {
    "ingest": "Sessions ingested so far are kept.",
    "digest": "Digests rebuilt so far are kept.",
    "dream": "Finished steps are kept.",
    "compile": "Pages compiled so far are kept.",
    "index": "Texts indexed so far are kept.",
    "summarize": "Summaries written so far are kept.",
    "integrate": "Documents written so far are kept.",
    "flush": "Entries written so far are kept.",
    "import": "Rows imported so far are kept; nothing is imported twice.",
    "init": "`engram uninit` removes what was written.",
}


class RootGroup(LazyGroup):
    """The whole command line: a screen without a command, one line for an error, JSON if asked for."""

    def format_help(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        from engram.surfaces.cli.help_screen import format_main_help

        formatter.write(format_main_help())

    def invoke(self, ctx: click.Context) -> Any:
        if os.environ.get("NO_COLOR"):
            ctx.color = False
        try:
            return self._invoke_command(ctx)
        except Error as error:
            print_error(error)
            ctx.exit(error.exit)
        except KeyboardInterrupt:
            click.echo(f"\nStopped. {_KEPT_WORK.get(ctx.invoked_subcommand or '', '')}".rstrip(), err=True)
            ctx.exit(_INTERRUPTED_STATUS)

    def _invoke_command(self, ctx: click.Context) -> Any:
        from engram.surfaces.cli import migration_hints

        migration_hints.print_variable_hints()
        if ctx.invoked_subcommand is None and not ctx._protected_args:
            from engram.surfaces.cli.overview import show_overview

            show_overview()
            return None
        result = super().invoke(ctx)
        if ctx.meta.get(FAILED_KEY):
            ctx.exit(1)
        return result


def build_command_line() -> click.Group:
    """Return the whole command line."""
    from engram import __version__

    settings = {"help_option_names": ["-h", "--help"], "token_normalize_func": _normalize_option}
    root = RootGroup(name="engram", context_settings=settings, invoke_without_command=True)
    click.version_option(__version__, prog_name="engram")(root)
    return root


def _normalize_option(name: str) -> str:
    """Accept the older name of an option."""
    return "agent" if name == "flavor" else name
