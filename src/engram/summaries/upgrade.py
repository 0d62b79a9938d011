"""Let a model rewrite summaries that rules made before there was one: those you use most first, a few per pass."""

from __future__ import annotations

from engram.errors import ModelInvalid
from engram.models import call_budget, daily_cap
from engram.models.registry import NONE
from engram.store import documents, dream_inbox, exchanges, recall_log
from engram.summaries import gist, versions
from engram.summaries.versions import GIST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.errors import Error
    from engram.hub import Hub
    from engram.store.engine import Row
    from engram.summaries.summary_model import SummaryModel

PER_PASS = 5
_TRIES = 2  # unusable answers after which the rules' summary stays
_CHOSEN = ("undone", "restored")  # marks of a version that a person asked for


def list_upgradable(hub: Hub) -> list[str]:
    """Return the sessions whose summary a model should rewrite, those that recall showed most first."""
    if not _may_call_model(hub):
        return []
    busy = {row["session_id"] for row in exchanges.list_uncovered(hub.engine)}  # the next summary is the model's anyway
    tries = {row["key"]: row["changes"] for row in dream_inbox.list_waiting(hub.engine, dream_inbox.REWRITE)}
    rows = [
        row for row in documents.list_made_by_rules(hub.engine, GIST)
        if row["key"] not in busy and tries.get(row["key"], 0) < _TRIES and _is_ours(row)
    ]  # fmt: skip
    shown = recall_log.count_by_session(hub.engine) if rows else {}
    newest = {row["key"]: int(versions.load_sources(row["sources"]).get("at") or 0) for row in rows}
    return sorted(newest, key=lambda key: (*shown.get(key, (0, 0)), newest[key]), reverse=True)


def rewrite_gists(hub: Hub, model: SummaryModel, stop: Callable[[], bool]) -> int:
    """Let the model rewrite the next few summaries, and return how many it did; older versions are kept."""
    written = 0
    for session_id in list_upgradable(hub)[:PER_PASS]:
        if model.off or stop():
            break
        before = model.by.total()
        row = gist.make_gist(hub, session_id, model, force=True)
        if row is not None and versions.get_author(row) == versions.MODEL:
            written += 1
        elif model.by.total() > before:
            _record_failure(hub, session_id, model.problem)
    return written


def _may_call_model(hub: Hub) -> bool:
    """Check whether a model is chosen, this task may pay for it, and today's limit is not reached."""
    settings, allowance = hub.settings, call_budget.get_allowance()
    dollars = settings.dream_cents if allowance is None else allowance.dollars
    if settings.model in ("", NONE) or dollars <= 0:
        return False
    spent = daily_cap.get_today_usage(hub)
    return bool(spent["money"] < settings.model_daily_cents / 100 and spent["tokens"] < settings.model_daily_tokens)


def _is_ours(row: Row) -> bool:
    """Check that rules made a version, and nobody asked for it."""
    sources = versions.load_sources(row["sources"])
    return versions.get_author(row) == versions.QUOTES and not any(mark in sources for mark in _CHOSEN)


def _record_failure(hub: Hub, session_id: str, problem: Error | None) -> None:
    """Count an answer of no use; a model that cannot be reached says nothing about the session."""
    if isinstance(problem, ModelInvalid) or getattr(problem, "billed", False):
        with hub.engine.transaction():
            dream_inbox.mark_new(hub.engine, dream_inbox.REWRITE, [session_id], hub.now())
