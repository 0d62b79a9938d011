"""The command that detects patterns."""

from __future__ import annotations

import click

from engram.api import Engram
from engram.compat.session_memory import apply_domains, read_config
from engram.surfaces.cli import render_patterns as _  # noqa: F401  candidates learn to be shown
from engram.surfaces.cli.capture import tell_notes
from engram.surfaces.cli.commands import json_option, project_at, project_option, show

_FREQUENT = 2


def _detect(
    min_frequency: int | None, project: str | None, since: str | None, limit: int, config: str | None, as_json: bool
) -> None:  # fmt: skip
    """Look through new sessions and rank what keeps going wrong or right, as candidates for a rule."""
    given = read_config(config) if config else None
    if given is not None:
        tell_notes(config or "", given.notes)
    least = min_frequency or (given.min_frequency if given else None) or _FREQUENT
    with Engram() as engram:
        if given is not None:
            apply_domains(engram, given)
        show(engram.detect(least, project_at(project), since, limit), as_json)


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
