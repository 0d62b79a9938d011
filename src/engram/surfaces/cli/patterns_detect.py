"""The command that detects patterns."""

from __future__ import annotations

import click

from engram.api import Engram
from engram.surfaces.cli import render_patterns as _  # noqa: F401  candidates learn to be shown
from engram.surfaces.cli.capture import tell_notes
from engram.surfaces.cli.commands import json_option, project_at, project_option, show

_FREQUENT = 2


def _detect(
    min_frequency: int | None, project: str | None, since: str | None, limit: int, config: str | None, as_json: bool
) -> None:  # fmt: skip
    """Look through new sessions and rank what keeps going wrong or right, as candidates for a rule."""
    with Engram() as engram:
        least = min_frequency or _configured(engram, config) or _FREQUENT
        show(engram.detect(least, project_at(project), since, limit), as_json)


def _configured(engram: Engram, path: str | None) -> int | None:
    """Apply a config.toml of session_memory, and return the frequency it asks for."""
    if not path:
        return None
    from engram.compat.session_memory import apply_domains, read_config

    config = read_config(path)
    tell_notes(path, config.notes)
    apply_domains(engram, config)
    return config.min_frequency


detect = click.Command(
    "detect", callback=_detect, help=_detect.__doc__,
    params=[
        click.Option(["--min-frequency"], type=int, help=f"Sessions that must show it; {_FREQUENT} if not given."),
        project_option(),
        click.Option(["--since"], help="Only what happened since: 7d, 12h, 2026-11-01, 'last week'."),
        click.Option(["--limit"], type=int, default=30, show_default=True, help="At most so many."),
        click.Option(["--config"], help="Domains and min_frequency of this config.toml of session_memory."),
        json_option(),
    ],
)  # fmt: skip
