"""The Patterns page: review of candidates and the catalog of decisions."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from starlette.responses import Response

from engram.errors import Error, InvalidInput, NotFound
from engram.patterns.rules.catalog import Pattern
from engram.platform import text
from engram.surfaces.dashboard.layout import PageAddress, PageRequest, parse_number
from engram.surfaces.dashboard.pages import pattern

_CANDIDATE = "candidate"
_DECIDED_STATES = ("approved", "rejected", "retired", "merged")
_MAX_PATTERNS = 200  # patterns per list
_DONE_WORDS = {"edit": "Saved", "restore": "Restored"}  # where the state alone does not say what happened
_REVIEW = "review"  # the page a decision was made on


def show_review(request: PageRequest) -> Response:
    """Render the list of candidates, and one of them with its evidence."""
    return _render_review(request, request.get_query("pattern"), request.get_query("decided"))


def show_catalog(request: PageRequest) -> Response:
    """Render the catalog of decided patterns."""
    state = request.get_query("state")
    if state is not None and state not in _DECIDED_STATES:
        raise InvalidInput(
            field="state", reason=f"unknown value {state!r}. Choose one of: {', '.join(_DECIDED_STATES)}."
        )
    decided = [
        listed_pattern
        for listed_pattern in request.engram.list_patterns(state, limit=_MAX_PATTERNS)
        if listed_pattern.state in _DECIDED_STATES
    ]
    return request.render_page("patterns/catalog", patterns=decided, state=state, states=_DECIDED_STATES)


def decide_pattern(request: PageRequest) -> Response:
    """Apply a decision; if it is refused, keep the typed text on the page."""
    decision = _DECISIONS.get(request.get_path_part("act"))
    if decision is None:
        raise NotFound(
            kind="decision",
            id=text.to_one_line(request.get_path_part("act"), 60),
            hint=f"Use {', '.join(_DECISIONS)}.",
        )
    pattern_id, came_from = request.get_path_part("pattern"), request.get_field("at")
    try:
        pattern_decided = decision(request, pattern_id)
    except Error as error:
        if not request.is_part:
            raise
        return (
            _render_review(request, pattern_id, None, error)
            if came_from == _REVIEW
            else pattern.render_dossier(request, pattern_id, error)
        )
    if came_from != _REVIEW:
        return (
            pattern.render_dossier(request, pattern_decided.id)
            if request.is_part
            else request.redirect(f"/patterns/{quote(pattern_decided.id, safe='')}")
        )
    waits = pattern_decided.id if pattern_decided.state == _CANDIDATE else request.get_field("next") or None
    if request.is_part:
        return _render_review(
            request, waits, pattern_decided.id, word=_DONE_WORDS.get(request.get_path_part("act"), "")
        )
    next_query = f"&pattern={quote(waits, safe='')}" if waits else ""
    return request.redirect(f"/patterns?decided={quote(pattern_decided.id, safe='')}{next_query}")


def _render_review(
    request: PageRequest, wanted_id: str | None, decided: str | None, problem: Error | None = None, word: str = ""
) -> Response:
    queue = request.engram.list_patterns(_CANDIDATE, limit=_MAX_PATTERNS)
    ids = [candidate.id for candidate in queue]
    chosen = wanted_id if wanted_id in ids or problem else next(iter(ids), None)
    dossier_shown = request.engram.get_pattern(chosen, effect=False) if chosen else None
    last = request.engram.get_pattern(decided, effect=False).pattern if decided else None
    return request.render_page(
        "patterns/review",
        queue=queue,
        shown=dossier_shown,
        last=last,
        problem=problem,
        next=_find_next(ids, chosen),
        typed=pattern.form_values(request, dossier_shown.pattern, problem) if dossier_shown else {},
        scopes=pattern.list_scopes(dossier_shown.pattern) if dossier_shown else (),
        word=word or (last.state.capitalize() if last else ""),
        place=ids.index(chosen) + 1 if chosen in ids else 0,
    )


def _find_next(ids: list[str], chosen: str | None) -> str:
    """Return the candidate to show after the selected one is decided."""
    if chosen not in ids:
        return ""
    rest = ids[ids.index(chosen) + 1 :] or ids[: ids.index(chosen)][-1:]
    return rest[0] if rest else ""


def _approve_pattern(request: PageRequest, pattern_id: str) -> Pattern:
    """Approve the text that was on the page."""
    rule, fix, scope = (request.get_field(name) for name in ("rule", "fix", "scope"))
    return request.engram.approve_pattern(
        pattern_id, rule, fix, scope or None, expected_version=_parse_version(request)
    )


def _edit_pattern(request: PageRequest, pattern_id: str) -> Pattern:
    rule, fix, scope = (request.get_field(name) for name in ("rule", "fix", "scope"))
    return request.engram.edit_pattern(pattern_id, rule, fix, scope or None, expected_version=_parse_version(request))


def _reject_pattern(request: PageRequest, pattern_id: str) -> Pattern:
    return request.engram.reject_pattern(
        pattern_id, request.get_field("reason"), expected_version=_parse_version(request)
    )


def _retire_pattern(request: PageRequest, pattern_id: str) -> Pattern:
    return request.engram.retire_pattern(
        pattern_id, request.get_field("reason"), expected_version=_parse_version(request)
    )


def _restore_pattern(request: PageRequest, pattern_id: str) -> Pattern:
    return request.engram.restore_pattern(
        pattern_id, request.get_field("reason"), expected_version=_parse_version(request)
    )


def _merge_pattern(request: PageRequest, pattern_id: str) -> Pattern:
    """Merge into another pattern and return the merged one."""
    request.engram.merge_patterns(request.get_field("into"), [pattern_id])
    return request.engram.get_pattern(pattern_id, effect=False).pattern


def _parse_version(request: PageRequest) -> int:
    reason = "missing in the form. Reload the page."
    return parse_number("version", request.get_field("version"), reason)


_DECISIONS: dict[str, Callable[[PageRequest, str], Pattern]] = {
    "approve": _approve_pattern,
    "edit": _edit_pattern,
    "reject": _reject_pattern,
    "retire": _retire_pattern,
    "restore": _restore_pattern,
    "merge": _merge_pattern,
}
ADDRESSES = (
    PageAddress("/patterns", show_review), PageAddress("/patterns/catalog", show_catalog), *pattern.ADDRESSES,
    PageAddress("/patterns/{pattern}/{act}", decide_pattern, writes=True),
)  # fmt: skip
