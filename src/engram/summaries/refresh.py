"""One pass that updates eras, then the profile, then the narrative; only stale documents are rebuilt."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from engram.errors import DreamRunning, StoreBusy, StoreFull, StoreUnavailable
from engram.hub import Hub
from engram.platform import text
from engram.platform.sentences import extract_sentences
from engram.sessions import project_names
from engram.store import documents, dream_inbox, episodes
from engram.summaries import extract, gist, month_summary, narrative, profile, versions
from engram.summaries.extract import Quote
from engram.summaries.integration_report import IntegrationReport
from engram.summaries.months import Months
from engram.summaries.summary_model import SummaryModel
from engram.summaries.versions import ERA, GIST, NARRATIVE, PROFILE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from engram.store.engine import Row

_ERA_TOKENS = 900  # tokens
_MODEL_TOKENS = 12_000  # tokens of gists in the model's prompt
MADE, FRESH, KEPT, NONE, LEFT = "made", "fresh", "kept", "none", "left"


def _remake_gist(make: Callable[..., Row | None], hub: Hub, session: str, model: SummaryModel) -> str:
    return MADE if make(hub, session, model, force=True) else FRESH


class Integration:
    """One pass; a failing document does not stop it."""

    def __init__(
        self, hub: Hub, *, rebuild: bool, think: bool, dry: bool = False, stop: Callable[[], bool] = lambda: False,
        only: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.hub, self.rebuild, self.dry, self.only = hub, rebuild, dry, only
        self.stop = stop  # time is up: the rest is done next time
        self.previews: dict[str, tuple[str, str]] = {}  # changes of a dry run: before and after
        self.model = SummaryModel(hub, allowed=think)
        self.failed: dict[str, str] = {}
        self.states: dict[str, list[str]] = {}

    def run(self) -> IntegrationReport:
        """Rebuild what is stale."""
        inbox_rows = dream_inbox.list_waiting(self.hub.engine, dream_inbox.INTEGRATE)
        if self.rebuild:
            self._remake_gists()
        self.months, self.names = Months(self.hub), project_names.name_projects(self.hub)
        eras = {row["key"]: row for row in documents.list_current(self.hub.engine, ERA)}
        for month in sorted({*self.months.touched, *eras}):
            if self._is_wanted(versions.format_title(ERA, month)):
                self._record_state(month, partial(self._refresh_era, month, eras.get(month)))
        profile_state, narrative_state = (
            self._record_state(kind, partial(make, self, self.months))
            if self._is_wanted(versions.format_title(kind, key))
            else LEFT
            for kind, key, make in (
                (PROFILE, "self", profile.refresh_profile),
                (NARRATIVE, "current", narrative.refresh_narrative),
            )
        )
        if not self.failed and not self.dry and not self.only and LEFT not in self.states:
            with self.hub.engine.transaction():
                for row in inbox_rows:
                    dream_inbox.mark_done(self.hub.engine, dream_inbox.INTEGRATE, row)
        return IntegrationReport(
            eras=self._months_in_state(MADE),
            removed=self._months_in_state("removed"),
            fresh=len(self._months_in_state(FRESH)),
            kept=self._months_in_state(KEPT),
            profile=profile_state,
            narrative=narrative_state,
            by=dict(self.model.by),
            fallbacks=dict(self.model.fallbacks),
            failed=self.failed,
        )

    def _is_wanted(self, name: str) -> bool:
        return not self.only or name in self.only

    def save_document(self, kind: str, key: str, sources: dict[str, Any], write: Callable[[], tuple[str, str]]) -> str:
        """Rewrite a document unless it is up to date, or a person wrote it and no model is available."""
        newest = documents.get_current(self.hub.engine, kind, key)
        if newest and not self.rebuild and self._is_fresh(newest, sources["hash"]):
            return FRESH  # even if it is empty because the dream was undone
        current = versions.get_current(self.hub, kind, key)
        authored = versions.is_authored(current)
        if authored and self.model.off:
            return KEPT
        content, made_by = write()
        if authored and made_by == extract.RULES:  # the model failed
            return KEPT
        if self.dry:
            self.previews[f"{kind}/{key}"] = (current["content"] if current else "", content)
            return MADE
        if not content:
            return self.clear_document(kind, key, current)
        # Quotes in place of an unusable answer stay until the sources change; others, until a model is available.
        versions.save_version(self.hub, kind, key, content, sources | {"asked": not self.model.off}, made_by)
        self.model.count_made(made_by)
        return MADE

    def _is_fresh(self, row: Row, source_hash: str) -> bool:
        sources = versions.load_sources(row["sources"])
        quoted = versions.get_author(row) == versions.QUOTES
        return sources.get("hash") == source_hash and (self.model.off or not quoted or bool(sources.get("asked")))

    def clear_document(self, kind: str, key: str, current: Row | None) -> str:
        """Empty a document made of quotes, keeping older versions; a person's text stays."""
        if not current:
            return NONE
        if versions.is_authored(current):
            return KEPT
        if self.dry:
            self.previews[f"{kind}/{key}"] = current["content"], ""
            return "removed"
        versions.save_version(self.hub, kind, key, "", {"sessions": []}, extract.RULES)
        return "removed"

    def _months_in_state(self, state: str) -> tuple[str, ...]:
        return tuple(month for month in self.states.get(state, ()) if month not in ("profile", "narrative"))

    def _record_state(self, name: str, make: Callable[[], str]) -> str:
        try:
            state = LEFT if self.stop() else make()
        except (StoreBusy, StoreFull, StoreUnavailable, DreamRunning):
            raise  # no other document would do better
        except Exception as problem:  # a failing document does not stop the others
            self.failed[name] = text.format_error(problem)
            return "failed"
        self.states.setdefault(state, []).append(name)
        return state

    def _remake_gists(self) -> None:
        """Rebuild gists made of quotes, and the lines of all others."""
        rules_only = SummaryModel(self.hub, allowed=False)
        for row in documents.list_current(self.hub.engine, GIST):
            make = gist.refresh_lines if versions.is_authored(row) else gist.make_gist
            self._record_state(row["key"], partial(_remake_gist, make, self.hub, row["key"], rules_only))
        self.states.clear()

    def _refresh_era(self, month: str, current: Row | None) -> str:
        sources = self.months.build_era_sources(month)
        if not sources["sessions"]:
            return self.clear_document(ERA, month, current if current and current["content"] else None)
        return self.save_document(ERA, month, sources, lambda: self._write_era(month, sources["sessions"]))

    def list_lines(self, session: str, month: str | None = None) -> list[Quote]:
        """Return the lines of a session: quotes, or the sentences of a gist a person wrote; of one month only if
        given.
        """
        row = self.months.get_gist(session)
        quotes = gist.load_lines(self.hub, session)["lines"]
        if versions.is_authored(row) and self._began_in_month(session, month):
            at = int(self.months.sessions[session]["first_at"] or row["made_at"])
            gist_lines = [
                Quote("said", sentence, 0, "gist", at, session) for sentence in extract_sentences(row["content"])
            ]
            return gist_lines + [line for line in quotes if line.kind in ("decided", "open")]
        return [line for line in quotes if month is None or self.months.month_of(line.at) == month]

    def _began_in_month(self, session: str, month: str | None) -> bool:
        return month is None or session in self.months.began.get(month, ())

    def _write_era(self, month: str, sessions: list[str]) -> tuple[str, str]:
        lines = [line for session in sessions for line in self.list_lines(session, month)]
        if not lines:  # a session continued before and after it, not in it
            return "", extract.RULES
        answer = None if self.model.off else self.model.ask("era", self._render_gists(month, sessions), "era")
        if answer is not None:
            return answer.data["era"], answer.made_by
        return self._describe_month(month, sessions, lines), extract.RULES

    def _render_gists(self, month: str, sessions: list[str]) -> str:
        """Render the gists of a month for the model, each with its share of the tokens."""
        share = max(60, _MODEL_TOKENS // max(1, len(sessions)))
        parts = [
            f"{self.format_heading(session)}:\n{text.cut_to_tokens(self.months.get_gist(session)['content'], share)}"
            for session in sessions
            if self._began_in_month(session, month)
        ]
        return text.cut_to_tokens(
            "\n\n".join(parts or [extract.render_lines(self.list_lines(session, month)) for session in sessions]),
            _MODEL_TOKENS,
        )

    def _describe_month(self, month: str, sessions: list[str], lines: list[Quote]) -> str:
        """Tell what a month's sessions came to; those without evidence are quoted."""
        session_count = len(self.months.began.get(month, ()))
        head = (
            f"{month}: {session_count} {'session' if session_count == 1 else 'sessions'}{self._format_projects(lines)}."
        )
        since, until = self.months.get_span(month)
        rows = [
            row for row in episodes.list_between(self.hub.engine, since, until) if row["session_id"] in set(sessions)
        ]
        work = month_summary.describe_month(self.hub, month, rows, self._get_name)
        known = {row["session_id"] for row in rows} if work else set()
        quotes = self._quote_sessions([line for line in lines if line.session not in known])
        return text.cut_to_tokens("\n\n".join(part for part in (f"{head}{quotes}", work) if part), _ERA_TOKENS)

    def _get_name(self, project: str) -> str:
        return self.names.get(project) or text.to_one_line(project, 80) or "no project"

    def _quote_sessions(self, lines: list[Quote]) -> str:
        """Quote sessions, a block each."""
        if not lines:
            return ""
        best = extract.select_best_lines(
            sorted(lines, key=lambda line: (line.at, line.session)), int(_ERA_TOKENS * 0.75)
        )
        blocks: dict[str, list[str]] = {}
        for line in best:
            blocks.setdefault(line.session, []).append(extract.render_line(line))
        sections = [f"{self.format_heading(session)}:\n" + "\n".join(block) for session, block in blocks.items()]
        return "".join(f"\n{section}" for section in sections)

    def _format_projects(self, lines: list[Quote]) -> str:
        counts = Counter(self.get_project_name(session) for session in {line.session for line in lines})
        labels = [f"{name} ({count})" for name, count in counts.most_common(4) if name]
        return f" in {', '.join(labels)}" if labels else ""

    def get_project_name(self, session: str) -> str:
        """Return the short name of a session's project."""
        project = str(self.months.sessions[session]["project"])
        return self.names.get(project) or os.path.basename(project)

    def format_heading(self, session: str) -> str:
        """Return when a session began and its project."""
        began = int(self.months.sessions[session]["first_at"] or self.months.get_gist(session)["made_at"])
        return " ".join(filter(None, (self.format_day(began), self.get_project_name(session))))

    def format_day(self, at: int) -> str:
        """Return a day in the user's time zone."""
        return f"{self.months.to_local(at):%Y-%m-%d}"
