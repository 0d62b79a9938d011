"""Episodes in the store: saved with the digest after each batch, and shown."""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated, Any

import orjson

from engram.capture.digests.error_records import build_error_id, save_errors
from engram.capture.digests.subagents import add_subagents_to_episodes
from engram.clock import to_datetime
from engram.evidence import decisions, lasting
from engram.evidence.content_words import extract_content_words
from engram.evidence.decision_text import is_put_as_question, keep_newest
from engram.evidence.episode_facts import build_episodes
from engram.evidence.open_items import waits_for_push
from engram.evidence.records import Decision, Episode, EpisodeError, OpenItem
from engram.hub import Hub
from engram.operation import Help, operation
from engram.sessions import lifecycle
from engram.store import captures, cases, episodes, events, session_errors, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.capture.digests.fold import Fold
    from engram.store.engine import Engine, Row

_OLDER = 500  # decisions of a project that a newer one is compared with
_AMENDING = 100  # decisions that change earlier ones, with which an older decision is compared
_SAME_SUBJECT = ((4, 0.3), (3, 0.4))  # words that two decisions about one thing share, and their share of the shorter


@operation()
def list_episodes(hub: Hub, session_id: Annotated[str, Help("session id or a prefix of it")]) -> list[Episode]:
    """Show a session as episodes: what was asked, decided and done, and what came of it."""
    session = lifecycle.get_session(hub, session_id)
    capture = captures.find_by_session(hub.engine, session.id)
    rows = episodes.list_by_capture(hub.engine, capture["num"]) if capture else []
    event_ids = _find_event_ids(hub.engine, capture["num"], rows) if capture else {}
    rows = add_subagents_to_episodes(hub.engine, session.id, rows)
    later = _list_later(hub, session.id, capture["num"]) if capture else {}
    return [_episode_from_row(row, session.id, event_ids, later) for row in rows]


@operation()
def list_decisions(
    hub: Hub,
    project: Annotated[str | None, Help("only decisions in this project")] = None,
    session: Annotated[str | None, Help("only decisions of this session")] = None,
    days: Annotated[float | None, Help("how many days back")] = None,
    rejected: Annotated[bool, Help("show proposals that were turned down instead")] = False,
    everything: Annotated[bool, Help("also show superseded decisions")] = False,
    limit: Annotated[int, Help("maximum number to show")] = 50,
) -> list[Decision]:
    """Show the rules and choices you made or confirmed in past sessions, newest first."""
    rows = _list_items(
        hub, "rejected" if rejected else "decision", project, session, days, limit, in_force=not everything
    )
    found = list({item.text: item for item in map(_decision_from_row, reversed(rows))}.values())[::-1]  # forks repeat
    if everything or rejected:
        return found
    return keep_newest((item for item in found if not is_put_as_question(item.text)), lambda item: item.text)


@operation()
def list_open_items(
    hub: Hub,
    project: Annotated[str | None, Help("only items in this project")] = None,
    session: Annotated[str | None, Help("only items of this session")] = None,
    days: Annotated[float | None, Help("how many days back")] = None,
    limit: Annotated[int, Help("maximum number to show")] = 50,
) -> list[OpenItem]:
    """Show what past sessions left undone, newest first; of all sessions, only what was open at their end."""
    rows = _list_items(hub, "open", project, session, days, limit, in_force=True, at_end=not session)
    return [_open_item_from_row(row) for row in rows]


def _open_item_from_row(row: Row) -> OpenItem:
    return OpenItem(
        id=row["id"], text=row["text"], session_id=row["session_id"], project=row["project"], at=to_datetime(row["at"]),
        episode=row["title"],
    )  # fmt: skip


def _list_items(
    hub: Hub,
    kind: str,
    project: str | None,
    session: str | None,
    days: float | None,
    limit: int,
    *,
    in_force: bool,
    at_end: bool = False,
) -> list[Row]:
    return episodes.list_items(
        hub.engine, kind, lifecycle.require_positive("limit", limit),
        project=lifecycle.parse_project_filter(project), in_force=in_force, at_end=at_end,
        session_id=lifecycle.get_session(hub, session).id if session else None,
        since=lifecycle.compute_since(hub, "days", days) if days is not None else None,
    )  # fmt: skip


def _decision_from_row(row: Row) -> Decision:
    facts = orjson.loads(row["facts"])
    return Decision(
        id=row["id"], text=row["text"], kind=facts["kind"], about=facts.get("about", ""), at=to_datetime(row["at"]),
        session_id=row["session_id"], project=row["project"], superseded_by=row["superseded_by"],
    )  # fmt: skip


