"""The page Patterns: what waits for a decision, one after the other, and all that was decided."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from starlette.responses import Response

from engram import text
from engram.errors import Error, InvalidInput, NotFound
from engram.rules.catalog import Pattern
from engram.surfaces.dashboard.frame import Address, Ask, whole
from engram.surfaces.dashboard.pages import dossier

_CANDIDATE = "candidate"
_DECIDED = ("approved", "rejected", "retired", "merged")
_MOST = 200  # patterns of one list
_WORDS = {"edit": "Saved", "restore": "Restored"}  # where the state alone does not say what was done
_REVIEW = "review"  # where a decision came from


def review(ask: Ask) -> Response:
    """Draw the candidates, one of them with all that speaks for it."""
    return _reviewed(ask, ask.given("pattern"), ask.given("decided"))


def catalog(ask: Ask) -> Response:
    """Draw what was decided."""
    state = ask.given("state")
    if state is not None and state not in _DECIDED:
        raise InvalidInput(field="state", reason=f"{state!r} is none of {', '.join(_DECIDED)}.")
    found = [each for each in ask.engram.list_patterns(state, limit=_MOST) if each.state in _DECIDED]
    return ask.show("patterns/catalog", patterns=found, state=state, states=_DECIDED)


def decide(ask: Ask) -> Response:
    """Carry out what a person decided; where that is refused, what they wrote stays on the page."""
    act = _ACTS.get(ask.path("act"))
    if act is None:
        raise NotFound(kind="decision", id=text.one_line(ask.path("act"), 60), hint=f"There are {', '.join(_ACTS)}.")
    named, here = ask.path("pattern"), ask.said("at")
    try:
        found = act(ask, named)
    except Error as problem:
        if not ask.is_part:
            raise
        return _reviewed(ask, named, None, problem) if here == _REVIEW else dossier.drawn(ask, named, problem)
    if here != _REVIEW:
        return dossier.drawn(ask, found.id) if ask.is_part else ask.go(f"/patterns/{quote(found.id, safe='')}")
    waits = found.id if found.state == _CANDIDATE else ask.said("next") or None
    if ask.is_part:
        return _reviewed(ask, waits, found.id, word=_WORDS.get(ask.path("act"), ""))
    then = f"&pattern={quote(waits, safe='')}" if waits else ""
    return ask.go(f"/patterns?decided={quote(found.id, safe='')}{then}")


def _reviewed(
    ask: Ask, wanted: str | None, decided: str | None, problem: Error | None = None, word: str = ""
) -> Response:
    queue = ask.engram.list_patterns(_CANDIDATE, limit=_MOST)
    ids = [each.id for each in queue]
    chosen = wanted if wanted in ids or problem else next(iter(ids), None)
    shown = ask.engram.get_pattern(chosen, effect=False) if chosen else None
    last = ask.engram.get_pattern(decided, effect=False).pattern if decided else None
    return ask.show(
        "patterns/review", queue=queue, shown=shown, last=last, problem=problem,
        next=_after(ids, chosen), typed=dossier.typed(ask, shown.pattern, problem) if shown else {},
        scopes=dossier.scopes(shown.pattern) if shown else (),
        word=word or (last.state.capitalize() if last else ""), place=ids.index(chosen) + 1 if chosen in ids else 0,
    )  # fmt: skip


def _after(ids: list[str], chosen: str | None) -> str:
    """Return the candidate that is shown once the chosen one is decided."""
    if chosen not in ids:
        return ""
    rest = ids[ids.index(chosen) + 1 :] or ids[: ids.index(chosen)][-1:]
    return rest[0] if rest else ""


def _approve(ask: Ask, named: str) -> Pattern:
    """Approve the words that were on the page, whatever came in meanwhile."""
    rule, fix, scope = (ask.said(name) for name in ("rule", "fix", "scope"))
    return ask.engram.approve_pattern(named, rule, fix, scope or None, expected_version=_version(ask))


def _edit(ask: Ask, named: str) -> Pattern:
    rule, fix, scope = (ask.said(name) for name in ("rule", "fix", "scope"))
    return ask.engram.edit_pattern(named, rule, fix, scope or None, expected_version=_version(ask))


def _reject(ask: Ask, named: str) -> Pattern:
    return ask.engram.reject_pattern(named, ask.said("reason"), expected_version=_version(ask))


def _retire(ask: Ask, named: str) -> Pattern:
    return ask.engram.retire_pattern(named, ask.said("reason"), expected_version=_version(ask))


def _restore(ask: Ask, named: str) -> Pattern:
    return ask.engram.restore_pattern(named, ask.said("reason"), expected_version=_version(ask))


def _merge(ask: Ask, named: str) -> Pattern:
    """Merge into another one, and show that it is merged."""
    ask.engram.merge_patterns(ask.said("into"), [named])
    return ask.engram.get_pattern(named, effect=False).pattern


def _version(ask: Ask) -> int:
    reason = "the form does not say which words were shown. Load the page again."
    return whole("version", ask.said("version"), reason)


_ACTS: dict[str, Callable[[Ask, str], Pattern]] = {
    "approve": _approve, "edit": _edit, "reject": _reject, "retire": _retire, "restore": _restore, "merge": _merge,
}  # fmt: skip
ADDRESSES = (
    Address("/patterns", review), Address("/patterns/catalog", catalog), *dossier.ADDRESSES,
    Address("/patterns/{pattern}/{act}", decide, writes=True),
)  # fmt: skip
