"""Take over the memory of Lyra: what was said, with its dates, and what was made of it.

Nothing comes twice, one bad row stops no other, and what cannot stand as it is gets mended and counted. Lyra's vectors
stay behind: nobody wrote down which model made them, and vectors of two models cannot be compared.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from engram import text
from engram.coordination.older_engram import id_of
from engram.errors import Error, ImportRefused
from engram.hub import Hub
from engram.memory import mending
from engram.memory.exchanges import key_of
from engram.memory.lyra_documents import FLAVOR, Documents
from engram.memory.mending import Mending, is_count
from engram.operation import Help, operation
from engram.store import activity, exchanges
from engram.store import sessions as session_store
from engram.value import value

if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.redaction.redactor import Redactor
    from engram.store.engine import Row
    from engram.store.seed_lyra import Lyra

    Progress = Callable[[int, int, str], None]

_FLOAT = 4  # bytes
_NAMED = 20  # rows that could not be taken over


@value
class TakenOver:
    """What the import of another memory took over, and what it had to mend."""

    source: str
    sessions: int
    exchanges: int
    gists: int
    eras: int
    documents: int  # profiles, narratives, self states
    already_here: int
    mended: dict[str, int]
    failed: tuple[str, ...]  # rows that could not be taken over, the first of them
    redacted: dict[str, int]
    vectors: dict[str, int]  # blobs found, by dimension; not taken over: texts are embedded here anew
    dry_run: bool = False


@operation(writes=True, agent=False)
def import_lyra(
    hub: Hub,
    path: Annotated[str, Help("Lyra's database file")],
    dry_run: Annotated[bool, Help("only tell what would be taken over")] = False,
) -> TakenOver:
    """Take over the memory of Lyra: exchanges, gists, eras, profile, narrative, self state; again for what is new."""
    return take_over(hub, path, dry_run=dry_run)


def take_over(hub: Hub, path: str, *, dry_run: bool = False, progress: Progress | None = None) -> TakenOver:
    """Take over a Lyra database, telling how far it is."""
    from engram.redaction import known_secrets
    from engram.redaction.removal import redactor
    from engram.store.seed_lyra import Lyra

    place = os.path.abspath(os.path.expanduser(path))
    if not os.path.isfile(place):
        raise ImportRefused(path=path, reason="there is no such file.")
    if hub.engine.dialect == "sqlite" and os.path.samefile(place, hub.engine.store):
        raise ImportRefused(path=path, reason="it is the store that is open.")
    with Lyra(place, hub.settings.busy_seconds) as seed:
        work = _Import(hub, seed, redactor(hub, make=not dry_run), dry_run)
        work.run(progress)
    if not dry_run:
        known_secrets.keep(hub.settings.home, work.redactor)
    return work.result()


class _OnlyLooking(Exception):
    """A dry run has seen what it wanted; this part is rolled back."""


class _Import:
    """One import, in small transactions, so that others can write meanwhile."""

    def __init__(self, hub: Hub, seed: Lyra, redactor: Redactor, dry_run: bool) -> None:
        self.hub, self.seed, self.redactor, self.dry_run = hub, seed, redactor, dry_run
        self.mend = Mending(redactor, hub.now())
        self.counts: Counter[str] = Counter()
        self.vectors: Counter[str] = Counter()
        self.failed: list[str] = []
        self.fresh: set[str] = set()
        self.made = Documents(hub, self.mend, self.counts, dry_run)
        self.ids = self.made.ids
        self._at: dict[str, int] = {}
        self._deleted = session_store.deleted(hub.engine)

    def run(self, progress: Progress | None) -> None:
        """Take everything over: what was said first, then what was made of it."""
        self.names = self._named()
        marks = self._marks()
        total, done = self.seed.count(), 0
        try:
            for page in self.seed.exchanges():
                self._page(page, marks)
                done += len(page)
                if progress is not None:
                    progress(done, total, self.seed.path)
        except Error as problem:
            self._fail(f"exchanges after {done:,} of {total:,}", problem)
        self._each("sessions", self._empty_session)
        self._date_sessions()
        self._each("summaries", self._lone_session)
        made = self.made
        for table, take in (("summaries", made.gist), ("eras", made.era), ("profile", made.profile),
                            ("narrative", made.narrative), ("self_state", made.self_state)):  # fmt: skip
            self._each(table, take)
        if not self.dry_run:
            facts: dict[str, Any] = {**self.counts, "mended": dict(self.mend.counts)}
            activity.record(self.hub.engine, self.mend.now, "imported", text.one_line(self.seed.path, 500), **facts)

    def result(self) -> TakenOver:
        """Return what was done, or would be."""
        names = ("exchanges", "gists", "eras", "documents", "already_here")
        return TakenOver(
            source=text.one_line(self.seed.path, 500), sessions=len(self.fresh),
            **{name: self.counts[name] for name in names}, mended=dict(self.mend.counts),
            failed=tuple(self.failed[:_NAMED]), redacted=dict(self.redactor.found),
            vectors=dict(sorted(self.vectors.items())), dry_run=self.dry_run,
        )  # fmt: skip

    def _named(self) -> dict[str, Row]:
        try:
            return {str(row["id"]): row for row in self.seed.rows("sessions") if row["id"] is not None}
        except Error as problem:
            self._fail("sessions", problem)
            return {}

    def _marks(self) -> dict[str, int]:
        """Return up to which exchange each session is summarized."""
        try:
            rows = self.seed.rows("summaries")
        except Error:
            return {}
        return {
            str(row["session_id"]): row["last_exchange_id"] for row in rows if is_count(row.get("last_exchange_id"))
        }

    def _each(self, table: str, take: Callable[[Row], None]) -> None:
        try:
            rows = self.seed.rows(table)
        except Error as problem:
            self._fail(table, problem)
            return
        for row in rows:
            try:
                take(row)
            except Exception as problem:  # whatever is wrong with one row, the others are taken over
                self._fail(f"{table} {text.one_line(str(next(iter(row.values()))), 60)}", problem)

    def _fail(self, what: str, problem: Exception) -> None:
        self.failed.append(f"{what}: {text.one_line(str(problem) or type(problem).__name__, 200)}")

    def _written(self, write: Callable[[], object]) -> None:
        """Write in one transaction; on a dry run, take it back."""
        try:
            with self.hub.engine.transaction(durable=True):
                write()
                if self.dry_run:
                    raise _OnlyLooking
        except _OnlyLooking:
            pass

    def _page(self, page: list[Row], marks: dict[str, int]) -> None:
        """Take a page over; if something in it cannot be, row by row."""
        counted = [Counter(each) for each in (self.counts, self.mend.counts, self.vectors)]
        try:
            self._written(partial(self._exchanges, page, marks))
        except Error as problem:
            if len(page) == 1:
                self._fail(f"exchange {page[0]['id']}", problem)
                return
            for counter, before in zip((self.counts, self.mend.counts, self.vectors), counted, strict=True):
                counter.clear()
                counter.update(before)
            for native in [native for native, own in self.ids.items() if own in self.fresh]:
                del self.ids[native]  # it may have been undone
            for row in page:
                self._page([row], marks)

    def _exchanges(self, page: list[Row], marks: dict[str, int]) -> None:
        contents = self.redactor.clean_many([self.mend.text(row["content"]) for row in page])
        for row, content in zip(page, contents, strict=True):
            self._measure(row)
            session = self._session(row) if content.strip() else ""
            if session:
                self._exchange(row, content, session, marks)
            else:
                self.mend.note(mending.DELETED if content.strip() else mending.EMPTY)

    def _lone_session(self, row: Row) -> None:
        """Take over a session of which only a summary is left."""
        self._written(partial(self._session, row))

    def _empty_session(self, row: Row) -> None:
        """Take over a session nobody said anything in: it has a name."""
        if row["id"] is not None and str(row["id"]) not in self.ids:
            self._written(partial(self._session, {"session_id": row["id"], "created_at": row["created_at"]}))

    def _date_sessions(self) -> None:
        """Let new sessions end with what was said last in them."""
        for each in () if self.dry_run else self.fresh:
            row, span = session_store.get(self.hub.engine, each), exchanges.span(self.hub.engine, each)
            if row and span["total"]:
                self._written(partial(self._date, row, span))

    def _date(self, row: Row, span: Row) -> None:
        session_store.restate(
            self.hub.engine, row["id"], row["last_heartbeat"], summary=row["summary"], status="completed",
            started_at=min(row["started_at"], span["first_at"]), last_heartbeat=span["last_at"],
            completed_at=span["last_at"], completion_summary=None,
        )  # fmt: skip

    def _exchange(self, row: Row, content: str, session: str, marks: dict[str, int]) -> None:
        native = str(row["session_id"])
        at = self.mend.time(row["created_at"], self._at.get(native))
        self._at[native] = at
        if native in marks and row["id"] > marks[native]:
            self.made.uncovered[session] = min(at, self.made.uncovered.get(session, at))
        added = exchanges.add(
            self.hub.engine, session_id=session, role=text.one_line(str(row["role"] or "user"), 40) or "user",
            content=content, at=at, stored_at=self.mend.now, origin="import", event=None,
            key=key_of(FLAVOR, native, row["id"], row["created_at"], row["content"]),
        )  # fmt: skip
        self.counts["exchanges" if added is not None else "already_here"] += 1

    def _measure(self, row: Row) -> None:
        """Tell the dimension of a vector, whatever byte order it is in."""
        if row["size"]:
            self.vectors[f"{row['size'] // _FLOAT} dimensions"] += 1
            if row["size"] % _FLOAT:
                self.mend.note(mending.ODD_VECTOR)

    def _session(self, row: Row) -> str:
        """Return our session for Lyra's, made if it is new; nothing if a person deleted it."""
        native = str(row["session_id"])
        if (FLAVOR, id_of(native)) in self._deleted:
            self.made.forgotten.setdefault(native, self.mend.time(row["created_at"], None, quiet=True))
            return ""
        known = self.ids.get(native)
        if known is None or (self.dry_run and known in self.fresh):
            known = self.ids[native] = self._begun(native, row)
        return known

    def _begun(self, native: str, row: Row) -> str:
        named = self.names.get(native)
        found = session_store.by_native_id(self.hub.engine, FLAVOR, id_of(native))
        at = self.mend.time((named or row)["created_at"] or row["created_at"], None, quiet=True)
        self.made.began.setdefault(native, at)
        if found:
            return str(found["id"])
        title = text.one_line(self.redactor.clean(self.mend.text((named or {}).get("name") or "")), 200)
        own = id_of(native)
        if native not in self.ids:
            self.mend.counts.update(
                [each for each in (named is None and mending.NO_ROW, own != native and mending.BROKEN_ID) if each]
            )
        facts = {"flavor": FLAVOR, "session_type": FLAVOR, "native_id": own, "status": "completed", "project": "",
                 "summary": title, "started_at": at, "last_heartbeat": at, "completed_at": at}  # fmt: skip
        new = own if session_store.insert(self.hub.engine, id=own, **facts) else f"{FLAVOR}-{own}"
        if new != own:
            session_store.insert(self.hub.engine, id=new, **facts)
        self.fresh.add(new)
        return new