def _list_later(hub: Hub, session_id: str, capture: int) -> dict[str, str]:
    """Return what later sessions did to items of this one: the newer decision, the session that fixed an error."""
    rows = episodes.list_items(hub.engine, "decision", 1000, session_id=session_id)
    found = session_errors.list_by_capture(hub.engine, capture)
    return {row["id"]: row["superseded_by"] for row in rows if row["superseded_by"]} | {
        row["id"]: row["fixed_in"] for row in found if row["fixed_in"]
    }


def _find_event_ids(engine: Engine, capture: int, rows: list[Row]) -> dict[int, int]:
    """Return the event id of every key that episodes name."""
    keys = sorted({key for row in rows for key in _collect_keys(orjson.loads(row["facts"]))})
    return {key: found[0] for key, found in events.find_existing(engine, capture, keys).items()}


def _collect_keys(node: Any) -> list[int]:
    if isinstance(node, dict):
        return [*node.get("keys", ()), *(key for child in node.values() for key in _collect_keys(child))]
    return [key for child in node for key in _collect_keys(child)] if isinstance(node, list) else []


def _episode_from_row(row: Row, session_id: str, event_ids: dict[int, int], later: dict[str, str]) -> Episode:
    facts = orjson.loads(row["facts"])

    def find_events(item: dict[str, Any]) -> tuple[int, ...]:
        return tuple(event_ids[key] for key in item["keys"] if key in event_ids)

    def to_decision(item: dict[str, Any]) -> Decision:
        item_id = build_item_id(row["capture"], item)
        return Decision(
            id=item_id, text=item["text"], kind=item["kind"], about=item.get("about", ""), session_id=session_id,
            at=to_datetime(row["started_at"]) if row["started_at"] else None, events=find_events(item),
            superseded_by=later.get(item_id),
        )  # fmt: skip

    return Episode(
        session_id=session_id, number=row["number"], title=row["title"], request=facts["request"], result=row["result"],
        started_at=to_datetime(row["started_at"]) if row["started_at"] else None,
        ended_at=to_datetime(row["ended_at"]) if row["ended_at"] else None,
        decisions=tuple(map(to_decision, facts["decisions"])), rejected=tuple(map(to_decision, facts["rejected"])),
        causes=tuple(item["text"] for item in facts["causes"]),
        errors=tuple(
            _build_error(item, find_events(item), later.get(build_error_id(row["capture"], item)))
            for item in facts["errors"]
        ),
        changed=tuple(facts["changed"]), read=tuple(facts["read"]), commits=tuple(facts["commits"]),
        refused=tuple(facts["refused"]), tests=facts["tests"], open=tuple(facts["open"]), report=facts["report"],
        events=find_events(facts),
    )  # fmt: skip


def _build_error(item: dict[str, Any], event_ids: tuple[int, ...], fixed_in: str | None) -> EpisodeError:
    return EpisodeError(
        error=item["line"], cause=item["cause"], fix=item["fix"], times=item["times"], events=event_ids,
        signature=item.get("known", ""), command=item.get("command", ""), shape=item.get("shape", ""),
        names=tuple(item.get("names", ())), fix_kind=item.get("how", ""), passing=item.get("passing", ""),
        verified=bool(item.get("verified")), fixed_in=fixed_in,
    )  # fmt: skip


def build_item_id(capture: int, item: dict[str, Any]) -> str:
    """Return the id of an item: the same when its session is read again."""
    name = f"{capture}:{item['kind']}:{item['keys'][0] if item['keys'] else ''}:{item['text']}"
    return "d" + blake2b(name.encode("utf-8", "replace"), digest_size=6).hexdigest()


def save_episodes(engine: Engine, capture: int, fold: Fold, now: int) -> None:
    """Save the episodes of a session that changed since the last save."""
    built = build_episodes(fold.state, fold.episodes)
    fold.episodes.dirty, fold.episodes.dropped = set(), []
    episodes.save(engine, [_build_row(capture, facts) for facts in built])
    cases.add_episodes(
        engine,
        [
            {"capture": capture, "number": facts["number"], "at": facts["until"] or facts["from"] or now}
            for facts in built
        ],
    )
    replaced: dict[str, str] = {}
    for facts in built:
        rows = _build_item_rows(capture, facts, now)
        episodes.save_items(engine, capture, facts["number"], rows)
        _supersede(engine, capture, facts, rows)
        replaced |= _list_replaced(capture, facts)
    episodes.mark_superseded_each(engine, replaced)  # after all: what replaces an item may stand in a later episode
    save_errors(engine, capture, fold.state, {facts["number"] for facts in built}, now)


