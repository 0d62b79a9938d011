"""`engram pushed`: what agents were given unasked, and what you say of it."""

from __future__ import annotations

import click

from engram.errors import InvalidInput
from engram.hub import Hub
from engram.surfaces.cli.options import find_project, json_option, limit_option, project_option
from engram.surfaces.cli.output import show_result
from engram.surfaces.cli.times import parse_hours_ago


def show_pushed(
    number: str | None, verdict: str | None, project: str | None, since: str | None, limit: int, as_json: bool
) -> None:
    """Show what agents were given unasked and why, newest first, or say what you think of one.

    useful is recorded. wrong is not given again until something newer is known. never is not given again in its
    project. none takes back what you said.
    """
    from engram.search import pushed

    with Hub() as hub:
        if number is None:
            listed = pushed.list_pushed(hub, find_project(hub, project), hours=parse_hours_ago(since), limit=limit)
            show_result(listed, as_json, "Agents were given nothing unasked.")
            return
        if verdict is None:
            raise InvalidInput(field="verdict", reason="Say useful, wrong, never or none after the number.")
        show_result(pushed.judge_pushed(hub, _parse_number(number), verdict), as_json)


def _parse_number(number: str) -> int:
    digits = number.removeprefix("#")
    if not digits.isdecimal():
        reason = f"{number!r} is not a number. `engram pushed` lists them."
        raise InvalidInput(field="number", reason=reason)
    return int(digits)


COMMANDS = {
    "pushed": click.Command(
        "pushed", callback=show_pushed, help=show_pushed.__doc__,
        params=[
            click.Argument(["number"], required=False),
            click.Argument(["verdict"], required=False, metavar="[useful|wrong|never|none]"),
            project_option(),
            click.Option(["--since"], help="Only what was given since then: 12h, 7d or 2026-11-01."),
            limit_option(20, "texts"),
            json_option(),
        ],
    ),
}  # fmt: skip
