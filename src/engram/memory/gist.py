"""Gists: one summary per session, and how much no gist covers yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from engram.clock import moment
from engram.coordination import sessions
from engram.errors import InvalidInput, StoreBusy
from engram.hub import Hub
from engram.memory import versions
from engram.memory.versions import EXTRACT, GIST, GIVEN
from engram.model import Gist
from engram.operation import Help, operation
from engram.store import documents, exchanges, gisted, news
from engram.text import one_line, reason, tokens
from engram.value import Row as ReadAsDict
from engram.value import value

if TYPE_CHECKING:
    from engram.memory.extract import Line
    from engram.memory.thinker import Thinker
    from engram.store.engine import Row

RIPE = 20  # new exchanges that make a summarized session worth another look
TOKENS = 600  # of a gist
_TOLD = 12_000  # tokens of a session that a model is given
_SINCE = "Since then, quoted:"
_OF_ONE = 800  # tokens of one exchange of it


@value
class Backlog(ReadAsDict):
    """How much no gist covers yet."""

    sessions: int
    dirty: int  # with something no gist covers
    ripe: int  # dirty, and never summarized or with enough that is new
    unsummarized_total: int
    max_exchange_id: int


@value
class Summarized:
    """What a pass over the backlog made."""

    made: tuple[str, ...]
    skipped: tuple[str, ...]  # nothing new in them, they changed meanwhile, or only a model may write them anew
    failed: dict[str, str]  # sessions, and why
    by: dict[str, int]  # gists by what made them
    fallbacks: dict[str, int]  # extracts made because no model could, by reason
    left: int = 0  # ripe sessions beyond the limit


@operation(writes=True)
def store_summary(
    hub: Hub,
    session_id: Annotated[str, Help("the session it is about")],
    content: Annotated[str, Help("the summary")],
    last_exchange_id: Annotated[int | None, Help("the last exchange it covers; without it, all there are")] = None,
) -> Gist:
    """Keep the gist of a session as its newest version."""
    session = sessions.require(hub, session_id)
    said = versions.fit(hub, "content", content)
    rows = exchanges.of_session(hub.engine, session["id"])
    covered = rows if last_exchange_id is None else _up_to(rows, last_exchange_id)
    return view(keep(hub, session, covered, said, GIVEN), _open_in(hub, session["id"]))


@operation()
def get_summary(
    hub: Hub, session_id: Annotated[str, Help("the session, or the beginning of its id")]
) -> Gist | None:  # fmt: skip
    """Show the gist of a session."""
    found = sessions.get_session(hub, session_id).id
    row = versions.current(hub, GIST, found)
    return view(row, _open_in(hub, found)) if row else None


@operation()
def unsummarized_count(hub: Hub, session_id: Annotated[str, Help("the session")]) -> int:
    """Count the exchanges of a session that no gist covers."""
    found = sessions.known(hub, session_id)
    return _open_in(hub, found["id"]) if found else 0


@operation()
def list_summaries(hub: Hub, limit: Annotated[int, Help("at most so many, the newest")] = 1000) -> list[Gist]:
    """Show the gists, the one made first at the top."""
    rows = [row for row in documents.currents(hub.engine, GIST) if row["content"]]
    waiting = {row["session_id"]: int(row["open"]) for row in exchanges.uncovered(hub.engine)}
    return [view(row, waiting.get(row["key"], 0)) for row in rows[-sessions.positive("limit", limit) :]]


@operation()
def backlog_stats(
    hub: Hub,
    ripe_threshold: Annotated[int, Help("so many new exchanges make a summarized session ripe")] = RIPE,
) -> Backlog:
    """Show how much no gist covers yet."""
    rows, open_ = exchanges.backlog(hub.engine), exchanges.uncovered(hub.engine)
    least = sessions.positive("ripe_threshold", ripe_threshold)
    return Backlog(
        sessions=len(rows),
        dirty=len(open_),
        ripe=sum(_is_ripe(row, least) for row in open_),
        unsummarized_total=sum(int(row["open"]) for row in open_),
        max_exchange_id=max((row["last"] for row in rows), default=0),
    )


@operation(writes=True)
def summarize(
    hub: Hub,
    session: Annotated[str | None, Help("only this one, or the beginning of its id; else all that are ripe")] = None,
    limit: Annotated[int, Help("at most so many sessions")] = 100,
    force: Annotated[bool, Help("also those that are not ripe, or have nothing new")] = False,
) -> Summarized:  # fmt: skip
    """Make gists for sessions with enough that is new: by the model if one is chosen, else of quotes."""
    from engram.memory.thinker import Thinker

    most, thinker = sessions.positive("limit", limit), Thinker(hub)
    chosen = [sessions.get_session(hub, session).id] if session else ripe(hub, force=force)
    made: list[str] = []
    skipped: list[str] = []
    failed: dict[str, str] = {}
    for each in chosen[:most]:
        try:
            (made if make(hub, each, thinker, force=force) else skipped).append(each)
        except Exception as problem:  # whatever is wrong with one session, the others are summarized
            failed[each] = reason(problem)
    return Summarized(
        made=tuple(made), skipped=tuple(skipped), failed=failed, by=dict(thinker.by),
        fallbacks=dict(thinker.fallbacks), left=max(0, len(chosen) - most),
    )  # fmt: skip


def ripe(hub: Hub, *, force: bool = False, threshold: int = RIPE) -> list[str]:
    """Return the sessions worth summarizing, those with the newest exchanges first."""
    found = exchanges.backlog(hub.engine) if force else exchanges.uncovered(hub.engine)
    rows = [row for row in found if force or _is_ripe(row, threshold)]
    return [row["session_id"] for row in sorted(rows, key=lambda row: -row["last"])]


def make(hub: Hub, session_id: str, thinker: Thinker, *, force: bool = False) -> Row | None:
    """Make the gist of a session anew; None when it has nothing new, or changed while it was made."""
    from engram.memory.extract import RULES, extract

    rows = exchanges.of_session(hub.engine, session_id)
    known = versions.current(hub, GIST, session_id)
    now_said = said_by(rows)
    same = known is not None and versions.loaded(known["sources"]).get("hash") == now_said
    if not rows or (same and not force):
        if known and same:  # an exchange was written anew with the same words
            with hub.engine.transaction():
                exchanges.cover(hub.engine, rows[-1], known["version"])
        return None
    session = sessions.require(hub, session_id)
    lines = extract(rows, TOKENS)
    content, made_by = _written(rows, lines, thinker)
    more: dict[str, Any] = {}
    if made_by == RULES and known is not None and versions.is_written(known):
        if same:
            return None
        content, made_by, more = _quoted_below(known, rows)
    if said_by(exchanges.of_session(hub.engine, session_id)) != now_said:
        return None  # it went on meanwhile; the next pass sees all of it
    row = keep(hub, session, rows, content, made_by, lines, more)
    thinker.made(RULES if more else made_by)
    return row


def refresh(hub: Hub, session_id: str, _: Thinker, *, force: bool = False) -> Row | None:
    """Keep anew the lines of a session whose gist somebody wrote, as far as it covers the session."""
    row = versions.current(hub, GIST, session_id)
    if row is None or not force:
        return None
    last = versions.loaded(row["sources"]).get("last")
    rows = exchanges.of_session(hub.engine, session_id)
    kept = _lines([each for each in rows if each["gist"] is not None or each["id"] == last])
    with hub.engine.transaction(durable=True):
        versions.show(hub, row)
        _keep_lines(hub, row, kept)
    return row


def foreseen(hub: Hub, session_id: str) -> str:
    """Return the gist the rules would make of a session now."""
    from engram.memory.extract import extract
    from engram.memory.thinker import Thinker

    rows = exchanges.of_session(hub.engine, session_id)
    known = versions.current(hub, GIST, session_id)
    if known is not None and versions.is_written(known):
        return _quoted_below(known, rows)[0]
    return _written(rows, extract(rows, TOKENS), Thinker(hub, allowed=False))[0] if rows else ""


def restore(hub: Hub, row: Row) -> None:
    """Let a version that says again what an older one said be what is found; in the transaction that adds it."""
    last = int(versions.loaded(row["sources"]).get("last") or 0)
    rows = exchanges.of_session(hub.engine, row["key"])
    covered = _up_to(rows, last) if row["content"] and last in [each["id"] for each in rows] else []
    versions.show(hub, row)
    _keep_lines(hub, row, _lines(covered))
    enter(hub, row)


def lines_of(hub: Hub, session_id: str) -> dict[str, list[Line]]:
    """Return what was kept of a session line by line: what its extract says, and what its people stated."""
    from engram.memory.extract import Line

    row = documents.current(hub.engine, EXTRACT, session_id)
    found = versions.loaded(row["content"]) if row else {}
    return {
        part: [
            Line(kind=kind, text=said, exchange=exchange, role=role, at=at, session=session_id)
            for kind, said, exchange, role, at in found.get(part, ())
        ]
        for part in ("lines", "statements")
    }


def said_by(rows: list[Row]) -> str:
    """Return what tells these exchanges, as they are worded now, from any others."""
    return versions.fingerprint([(row["id"], versions.fingerprint(row["content"])) for row in rows])


def view(row: Row, waiting: int) -> Gist:
    """Turn a stored row into the value users see."""
    facts = versions.loaded(row["sources"])
    return Gist(
        session_id=row["key"], content=row["content"], last_exchange_id=facts.get("last", 0),
        created_at=moment(row["made_at"]), version=row["version"], made_by=row["made_by"] or "",
        trust=facts.get("trust", "import"), exchanges=facts.get("count", 0), unsummarized=waiting,
        first_at=moment(facts["first_at"]) if facts.get("count") else None,
        last_at=moment(facts["last_at"]) if facts.get("count") else None,
    )  # fmt: skip


def _is_ripe(row: Row, threshold: int) -> bool:
    return bool(row["open"] >= (threshold if row["known"] else 1))


def _open_in(hub: Hub, session_id: str) -> int:
    return int(exchanges.span(hub.engine, session_id)["open"] or 0)


def _up_to(rows: list[Row], last: int) -> list[Row]:
    for place, row in enumerate(rows):
        if row["id"] == last:
            return rows[: place + 1]
    raise InvalidInput(field="last_exchange_id", reason=f"{last!r} is no exchange of this session.")


def keep(
    hub: Hub, session: Row, rows: list[Row], content: str, made_by: str, lines: list[Line] | None = None,
    more: dict[str, Any] | None = None,
) -> Row:  # fmt: skip
    """Keep a version with what it covers and the lines higher tiers are made of, all in one transaction."""
    facts = versions.dumped(_sources(session, rows) | (more or {}))
    kept = _lines(rows, lines)
    for _ in range(versions.TRIES):
        with hub.engine.transaction(durable=True):
            row = versions.add(hub, GIST, session["id"], content, facts, made_by)
            if row is not None:
                versions.show(hub, row)
                _cover(hub, session["id"], rows, row["version"])
                _keep_lines(hub, row, kept)
                enter(hub, row)
                return row
    raise StoreBusy(store=hub.engine.store, seconds=0)


def enter(hub: Hub, row: Row) -> None:
    """Let the tiers above know of a version; in the transaction that writes it."""
    facts = versions.loaded(row["sources"])
    if row["content"]:
        gisted.put(
            hub.engine, session_id=row["key"], version=row["version"], project=str(facts.get("project") or ""),
            trust=str(facts.get("trust")), first_at=facts.get("first_at"), last_at=facts.get("last_at"),
        )  # fmt: skip
    else:
        gisted.drop(hub.engine, row["key"])
    news.note(hub.engine, news.INTEGRATE, [row["key"]], hub.now())


def _keep_lines(hub: Hub, row: Row, lines: str) -> None:
    """Keep the lines eras, profile and narrative are made of, of the newest version only."""
    documents.delete(hub.engine, EXTRACT, row["key"])
    documents.add(hub.engine, EXTRACT, row["key"], row["version"], lines, row["made_by"], hub.now())


def _cover(hub: Hub, session_id: str, rows: list[Row], version: int) -> None:
    """Note what a version covers; where something older came in meanwhile, nothing, so that it is made again."""
    total = exchanges.span(hub.engine, session_id)["total"]
    if total > len(rows):
        exchanges.uncover(hub.engine, session_id)
    if rows and exchanges.turn(hub.engine, rows[-1]) + 1 == len(rows):
        exchanges.cover(hub.engine, rows[-1], version)


def _sources(session: Row, rows: list[Row]) -> dict[str, Any]:
    origins = sorted({row["origin"] for row in rows})
    facts: dict[str, Any] = {
        "session": session["id"], "project": session["project"], "count": len(rows), "hash": said_by(rows),
        "trust": versions.trust(origins), "origins": origins,
    }  # fmt: skip
    if rows:
        first, last = rows[0], rows[-1]
        facts |= {"first": first["id"], "last": last["id"], "first_at": first["at"], "last_at": last["at"]}
        facts["at"] = last["at"]
    return facts


def _lines(rows: list[Row], lines: list[Line] | None = None) -> str:
    """Return the lines of a session that eras, profile and narrative are made of, as they are stored."""
    from engram.memory import extract

    parts = {"lines": extract.extract(rows, TOKENS) if lines is None else lines}
    parts["statements"] = extract.statements(rows)
    return versions.dumped({
        part: [(line.kind, line.text, line.exchange, line.role, line.at) for line in found]
        for part, found in parts.items()
    })  # fmt: skip


def _written(rows: list[Row], lines: list[Line], thinker: Thinker) -> tuple[str, str]:
    """Return a gist and what made it."""
    from engram.memory.extract import RULES, rendered

    thought = None if thinker.off else thinker.ask("gist", _told(rows), "summary", ("decisions", "open"))
    if thought is None:
        return rendered(lines) or _beginning(rows), RULES
    parts = [thought.data["summary"]]
    for heading, part in (("Decided", "decisions"), ("Open", "open")):
        parts += [f"{heading}:", *(f"- {each}" for each in thought.data[part])] if thought.data[part] else []
    return "\n".join(parts), thought.made_by


def _quoted_below(known: Row, rows: list[Row]) -> tuple[str, str, dict[str, Any]]:
    """Return what somebody wrote with quotes of all that came since below it, who wrote it, and where that ends."""
    from engram.memory.extract import extract, rendered

    facts = versions.loaded(known["sources"])
    ends = facts.get("written") or {
        "chars": len(known["content"]),
        "last": facts.get("last"),
        "count": facts.get("count", 0),
    }
    places = {row["id"]: place for place, row in enumerate(rows, 1)}
    first = places.get(ends["last"], ends["count"])
    new = [row for place, row in enumerate(rows) if place >= first or row["gist"] is None]
    quotes = rendered(extract(new, TOKENS // 2)) or (_beginning(new) if new else "")
    written = known["content"][: ends["chars"]]
    by = {"by": facts["by"]} if "by" in facts else {}
    content = f"{written}\n\n{_SINCE}\n{quotes}" if quotes else written
    return content, known["made_by"], {"written": ends, **by}


def _beginning(rows: list[Row]) -> str:
    """Return the first words of a session that has no sentence in it."""
    first = next((row for row in rows if row["content"].strip()), rows[0])
    return f"- {first['role']}: {one_line(first['content'], 200)} (#{first['id']})"


def _told(rows: list[Row]) -> str:
    """Return a session as a model is given it; of a long one the beginning, the end, and an extract between."""
    from engram.memory import extract
    from engram.text import cut

    shown = [f"#{row['id']} {row['role']}:\n{cut(row['content'], _OF_ONE)}" for row in rows]
    sizes = [tokens(each) + 1 for each in shown]
    if sum(sizes) <= _TOLD:
        return "\n".join(shown)
    head, tail = _within(sizes, _TOLD // 3), _within(sizes[::-1], _TOLD // 3)
    middle = extract.rendered(extract.extract(rows[head : len(rows) - tail], _TOLD // 3))
    return "\n".join([*shown[:head], "[… quotes from between …]", middle, "[…]", *shown[len(rows) - tail :]])


def _within(sizes: list[int], room: int) -> int:
    """Return how many of the first fit."""
    for count, size in enumerate(sizes):
        room -= size
        if room < 0:
            return count
    return len(sizes)