def _build_row(capture: int, facts: dict[str, Any]) -> Row:
    shown = {name: fact for name, fact in facts.items() if name not in ("number", "from", "until", "title", "result")}
    return {
        "capture": capture, "number": facts["number"], "started_at": facts["from"], "ended_at": facts["until"],
        "title": facts["title"], "result": facts["result"], "facts": orjson.dumps(shown).decode(),
    }  # fmt: skip


def _build_item_rows(capture: int, facts: dict[str, Any], now: int) -> list[Row]:
    amending = {"amends": True} if _join_amending(facts, [item["text"] for item in facts["decisions"]]) else {}
    groups = (
        ("decision", [item | amending for item in facts["decisions"]]), ("rejected", facts["rejected"]),
        ("cause", [{"kind": "cause", **item} for item in facts["causes"]]),
        ("open", [{"kind": "open", "text": text, "keys": []} for text in facts["open"] if not waits_for_push(text)]),
    )  # fmt: skip
    rows: dict[str, Row] = {}
    for kind, items in groups:
        for item in items:
            item_id = build_item_id(capture, item)
            rows[item_id] = {
                "id": item_id, "capture": capture, "episode": facts["number"], "kind": kind,
                "at": facts["until"] or facts["from"] or now, "text": item["text"],
                "words": " ".join(sorted(extract_content_words(item["text"]))), "facts": orjson.dumps(item).decode(),
            }  # fmt: skip
    return list(rows.values())


def _list_replaced(capture: int, facts: dict[str, Any]) -> dict[str, str]:
    """Return the decisions of an episode that the session itself replaced, with what replaced them."""
    return {
        build_item_id(capture, item): build_item_id(capture, item["by"])
        for item in facts["decisions"]
        if item.get("by")
    }


def _join_amending(facts: dict[str, Any], decided: list[str]) -> str:
    """Return what an episode says that changes an earlier decision, with what was decided; "" if nothing does.

    Of the request only the sentences that say so count: a long one, such as a pasted issue, shares words with anything.
    """
    asked = decisions.find_amending(f"{facts['title']}. {facts['request']}")
    changed = [text for text in decided if decisions.amends(text)]
    if asked:
        return " ".join([asked, *decided])
    return " ".join(changed)


def _supersede(engine: Engine, capture: int, facts: dict[str, Any], rows: list[Row]) -> None:
    """Mark decisions of the project that a newer episode says it changes, whichever of them was read first."""
    decided = [row for row in rows if row["kind"] == "decision"]
    session = sessions.get(engine, captures.get(engine, capture)["session_id"]) if decided else None
    if session is None or not session["project"]:
        return
    _supersede_older(engine, session["project"], capture, facts, decided)
    _supersede_by_newer(engine, session["project"], capture, decided)


def _supersede_older(
    engine: Engine, project: str, capture: int, facts: dict[str, Any], decided: list[Row]
) -> None:  # fmt: skip
    said = _join_amending(facts, [row["text"] for row in decided])
    if not said:
        return
    older = episodes.list_older_decisions(engine, project, decided[0]["at"], capture, facts["number"], _OLDER)
    replaced = [row["id"] for row in older if _is_same_subject(said, row["words"])]
    episodes.mark_superseded(engine, replaced, decided[0]["id"])


def _supersede_by_newer(engine: Engine, project: str, capture: int, decided: list[Row]) -> None:
    for newer in episodes.list_amending_decisions(engine, project, decided[0]["at"], _AMENDING):
        if newer["capture"] == capture:
            continue
        facts = orjson.loads(newer["facts"])
        said = _join_amending({"title": newer["title"], "request": facts["request"]}, [newer["text"]])
        replaced = [row["id"] for row in decided if _is_same_subject(said, row["words"])]
        episodes.mark_superseded(engine, replaced, newer["id"])


def _is_same_subject(text: str, other_words: str) -> bool:
    """Return whether a text is about the same thing as a decision, given by its content words."""
    words, other = lasting.drop_steps(extract_content_words(text)), lasting.drop_steps(frozenset(other_words.split()))
    shared = words & other
    shorter = min(len(words), len(other))
    return any(len(shared) >= least and len(shared) >= share * shorter for least, share in _SAME_SUBJECT)
