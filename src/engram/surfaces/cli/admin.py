"""`engram config`, `engram completion` and `engram demo`."""

from __future__ import annotations

import os

import click

from engram.errors import SettingsInvalid
from engram.settings import Settings, hide_password, load_settings
from engram.surfaces.cli.options import json_option
from engram.surfaces.cli.output import print_notice, show_result
from engram.surfaces.cli.render.layout import shorten_home


def show_settings(name: str | None, value: str | None, as_json: bool) -> None:
    """Show the settings in force, or change one: `engram config model none`."""
    if name is not None and value is not None:
        _change_setting(name, value)
    settings = load_settings()
    if name is not None:
        _show_setting(settings, name, as_json)
        return
    settings_by_name = {name: getattr(settings, name) for name in Settings.__annotations__}
    settings_by_name["store"] = hide_password(settings.store)
    if as_json:
        show_result(settings_by_name, as_json)
        return
    click.echo("\n".join(f"{name} = {setting!r}" for name, setting in settings_by_name.items()))
    config_path = shorten_home(os.path.join(settings.home, "config.toml"))
    print_notice(
        f"\nChange one with `engram config NAME VALUE`, in {config_path}, or with ENGRAM_<NAME> in the environment."
    )


def _change_setting(name: str, value: str) -> None:
    """Write a setting, and say if the environment overrides it."""
    from engram.install.settings_file import save_settings

    path = save_settings(load_settings().home, {name: value})
    print_notice(f"Saved in {shorten_home(path)}.")
    if os.environ.get(f"ENGRAM_{name.upper()}"):
        print_notice(f"ENGRAM_{name.upper()} in the environment overrides it here.")


def _show_setting(settings: Settings, name: str, as_json: bool) -> None:
    if name not in Settings.__annotations__:
        raise SettingsInvalid(source="name", reason=f"Unknown setting {name}. `engram config` lists them all.")
    setting = hide_password(settings.store) if name == "store" else getattr(settings, name)
    show_result({name: setting}, True) if as_json else click.echo(f"{name} = {setting!r}")


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
    "config": click.Command(
        "config", callback=show_settings, help=show_settings.__doc__,
        params=[click.Argument(["name"], required=False), click.Argument(["value"], required=False), json_option()],
    ),
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
