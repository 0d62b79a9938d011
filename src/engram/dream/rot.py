"""The rot meter: duplicates among gists, articles and daily entries, and our own words that come back as messages.

Only what is new is checked: a document when it was written, a session when it went on after something was injected.
"""

from __future__ import annotations

from engram.clock import HOUR, SECOND
from engram.dream import own_words, similarity
from engram.errors import StoreBusy, StoreDamaged, StoreFull, StoreUnavailable
from engram.hub import Hub
from engram.platform.text import format_error
from engram.platform.value import value
from engram.sessions.stats import measure_rot as meter
from engram.store import dream_inbox, injected_texts, log_entries, passages, rot, similarity_hashes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engram.store.engine import Row

__all__ = ["RotReport", "inspect_inbox", "meter", "save_findings"]

_REMEMBERED = 30 * 24 * HOUR  # how long injected texts are kept
_AT_ONCE = 500  # documents and sessions per run
_COMPARED = 8  # documents compared with one
_SKEW = 60 * SECOND  # agents may record a prompt before its hooks are done
_SPOKEN = ("user", "assistant")


@value
class RotReport:
    """The result of checking what is new."""

    looked: int  # documents and sessions checked
    found: int  # new duplicates, near-duplicates and loops
    left: int  # left for another time
    failed: dict[str, str]  # what could not be checked, and why


def inspect_inbox(hub: Hub, stop: Callable[[], bool] | None = None) -> RotReport:
    """Check what is new until `stop` returns true; a failure does not stop the others."""
    inspected = repeats = 0
    failed: dict[str, str] = {}
    _forget_old_texts(hub)
    while rows := [
        row
        for row in dream_inbox.list_waiting(hub.engine, dream_inbox.ROT, _AT_ONCE + len(failed))
        if row["key"] not in failed
    ]:
        for row in rows:
            if stop is not None and stop():
                return RotReport(
                    looked=inspected,
                    found=repeats,
                    left=dream_inbox.count_waiting(hub.engine, dream_inbox.ROT),
                    failed=failed,
                )
            try:
                repeats += _inspect_row(hub, row)
                inspected += 1
            except (StoreBusy, StoreFull, StoreUnavailable, StoreDamaged):
                raise  # no other would do better
            except Exception as problem:
                failed[row["key"]] = format_error(problem)
    return RotReport(looked=inspected, found=repeats, left=len(failed), failed=failed)


def save_findings(hub: Hub, finding_kind: str, findings: Iterable[tuple[str, str, str]]) -> None:
    """Replace all findings of a kind with these (kind, key, other)."""
    with hub.engine.transaction():
        rot.replace_findings(hub.engine, finding_kind, findings, hub.now())


def _forget_old_texts(hub: Hub) -> None:
    with hub.engine.transaction():
        injected_texts.delete_before(hub.engine, hub.now() - _REMEMBERED)


def _inspect_row(hub: Hub, row: Row) -> int:
    kind, _, key = str(row["key"]).partition("\t")
    return _inspect_session(hub, key, row) if kind == "session" else _inspect_document(hub, kind, key, row)


def _inspect_document(hub: Hub, kind: str, key: str, row: Row) -> int:
    """Compare a document with similar ones; return how many it repeats."""
    words = similarity.split_words(passages.read_content(hub.engine, kind, key))
    stored, exact = similarity_hashes.get(hub.engine, kind, key), similarity.hash_words(words)
    if stored and stored["exact"] == exact:
        _mark_handled(hub, row)
        return 0
    runs = similarity.hash_runs(words)
    bands = similarity.compute_bands(runs)
    near_keys = _find_near_duplicates(hub, kind, key, runs, bands)
    with hub.engine.transaction():
        now = hub.now()
        duplicate_of = similarity_hashes.find_duplicate(hub.engine, kind, key, exact) if words else None
        similarity_hashes.save(hub.engine, kind, key, exact, [] if duplicate_of else bands, now)
        rot.clear_old_contradictions(hub.engine, kind, key, passages.fetch_times(hub.engine, kind, [key]).get(key, 0))
        pairs = (
            [(rot.DUPLICATE, key, duplicate_of)]
            if duplicate_of
            else [(rot.NEAR, *sorted((key, other))[::-1]) for other in near_keys]
        )
        for finding, repeating, other in pairs:
            rot.add_finding(hub.engine, finding, kind, repeating, other, now)
        dream_inbox.mark_done(hub.engine, dream_inbox.ROT, row)
    return len(pairs)


def _find_near_duplicates(hub: Hub, kind: str, key: str, runs: frozenset[int], bands: list[str]) -> list[str]:
    """Return the documents that share most of their words with one."""
    candidates = similarity_hashes.find_near_duplicates(hub.engine, kind, key, bands, _COMPARED)
    texts = ((other, passages.read_content(hub.engine, kind, other)) for other in candidates)
    return [
        other
        for other, text in texts
        if similarity.compute_overlap(runs, similarity.hash_runs(similarity.split_words(text))) >= similarity.ALIKE
    ]


def _inspect_session(hub: Hub, session_id: str, row: Row) -> int:
    """Compare the new messages of a session with what was injected; return how many are echoes."""
    texts = injected_texts.list_by_session(hub.engine, session_id)
    injected_runs = [(int(item["at"]) - _SKEW, own_words.hash_own_text(item["content"])) for item in texts]
    new = log_entries.list_new_exchanges(
        hub.engine, session_id, max((int(item["through"]) for item in texts), default=1 << 62)
    )
    echoes = [item for item in new if item["role"] in _SPOKEN and _is_echo(item, injected_runs)]
    with hub.engine.transaction():
        for item in echoes:
            rot.add_finding(hub.engine, rot.LOOP, "exchange", str(item["id"]), session_id, hub.now())
        if new:
            injected_texts.mark_compared(hub.engine, session_id, int(new[-1]["id"]))
        dream_inbox.mark_done(hub.engine, dream_inbox.ROT, row)
    return len(echoes)


def _is_echo(row: Row, injected_runs: list[tuple[int, frozenset[int]]]) -> bool:
    before = [runs for at, runs in injected_runs if at <= int(row["at"])]
    return bool(before) and own_words.is_echo(row["content"], frozenset().union(*before))


def _mark_handled(hub: Hub, row: Row) -> None:
    with hub.engine.transaction():
        dream_inbox.mark_done(hub.engine, dream_inbox.ROT, row)
