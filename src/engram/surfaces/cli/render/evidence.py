"""Episodes, decisions and open items as text for people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engram.evidence.records import Decision, Episode, EpisodeError, OpenItem
from engram.platform import text
from engram.search.pushed import Pushed
from engram.surfaces.cli.render import LIST_RENDERERS, render
from engram.surfaces.cli.render.layout import format_facts, format_time, format_when, wrap_text
from engram.surfaces.cli.render.project_labels import get_label
from engram.surfaces.cli.terminal import style

_RESULT_COLOURS = {"fixed": "green", "done": "green", "partly": "yellow", "not done": "red", "abandoned": "red"}
_MAX_FILES = 6
_MAX_ITEMS = 4  # decisions or causes of one episode in the overview of a session


@render.register
def _(episode: Episode) -> str:
    result = style(episode.result, fg=_RESULT_COLOURS.get(episode.result))
    head = f"{episode.number + 1}. {style(episode.title, bold=True)}  {result}"
    return f"{head}\n{format_facts(list_episode_facts(episode))}"


def format_episode_briefly(episode: Episode) -> str:
    """Return an episode as `engram show` lists it: what was asked and what came of it, then what was decided."""
    result = style(episode.result, fg=_RESULT_COLOURS.get(episode.result))
    lines = [wrap_text(f"{episode.number + 1}. {episode.title} ({result})", "", "   ")]
    for label, items in (
        ("decided", [_format_decision(item) for item in episode.decisions]),
        ("rejected", [item.text for item in episode.rejected]),
        ("cause", list(episode.causes)),
    ):
        lines += [wrap_text(f"{label}: {text.to_one_line(item, 240)}", "   ", "     ") for item in items[:_MAX_ITEMS]]
    return "\n".join(lines)


def list_episode_facts(episode: Episode) -> list[tuple[str, object]]:
    """Return what is worth showing of an episode, by name."""
    return [
        ("when", format_time(episode.started_at)),
        ("asked", _format_request(episode)),
        ("decided", _format_list(map(_format_decision, episode.decisions))),
        ("rejected", _format_list(item.text for item in episode.rejected)),
        ("cause", _format_list(episode.causes)),
        ("changed", _format_files(episode.changed)),
        ("errors", _format_list(_format_error(item) for item in episode.errors)),
        ("tests", episode.tests),
        ("commits", _format_list(episode.commits)),
        ("refused", _format_list(episode.refused)),
        ("open", _format_list(episode.open)),
        ("report", episode.report or None),
    ]


def _format_request(episode: Episode) -> str | None:
    return None if episode.request.rstrip(".…").casefold() == episode.title.rstrip(".…").casefold() else episode.request


def _format_decision(decision: Decision) -> str:
    about = f" ({text.to_one_line(decision.about, 100)})" if decision.about else ""
    return f"{decision.text}{about}{' [superseded]' if decision.superseded_by else ''}"


def _format_error(error: EpisodeError) -> str:
    reason = f" Cause: {error.cause}" if error.cause else ""
    later = f"fixed in a later session ({error.fixed_in[-8:]})" if error.fixed_in else "not fixed"
    return f"{error.error} → {error.fix or later}{reason}"


def _format_list(items: object) -> str | None:
    return "\n".join(str(item) for item in items) or None  # type: ignore[attr-defined]


def _format_files(paths: Sequence[str]) -> str | None:
    more = f" and {len(paths) - _MAX_FILES} more" if len(paths) > _MAX_FILES else ""
    return ", ".join(paths[:_MAX_FILES]) + more if paths else None


def _render_episodes(episodes: Sequence[Episode]) -> str:
    return "\n\n".join(map(render, episodes))


def _render_decisions(decisions: Sequence[Decision]) -> str:
    return "\n".join(_render_item(item.at, item.session_id, item.project, _format_decision(item)) for item in decisions)


def _render_open_items(items: Sequence[OpenItem]) -> str:
    return "\n".join(_render_item(item.at, item.session_id, item.project, item.text) for item in items)


def _render_item(at: datetime | None, session_id: str, project: str, words: str) -> str:
    """Return when and where something was said on one line, and what was said below it, not cut."""
    head = "  ".join((format_when(at) if at else "", session_id[-8:], get_label(project)))
    return f"{style(head, dim=True)}\n{wrap_text(words, '  ', '  ')}"


@render.register
def _(pushed: Pushed) -> str:
    state = pushed.verdict or ("" if pushed.shown else "only recorded")
    where = (format_when(pushed.at), pushed.session_id[-8:], get_label(pushed.project))
    head = style("  ".join(fact for fact in (f"#{pushed.id}", *where, pushed.moment, state) if fact), dim=True)
    lines = [wrap_text(line, "  ", "  ") for line in pushed.text.splitlines() if line.strip()]
    return "\n".join([head, wrap_text(f"Why: {pushed.reason}", "  ", "  "), *lines])


def _render_pushed(listed: Sequence[Pushed]) -> str:
    hint = "Say what you think of one: engram pushed NUMBER useful, wrong or never."
    return "\n\n".join([*map(render, listed), style(hint, dim=True)])


LIST_RENDERERS[Pushed] = _render_pushed
LIST_RENDERERS[Episode] = _render_episodes
LIST_RENDERERS[Decision] = _render_decisions
LIST_RENDERERS[OpenItem] = _render_open_items
