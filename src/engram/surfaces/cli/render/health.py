"""Storage, failures, hooks and projects as text for people."""

from __future__ import annotations

from collections.abc import Sequence

from engram.capture.storage import Storage
from engram.install.hook_times import HookTimes
from engram.platform import text
from engram.sessions.stats import Project
from engram.surfaces.cli.render import LIST_RENDERERS, render
from engram.surfaces.cli.render.layout import (
    Column,
    format_ago,
    format_facts,
    format_table,
    format_time_left,
    number_column,
    shorten_home,
)
from engram.surfaces.cli.render.project_labels import get_label
from engram.wiki.flush_failures import FlushFailure


@render.register
def _(storage: Storage) -> str:
    soft_cap, hard_cap = text.format_size(storage.soft_cap), text.format_size(storage.hard_cap)
    caps = f"the oldest is deleted above {soft_cap}, the limit is {hard_cap}"
    since = f", the oldest since {format_ago(storage.waiting_since)}" if storage.waiting_since else ""
    rows = (
        ("store", storage.store), ("database", text.format_size(storage.database)),
        ("captured", f"{text.format_size(storage.bodies)}; {caps}"),
        ("digests", f"{text.format_size(storage.digests)} of {text.format_size(storage.digests_cap)}"),
        ("free", None if storage.free is None else text.format_size(storage.free)),
        ("sessions", f"{storage.sessions:,}"), ("events", f"{storage.events:,}"),
        ("waiting", f"{text.format_count(storage.waiting, 'transcript')}{since}"),
    )  # fmt: skip
    return format_facts(rows)


def _render_failures(failures: Sequence[FlushFailure]) -> str:
    rows = [
        (
            failure.session_id,
            failure.flavor,
            get_label(failure.project),
            str(failure.tries),
            format_time_left(failure.next_at),
            text.to_one_line(failure.problem, 200),
        )
        for failure in failures
    ]
    columns = (
        Column("session"), Column("agent", drop=2), Column("project", min_width=8, drop=3),
        number_column("tries", drop=4), Column("next try in", right=True, drop=1), "problem",
    )  # fmt: skip
    return format_table(columns, rows)


def _render_hook_times(hook_time_list: Sequence[HookTimes]) -> str:
    rows = [
        (
            hook_times.flavor,
            hook_times.event,
            str(hook_times.calls),
            f"{hook_times.p50:.0f}",
            f"{hook_times.p95:.0f}",
            f"{hook_times.longest:.0f}",
            str(hook_times.failures or ""),
            format_ago(hook_times.last_at) if hook_times.last_at else "",
            text.to_one_line(hook_times.problem, 200),
        )
        for hook_times in hook_time_list
    ]
    columns = (
        Column("agent"), Column("event"), number_column("calls"), number_column("p50 ms", drop=4),
        number_column("p95 ms"), number_column("max ms", drop=5), number_column("failed", drop=1),
        Column("last", drop=2), "problem",
    )  # fmt: skip
    return format_table(columns, rows)


def _render_projects(projects: Sequence[Project]) -> str:
    rows = [
        (
            project.name or "(none)",
            format_ago(project.last_at),
            ", ".join(f"{name} {count:,}" for name, count in project.flavors.items()),
            shorten_home(project.project),
        )
        for project in projects
    ]
    return format_table(
        (Column("project", min_width=10), Column("last", drop=2), Column("sessions"), Column("path", keep_end=True)),
        rows,
    )


LIST_RENDERERS.update({FlushFailure: _render_failures, HookTimes: _render_hook_times, Project: _render_projects})
