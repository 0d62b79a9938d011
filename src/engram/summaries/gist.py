"""Gists: one summary per session, and how much is not summarized yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from engram.clock import to_datetime
from engram.errors import InvalidInput, StoreBusy
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.text import count_tokens, format_error, to_one_line
from engram.platform.value import Row as ReadAsDict
from engram.platform.value import value
from engram.sessions import lifecycle as sessions
from engram.store import documents, dream_inbox, exchanges, session_gists
from engram.summaries import versions
from engram.summaries.versions import EXTRACT, GIST, GIVEN
from engram.types import Gist

if TYPE_CHECKING:
    from engram.store.engine import Row
    from engram.summaries.extract import Quote
    from engram.summaries.summary_model import SummaryModel

RIPE = 20  # new exchanges that make a summarized session due again
TOKENS = 600  # tokens of a gist
MODEL_TOKENS = 12_000  # tokens of a session in the model's prompt
_SINCE = "Since then, quoted:"
_EXCHANGE_TOKENS = 800  # tokens of one exchange in it


@value
class Backlog(ReadAsDict):
    """What is not summarized yet."""

    sessions: int
    dirty: int  # sessions with exchanges no gist covers
    ripe: int  # of these, sessions never summarized or with enough new exchanges
    unsummarized_total: int
    max_exchange_id: int


@value
class SummarizeReport:
    """The result of summarizing the backlog."""

    made: tuple[str, ...]
    skipped: tuple[str, ...]  # sessions without changes, changed meanwhile, or only to be rewritten by a model
    failed: dict[str, str]  # sessions, and why they failed
    by: dict[str, int]  # number of gists by their maker
    fallbacks: dict[str, int]  # extracts made because the model failed, by reason
    left: int = 0  # due sessions beyond the limit


@operation(writes=True)
def store_summary(
    hub: Hub,
    session_id: Annotated[str, Help("session id")],
    content: Annotated[str, Help("text of the summary")],
    last_exchange_id: Annotated[int | None, Help("the last exchange it covers; defaults to all")] = None,
) -> Gist:
    """Store the summary of a session as a new version."""
    session = sessions.require_session(hub, session_id)
    clean_text = versions.clean_content(hub, "content", content)
    rows = exchanges.list_by_session(hub.engine, session["id"])
    covered = rows if last_exchange_id is None else _rows_up_to(rows, last_exchange_id)
    return gist_from_row(save_gist(hub, session, covered, clean_text, GIVEN), _count_uncovered(hub, session["id"]))


@operation()
def get_summary(
    hub: Hub, session_id: Annotated[str, Help("session id or a prefix of it")]
) -> Gist | None:  # fmt: skip
    """Show the summary of a session."""
    full_id = sessions.get_session(hub, session_id).id
    row = versions.get_current(hub, GIST, full_id)
    return gist_from_row(row, _count_uncovered(hub, full_id)) if row else None


@operation()
def unsummarized_count(hub: Hub, session_id: Annotated[str, Help("session id")]) -> int:
    """Count the exchanges of a session that its summary does not cover."""
    session = sessions.find_session(hub, session_id)
    return _count_uncovered(hub, session["id"]) if session else 0


@operation()
def list_summaries(
    hub: Hub, limit: Annotated[int, Help("maximum number of summaries, the newest")] = 1000
) -> list[Gist]:
    """Show session summaries, the oldest first."""
    rows = [row for row in documents.list_current(hub.engine, GIST) if row["content"]]
    uncovered = {row["session_id"]: int(row["open"]) for row in exchanges.list_uncovered(hub.engine)}
    return [
        gist_from_row(row, uncovered.get(row["key"], 0)) for row in rows[-sessions.require_positive("limit", limit) :]
    ]


@operation()
def backlog_stats(
    hub: Hub,
    ripe_threshold: Annotated[int, Help("number of new exchanges that make a summarized session due again")] = RIPE,
) -> Backlog:
    """Show how much is not summarized yet."""
    rows, uncovered = exchanges.count_by_session(hub.engine), exchanges.list_uncovered(hub.engine)
    threshold = sessions.require_positive("ripe_threshold", ripe_threshold)
    return Backlog(
        sessions=len(rows),
        dirty=len(uncovered),
        ripe=sum(_is_ripe(row, threshold) for row in uncovered),
        unsummarized_total=sum(int(row["open"]) for row in uncovered),
        max_exchange_id=max((row["last"] for row in rows), default=0),
    )


@operation(writes=True)
def summarize(
    hub: Hub,
    session: Annotated[str | None, Help("only this session, by id or prefix; defaults to all that are due")] = None,
    limit: Annotated[int, Help("maximum number of sessions")] = 100,
    force: Annotated[bool, Help("include sessions that are not due or have nothing new")] = False,
) -> SummarizeReport:  # fmt: skip
    """Summarize sessions with enough new exchanges: by the model if one is configured, otherwise from quotes."""
    from engram.summaries.summary_model import SummaryModel

    max_sessions, model = sessions.require_positive("limit", limit), SummaryModel(hub)
    session_ids = [sessions.get_session(hub, session).id] if session else list_ripe_sessions(hub, force=force)
    summarized: list[str] = []
    skipped: list[str] = []
    failed: dict[str, str] = {}
    for session_id in session_ids[:max_sessions]:
        try:
            (summarized if make_gist(hub, session_id, model, force=force) else skipped).append(session_id)
        except Exception as problem:  # a failing session does not stop the others
            failed[session_id] = format_error(problem)
    return SummarizeReport(
        made=tuple(summarized), skipped=tuple(skipped), failed=failed, by=dict(model.by),
        fallbacks=dict(model.fallbacks), left=max(0, len(session_ids) - max_sessions),
    )  # fmt: skip


def list_ripe_sessions(hub: Hub, *, force: bool = False, threshold: int = RIPE) -> list[str]:
    """Return the sessions due for summarizing, those with the newest exchanges first."""
    backlog = exchanges.count_by_session(hub.engine) if force else exchanges.list_uncovered(hub.engine)
    rows = [row for row in backlog if force or _is_ripe(row, threshold)]
    return [row["session_id"] for row in sorted(rows, key=lambda row: -row["last"])]


def make_gist(hub: Hub, session_id: str, model: SummaryModel, *, force: bool = False) -> Row | None:
    """Rebuild the gist of a session; None if nothing is new, or it changed meanwhile."""
    from engram.summaries.extract import RULES, extract_lines

    rows = exchanges.list_by_session(hub.engine, session_id)
    current = versions.get_current(hub, GIST, session_id)
    exchanges_hash = hash_exchanges(rows)
    unchanged = current is not None and versions.load_sources(current["sources"]).get("hash") == exchanges_hash
    if not rows or (unchanged and not force):
        if current and unchanged:  # an exchange was rewritten with the same text
            with hub.engine.transaction():
                exchanges.mark_covered(hub.engine, rows[-1], current["version"])
        return None
    session = sessions.require_session(hub, session_id)
    lines = extract_lines(rows, TOKENS)
    content, made_by = _write_gist(hub, session_id, rows, lines, model)
    extra_sources: dict[str, Any] = {}
    if made_by == RULES and current is not None and versions.is_authored(current):
        if unchanged:
            return None
        content, made_by, extra_sources = _append_quotes(current, rows)
    if hash_exchanges(exchanges.list_by_session(hub.engine, session_id)) != exchanges_hash:
        return None  # the session went on meanwhile; the next pass sees all of it
    row = save_gist(hub, session, rows, content, made_by, lines, extra_sources)
    model.count_made(RULES if extra_sources else made_by)
    return row


def refresh_lines(hub: Hub, session_id: str, _: SummaryModel, *, force: bool = False) -> Row | None:
    """Rebuild the stored lines of a session whose gist a person wrote, as far as it covers the session."""
    row = versions.get_current(hub, GIST, session_id)
    if row is None or not force:
        return None
    last_id = versions.load_sources(row["sources"]).get("last")
    rows = exchanges.list_by_session(hub.engine, session_id)
    lines_json = _dump_lines(
        [exchange for exchange in rows if exchange["gist"] is not None or exchange["id"] == last_id]
    )
    with hub.engine.transaction(durable=True):
        versions.update_passages(hub, row)
        _store_lines(hub, row, lines_json)
    return row


def preview_gist(hub: Hub, session_id: str) -> str:
    """Return the gist the rules would make of a session now."""
    from engram.summaries.extract import extract_lines
    from engram.summaries.summary_model import SummaryModel

    rows = exchanges.list_by_session(hub.engine, session_id)
    current = versions.get_current(hub, GIST, session_id)
    if current is not None and versions.is_authored(current):
        return _append_quotes(current, rows)[0]
    if not rows:
        return ""
    return _write_gist(hub, session_id, rows, extract_lines(rows, TOKENS), SummaryModel(hub, allowed=False))[0]


def restore_gist(hub: Hub, row: Row) -> None:
    """Make a restored version the current one; call it in the transaction that adds it."""
    last_id = int(versions.load_sources(row["sources"]).get("last") or 0)
    rows = exchanges.list_by_session(hub.engine, row["key"])
    covered = _rows_up_to(rows, last_id) if row["content"] and last_id in [exchange["id"] for exchange in rows] else []
    versions.update_passages(hub, row)
    _store_lines(hub, row, _dump_lines(covered))
    register_gist(hub, row)


def load_lines(hub: Hub, session_id: str) -> dict[str, list[Quote]]:
    """Return the stored lines of a session: those of its extract, and the statements of its users."""
    from engram.summaries.extract import Quote

    row = documents.get_current(hub.engine, EXTRACT, session_id)
    stored = versions.load_sources(row["content"]) if row else {}
    return {
        part: [
            Quote(kind=kind, text=text, exchange=exchange, role=role, at=at, session=session_id)
            for kind, text, exchange, role, at in stored.get(part, ())
        ]
        for part in ("lines", "statements")
    }


def hash_exchanges(rows: list[Row]) -> str:
    """Return a hash of exchanges with their current text."""
    return versions.fingerprint([(row["id"], versions.fingerprint(row["content"])) for row in rows])


def gist_from_row(row: Row, unsummarized: int) -> Gist:
    """Convert a stored row to a Gist."""
    sources = versions.load_sources(row["sources"])
    return Gist(
        session_id=row["key"], content=row["content"], last_exchange_id=sources.get("last", 0),
        created_at=to_datetime(row["made_at"]), version=row["version"], made_by=row["made_by"] or "",
        trust=sources.get("trust", "import"), exchanges=sources.get("count", 0), unsummarized=unsummarized,
        first_at=to_datetime(sources["first_at"]) if sources.get("count") else None,
        last_at=to_datetime(sources["last_at"]) if sources.get("count") else None,
    )  # fmt: skip


def _is_ripe(row: Row, threshold: int) -> bool:
    return bool(row["open"] >= (threshold if row["known"] else 1))


def _count_uncovered(hub: Hub, session_id: str) -> int:
    return int(exchanges.get_session_span(hub.engine, session_id)["open"] or 0)


def _rows_up_to(rows: list[Row], last_id: int) -> list[Row]:
    for index, row in enumerate(rows):
        if row["id"] == last_id:
            return rows[: index + 1]
    raise InvalidInput(field="last_exchange_id", reason=f"{last_id!r} is not an exchange of this session.")


def save_gist(
    hub: Hub, session: Row, rows: list[Row], content: str, made_by: str, lines: list[Quote] | None = None,
    extra_sources: dict[str, Any] | None = None,
) -> Row:  # fmt: skip
    """Save a version, what it covers and the lines for higher tiers in one transaction."""
    sources_json = versions.dump_sources(_build_sources(session, rows) | (extra_sources or {}))
    lines_json = _dump_lines(rows, lines)
    for _ in range(versions.TRIES):
        with hub.engine.transaction(durable=True):
            row = versions.add_version(hub, GIST, session["id"], content, sources_json, made_by)
            if row is not None:
                versions.update_passages(hub, row)
                _mark_covered(hub, session["id"], rows, row["version"])
                _store_lines(hub, row, lines_json)
                register_gist(hub, row)
                return row
    raise StoreBusy(store=hub.engine.store, seconds=0)


def register_gist(hub: Hub, row: Row) -> None:
    """Announce a version to the tiers above; call it in the transaction that writes it."""
    sources = versions.load_sources(row["sources"])
    if row["content"]:
        session_gists.save(
            hub.engine, session_id=row["key"], version=row["version"], project=str(sources.get("project") or ""),
            trust=str(sources.get("trust")), first_at=sources.get("first_at"), last_at=sources.get("last_at"),
        )  # fmt: skip
    else:
        session_gists.delete(hub.engine, row["key"])
    dream_inbox.mark_new(hub.engine, dream_inbox.INTEGRATE, [row["key"]], hub.now())


def _store_lines(hub: Hub, row: Row, lines: str) -> None:
    """Store the lines that eras, profile and narrative are built from, for the newest version only."""
    documents.delete(hub.engine, EXTRACT, row["key"])
    documents.add_version(hub.engine, EXTRACT, row["key"], row["version"], lines, row["made_by"], hub.now())


def _mark_covered(hub: Hub, session_id: str, rows: list[Row], version: int) -> None:
    """Record what a version covers; nothing if an older exchange arrived meanwhile, so that it is rebuilt."""
    total = exchanges.get_session_span(hub.engine, session_id)["total"]
    if total > len(rows):
        exchanges.mark_uncovered(hub.engine, session_id)
    if rows and exchanges.count_before(hub.engine, rows[-1]) + 1 == len(rows):
        exchanges.mark_covered(hub.engine, rows[-1], version)


def _build_sources(session: Row, rows: list[Row]) -> dict[str, Any]:
    origins = sorted({row["origin"] for row in rows})
    sources: dict[str, Any] = {
        "session": session["id"], "project": session["project"], "count": len(rows), "hash": hash_exchanges(rows),
        "trust": versions.get_least_trusted(origins), "origins": origins,
    }  # fmt: skip
    if rows:
        first, last = rows[0], rows[-1]
        sources |= {"first": first["id"], "last": last["id"], "first_at": first["at"], "last_at": last["at"]}
        sources["at"] = last["at"]
    return sources


def _dump_lines(rows: list[Row], lines: list[Quote] | None = None) -> str:
    """Serialize the lines of a session that eras, profile and narrative are built from."""
    from engram.summaries import extract

    parts = {"lines": extract.extract_lines(rows, TOKENS) if lines is None else lines}
    parts["statements"] = extract.extract_statements(rows)
    return versions.dump_sources({
        part: [(line.kind, line.text, line.exchange, line.role, line.at) for line in part_lines]
        for part, part_lines in parts.items()
    })  # fmt: skip


def _write_gist(
    hub: Hub, session_id: str, rows: list[Row], lines: list[Quote], model: SummaryModel
) -> tuple[str, str]:  # fmt: skip
    """Return a gist and its maker: a model, the evidence of a captured session, or quotes."""
    from engram.summaries.extract import RULES, render_lines
    from engram.summaries.session_summary import describe_session

    answer = None if model.off else model.ask("gist", _render_session(rows), "summary", ("decisions", "open"))
    if answer is None:
        return describe_session(hub, session_id) or render_lines(lines) or _quote_first_words(rows), RULES
    parts = [answer.data["summary"]]
    for heading, part in (("Decided", "decisions"), ("Open", "open")):
        parts += [f"{heading}:", *(f"- {item}" for item in answer.data[part])] if answer.data[part] else []
    return "\n".join(parts), answer.made_by


def _append_quotes(current: Row, rows: list[Row]) -> tuple[str, str, dict[str, Any]]:
    """Return a person's text followed by quotes of what is new since, its author, and where their text ends."""
    from engram.summaries.extract import extract_lines, render_lines

    sources = versions.load_sources(current["sources"])
    written_end = sources.get("written") or {
        "chars": len(current["content"]),
        "last": sources.get("last"),
        "count": sources.get("count", 0),
    }
    positions = {row["id"]: position for position, row in enumerate(rows, 1)}
    first_new = positions.get(written_end["last"], written_end["count"])
    new_rows = [row for position, row in enumerate(rows) if position >= first_new or row["gist"] is None]
    quotes = render_lines(extract_lines(new_rows, TOKENS // 2)) or (_quote_first_words(new_rows) if new_rows else "")
    written_text = current["content"][: written_end["chars"]]
    author = {"by": sources["by"]} if "by" in sources else {}
    content = f"{written_text}\n\n{_SINCE}\n{quotes}" if quotes else written_text
    return content, current["made_by"], {"written": written_end, **author}


def _quote_first_words(rows: list[Row]) -> str:
    """Quote the first words of a session without sentences."""
    first = next((row for row in rows if row["content"].strip()), rows[0])
    return f"- {first['role']}: {to_one_line(first['content'], 200)} (#{first['id']})"


def _render_session(rows: list[Row]) -> str:
    """Render a session for the model; of a long one the beginning, the end, and an extract in between."""
    from engram.platform.text import cut_to_tokens
    from engram.summaries import extract

    rendered = [f"#{row['id']} {row['role']}:\n{cut_to_tokens(row['content'], _EXCHANGE_TOKENS)}" for row in rows]
    sizes = [count_tokens(entry) + 1 for entry in rendered]
    if sum(sizes) <= MODEL_TOKENS:
        return "\n".join(rendered)
    head, tail = _count_fitting(sizes, MODEL_TOKENS // 3), _count_fitting(sizes[::-1], MODEL_TOKENS // 3)
    middle = extract.render_lines(extract.extract_lines(rows[head : len(rows) - tail], MODEL_TOKENS // 3))
    return "\n".join([*rendered[:head], "[… excerpts of the middle …]", middle, "[…]", *rendered[len(rows) - tail :]])


def _count_fitting(sizes: list[int], remaining: int) -> int:
    """Return how many of the first entries fit."""
    for count, size in enumerate(sizes):
        remaining -= size
        if remaining < 0:
            return count
    return len(sizes)
