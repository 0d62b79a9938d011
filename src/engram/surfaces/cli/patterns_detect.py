"""`engram patterns detect`."""

from __future__ import annotations

import click

from engram.api import Engram
from engram.surfaces.cli.ingest import print_config_notes
from engram.surfaces.cli.options import find_project, json_option, limit_option, project_option
from engram.surfaces.cli.output import show_result

_DEFAULT_FREQUENCY = 2


def _detect_patterns(
    min_frequency: int | None, project: str | None, since: str | None, limit: int, config: str | None, as_json: bool
) -> None:  # fmt: skip
    """Scan new sessions for recurring problems and rank them as candidates for a rule."""
    with Engram() as engram:
        frequency = min_frequency or _apply_config(engram, config) or _DEFAULT_FREQUENCY
        show_result(engram.detect(frequency, find_project(engram, project), since, limit), as_json)


def _apply_config(engram: Engram, path: str | None) -> int | None:
    """Apply a config.toml of session_memory and return its min_frequency."""
    if not path:
        return None
    from engram.compat.session_memory import apply_domains, read_config

    config = read_config(path)
    print_config_notes(path, config.notes)
    apply_domains(engram, config)
    return config.min_frequency


COMMANDS = {
    "patterns detect": click.Command(
        "detect",
        callback=_detect_patterns,
        help=_detect_patterns.__doc__,
        params=[
            click.Option(
                ["--min-frequency"],
                type=int,
                help=f"Minimum number of sessions that show it. Default: {_DEFAULT_FREQUENCY}.",
            ),
            project_option(),
            click.Option(["--since"], help="Only events since: 7d, 12h, 2026-11-01, 'last week'."),
            limit_option(30, "candidates"),
            click.Option(["--config"], help="Read domains and min_frequency from a config.toml of session_memory."),
            json_option(),
        ],
    )
}
