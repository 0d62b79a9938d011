"""The command that detects patterns."""

from __future__ import annotations

import click

from engram.api import Engram
from engram.surfaces.cli import render_patterns as _  # noqa: F401  candidates learn to be shown
from engram.surfaces.cli.commands import json_option, project_at, project_option, show


def _detect(min_frequency: int, project: str | None, since: str | None, limit: int, as_json: bool) -> None:
    """Look through new sessions and rank what keeps going wrong or right, as candidates for a rule."""
    with Engram() as engram:
        show(engram.detect(min_frequency, project_at(project), since, limit), as_json)


detect = click.Command(
    "detect", callback=_detect, help=_detect.__doc__,
    params=[
        click.Option(["--min-frequency"], type=int, default=2, show_default=True, help="Sessions that must show it."),
        project_option(),
        click.Option(["--since"], help="Only what happened since: 7d, 12h, 2026-11-01, 'last week'."),
        click.Option(["--limit"], type=int, default=30, show_default=True, help="At most so many."),
        json_option(),
    ],
)  # fmt: skip
