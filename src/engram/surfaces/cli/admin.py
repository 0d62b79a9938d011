"""`engram config`, `engram completion` and `engram demo`."""

from __future__ import annotations

import os

import click

from engram.settings import Settings, hide_password, load_settings
from engram.surfaces.cli.options import json_option
from engram.surfaces.cli.output import print_notice, show_result
from engram.surfaces.cli.render.layout import shorten_home


def show_settings(as_json: bool) -> None:
    """Show the settings in force and how to change them."""
    settings = load_settings()
    settings_by_name = {name: getattr(settings, name) for name in Settings.__annotations__}
    settings_by_name["store"] = hide_password(settings.store)
    if as_json:
        show_result(settings_by_name, as_json)
        return
    click.echo("\n".join(f"{name} = {setting!r}" for name, setting in settings_by_name.items()))
    config_path = shorten_home(os.path.join(settings.home, "config.toml"))
    print_notice(f"\nChange one in {config_path}, or with ENGRAM_<NAME> in the environment.")


def print_completion_script(shell: str) -> None:
    """Print the completion script for a shell. Use it as: eval "$(engram completion bash)"."""
    from click.shell_completion import get_completion_class

    completion_class = get_completion_class(shell)
    assert completion_class is not None  # click knows the shells we name
    click.echo(
        completion_class(click.get_current_context().find_root().command, {}, "engram", "_ENGRAM_COMPLETE").source()
    )


def show_demo(keep: bool, as_json: bool) -> None:
    """Show how Engram works on a made-up history, in a temporary home.

    Your agents, transcripts and store are neither read nor changed.
    """
    from engram.surfaces.cli.demo import play_demo

    play_demo(keep, as_json)


COMMANDS = {
    "config": click.Command("config", callback=show_settings, help=show_settings.__doc__, params=[json_option()]),
    "completion": click.Command(
        "completion", callback=print_completion_script, help=print_completion_script.__doc__,
        params=[click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]))],
    ),
    "demo": click.Command(
        "demo", callback=show_demo, help=show_demo.__doc__,
        params=[
            click.Option(["--keep"], is_flag=True, help="Keep the temporary home and print where it is."),
            json_option(),
        ],
    ),
}  # fmt: skip
