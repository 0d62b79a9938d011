"""Locks: who may touch what, decided in one write transaction."""

from __future__ import annotations

import os

from engram import host, text
from engram.clock import MINUTE, SECOND, moment
from engram.coordination import fences, resources, sessions
from engram.coordination.overlap import overlaps
from engram.errors import Held, InvalidInput
from engram.model import Lock, Resource
from engram.operation import Help, operation
from engram.store import activity, messages
from engram.store import fences as tokens
from engram.store import locks as store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Any

    from engram.hub import Hub
    from engram.store.engine import Row

MODES = ("exclusive", "shared", "announce")
_LONGEST_WAIT = 24 * 3600
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.25


@operation(writes=True)
def lock_resource(
    hub: Hub,
    session_id: Annotated[str, Help("the session that will hold it")],
    resource: Annotated[str, Help("file, directory, glob or name to hold")],
    note: Annotated[str | None, Help("why, for those who are refused")] = None,
    mode: Annotated[str, Help("exclusive, shared (others may share too) or announce (refuses nobody)")] = "exclusive",
    minutes: Annotated[float | None, Help("lapses after so long without a sign of life")] = None,
    wait: Annotated[float, Help("seconds to wait while somebody else holds it")] = 0,
    cwd: Annotated[str | None, Help("where relative paths start, if not at the session's directory")] = None,
) -> Lock:
    """Take a lock on a resource, or learn who holds it."""
    return lock_resources(hub, session_id, [resource], note, mode, minutes, wait, cwd)[0]


@operation(writes=True)
def lock_resources(
    hub: Hub,
    session_id: Annotated[str, Help("the session that will hold them")],
    resources: Annotated[list[str], Help("files, directories, globs or names: all of them or none")],
    note: Annotated[str | None, Help("why, for those who are refused")] = None,
    mode: Annotated[str, Help("exclusive, shared (others may share too) or announce (refuses nobody)")] = "exclusive",
    minutes: Annotated[float | None, Help("lapses after so long without a sign of life")] = None,
    wait: Annotated[float, Help("seconds to wait while somebody else holds one")] = 0,
    cwd: Annotated[str | None, Help("where relative paths start, if not at the session's directory")] = None,
) -> list[Lock]:
    """Take locks on several resources, all or nothing."""
    request = _Request(hub, session_id, resources, note, mode, minutes, cwd)
    wait = _within("wait", wait, 0, _LONGEST_WAIT)
    deadline = hub.steady() + int(wait * SECOND)
    pause = _FIRST_PAUSE
    refusal = request.attempt(record=True)
    try:
        while refusal is not None and hub.steady() < deadline:
            request.show_waiting(deadline)
            hub.clock.sleep(pause * (0.5 + os.urandom(1)[0] / 255))
            pause = min(pause * 1.5, _LONGEST_PAUSE)
            refusal = request.attempt(record=False)
    finally:
        request.stop_waiting()
    if refusal is not None:
        raise refusal
    return request.granted


@operation(writes=True)
def release_resource(
    hub: Hub,
    session_id: Annotated[str, Help("the session that holds it")],
    resource: Annotated[str, Help("what to let go of")],
    token: Annotated[int | None, Help("only if this is still its token")] = None,
    cwd: Annotated[str | None, Help("where relative paths start, if not at the session's directory")] = None,
) -> list[Lock]:
    """Let go of a lock; letting go of what is not held changes nothing."""
    fences.stop_if_lost(hub, session_id)
    with hub.engine.transaction():
        row = sessions.touch(hub, session_id)
        fences.require(hub, session_id, token)
        wanted = _canonical(hub, row, resource, cwd)
        freed = [
            found
            for found in store.of_session(hub.engine, session_id)
            if found["name"] == wanted.name and token in (None, found["token"])
        ]
        if token is not None and not freed:
            raise InvalidInput(field="token", reason=f"{token} is not the token of a lock on {wanted.name}.")
        for found in freed:
            store.delete(hub.engine, found["token"])
        return [view(hub, found) for found in freed]


@operation(writes=True)
def release_all(hub: Hub, session_id: Annotated[str, Help("the session that lets go")]) -> list[Lock]:
    """Let go of everything a session holds."""
    fences.stop_if_lost(hub, session_id)
    with hub.engine.transaction():
        sessions.touch(hub, session_id)
        freed = [view(hub, row) for row in store.of_session(hub.engine, session_id)]
        store.delete_all(hub.engine, session_id)
    return freed


@operation()
def check_locks(
    hub: Hub,
    resource: Annotated[str, Help("file, directory, glob or name to ask about")],
    session_id: Annotated[str | None, Help("who asks; gives relative paths and names their place")] = None,
    cwd: Annotated[str | None, Help("where relative paths start")] = None,
) -> list[Lock]:
    """Show every live lock that overlaps a resource, with its holder's task."""
    row = sessions.require(hub, session_id) if session_id else None
    wanted = _canonical(hub, row, resource, cwd)
    steady = hub.steady()
    return [view(hub, row, steady) for row in _around(hub, wanted) if _lapse(row, steady) is None]


@operation()
def list_locks(
    hub: Hub,
    project: Annotated[str | None, Help("only this project")] = None,
    limit: Annotated[int, Help("at most so many")] = 1000,
) -> list[Lock]:
    """Show all live locks, newest first, with those who wait for them."""
    steady = hub.steady()
    rows = store.every(hub.engine, sessions.room(project), steady, sessions.positive("limit", limit))
    return [view(hub, row, steady, _waiters(hub, row, steady)) for row in rows if _lapse(row, steady) is None]


@operation(writes=True)
def check_edit(
    hub: Hub,
    session_id: Annotated[str, Help("the session about to write")],
    resource: Annotated[str, Help("what it is about to write")],
    token: Annotated[int | None, Help("the token it relies on")] = None,
    cwd: Annotated[str | None, Help("where relative paths start, if not at the session's directory")] = None,
) -> list[Lock]:
    """Pass if a session may write a resource now; refuse if another holds it or its own lock was lost."""
    fences.stop_if_lost(hub, session_id)
    with hub.engine.transaction():
        row = sessions.touch(hub, session_id)
        fences.require(hub, session_id, token)
        wanted = _canonical(hub, row, resource, cwd)
        rivals = _rivals(_around(hub, wanted), session_id, "exclusive", hub.steady())
        alive = [rival for rival in rivals if rival["lapse"] is None]
        if alive:
            refusal = _refuse(hub, session_id, wanted, alive, hub.steady(), record=True)
    if alive:
        raise refusal
    return [view(hub, row) for row in store.of_session(hub.engine, session_id) if overlaps(wanted, _resource(row))]


class _Request:
    """One wish for locks, tried until granted or out of time."""

    def __init__(
        self, hub: Hub, session_id: str, wanted: list[str], note: str | None, mode: str, minutes: float | None,
        cwd: str | None,
    ) -> None:  # fmt: skip
        if mode not in MODES:
            raise InvalidInput(field="mode", reason=f"{mode!r} is none of {', '.join(MODES)}.")
        if not wanted or isinstance(wanted, str):
            raise InvalidInput(field="resources", reason="name at least one.")
        self.hub = hub
        self.mode = mode
        self.note = text.clean("note", note) if note else None
        given = hub.settings.lock_minutes if minutes is None else minutes
        self.lasts = int(_within("minutes", given, 0.001, 7 * 24 * 60) * MINUTE)
        self.session = sessions.require(hub, session_id)
        self.session_id = session_id
        self.wanted = list(dict.fromkeys(_canonical(hub, self.session, word, cwd) for word in wanted))
        self.granted: list[Lock] = []
        self._waits = False

    def attempt(self, record: bool) -> Held | None:
        """Grant everything and return None, or return the refusal."""
        try:
            return self._attempt(durable=False, record=record)
        except _CeilingReached:
            return self._attempt(durable=True, record=record)

    def show_waiting(self, deadline: int) -> None:
        """Let the holder and others see who waits."""
        if not self._waits:
            self._waits = True
            with self.hub.engine.transaction():
                for resource in self.wanted:
                    store.wait(self.hub.engine, resource, self.session_id, self.hub.now(), deadline)

    def stop_waiting(self) -> None:
        """Take the wish back."""
        if self._waits:
            with self.hub.engine.transaction():
                store.stop_waiting(self.hub.engine, self.session_id)

    def _attempt(self, durable: bool, record: bool) -> Held | None:
        hub = self.hub
        with hub.engine.transaction(durable=durable):
            store.serialize(hub.engine)
            sessions.touch(hub, self.session_id)
            now, steady = hub.now(), hub.steady()  # in this order, a holder is never promised too much
            around = {resource: _around(hub, resource) for resource in self.wanted}
            rivals = {r: _rivals(rows, self.session_id, self.mode, steady) for r, rows in around.items()}
            for resource in self.wanted:
                alive = [rival for rival in rivals[resource] if rival["lapse"] is None]
                if alive:
                    return _refuse(hub, self.session_id, resource, alive, steady, record)
            last = self._tokens(durable)
            self.granted = []
            lost: dict[int, tuple[Row, int]] = {}  # by token: one lock may lie in the way of several wishes
            for number, resource in enumerate(self.wanted, start=last - len(self.wanted) + 1):
                token = self._grant(resource, number, around[resource], now, steady)
                lost |= {rival["token"]: (rival, token) for rival in rivals[resource]}
            for rival, token in lost.values():
                _take_over(hub, self.session, rival, token)
        return None

    def _tokens(self, durable: bool) -> int:
        count = len(self.wanted)
        last = tokens.take(self.hub.engine, self.hub.boot, count)
        if last is None:
            if not durable:
                raise _CeilingReached
            tokens.raise_ceiling(self.hub.engine, self.hub.boot, count)
            last = tokens.take(self.hub.engine, self.hub.boot, count)
        assert last is not None
        return last

    def _grant(self, resource: Resource, token: int, around: list[Row], now: int, steady: int) -> int:
        hub = self.hub
        self._drop_other_modes(resource, around)
        facts: dict[str, Any] = {
            "session_id": self.session_id, "mode": self.mode, "note": self.note, "lasts": self.lasts,
            "expires_at": steady + self.lasts,
        }  # fmt: skip
        own = store.renew_one(hub.engine, resource, **facts)
        if own is None:
            own = {"token": token, "locked_at": now, "note": self.note}
            store.insert(hub.engine, resource, token=token, project=self.session["project"], now=now, **facts)
        beside = _beside(hub, around, self.session_id, steady)
        row = {**self.session, "name": resource.name, "kind": resource.kind, **facts, **own}
        self.granted.append(view(hub, row, steady, overlapping=beside, now=now))
        return int(own["token"])

    def _drop_other_modes(self, resource: Resource, around: list[Row]) -> None:
        """Let a change of mode be a new grant: its token must be above all that were given meanwhile."""
        for row in around:
            same = (row["session_id"], row["kind"], row["pattern"]) == (
                self.session_id,
                resource.kind,
                resource.pattern,
            )
            if same and row["mode"] != self.mode:
                store.delete(self.hub.engine, row["token"])


class _CeilingReached(Exception):
    """The next token must wait for a durable commit."""


def view(
    hub: Hub, row: Row, steady: int | None = None, waiters: tuple[str, ...] = (), overlapping: tuple[Lock, ...] = (),
    now: int | None = None,
) -> Lock:  # fmt: skip
    """Turn a stored row into the value users see."""
    now = hub.now() if now is None else now
    steady = hub.steady() if steady is None else steady
    return Lock(
        resource=row["name"], kind=row["kind"], mode=row["mode"], session_id=row["session_id"], token=row["token"],
        note=row["note"], locked_at=moment(row["locked_at"]), until=moment(now + row["expires_at"] - steady),
        live=_lapse(row, steady) is None, project=row["project"], flavor=row["flavor"],
        session_type=row["session_type"], summary=row["summary"], waiters=waiters, overlaps=overlapping,
    )  # fmt: skip


def _canonical(hub: Hub, session: Row | None, resource: str, cwd: str | None) -> Resource:
    if cwd is None:
        cwd = session["cwd"] if session else (None if hub.serving else os.getcwd())
    elif cwd:
        cwd = text.name("cwd", cwd)
    return resources.canonical(resource, cwd, session["project"] if session else "")


def _resource(row: Row) -> Resource:
    return Resource(kind=row["kind"], name=row.get("name", ""), base=row["base"], pattern=row["pattern"])


def _around(hub: Hub, wanted: Resource) -> list[Row]:
    """Return every lock on the same ground, whoever's it is and whether it still stands or not."""
    return [row for row in store.near(hub.engine, wanted) if overlaps(wanted, _resource(row))]


def _rivals(around: list[Row], session_id: str, mode: str, steady: int) -> list[Row]:
    """Return others' locks that this wish cannot stand beside, each with its reason to be passed over."""
    return [
        {**row, "lapse": _lapse(row, steady)}
        for row in around
        if row["session_id"] != session_id and _exclude(mode, row["mode"])
    ]


def _beside(hub: Hub, around: list[Row], session_id: str, steady: int) -> tuple[Lock, ...]:
    """Return others' live locks on the same ground, so that nobody overlaps unwarned."""
    return tuple(
        view(hub, row, steady) for row in around if row["session_id"] != session_id and _lapse(row, steady) is None
    )


def _exclude(one: str, other: str) -> bool:
    return "announce" not in (one, other) and "exclusive" in (one, other)


def _lapse(row: Row, steady: int) -> str | None:
    """Say why a lock may be taken over; None while it stands."""
    if row["expires_at"] <= steady:
        return "it had lapsed without a sign of life"
    process = sessions.process_of(row)
    if process is not None and host.alive(process) is False:
        return "its process was gone"
    return None


def _refuse(hub: Hub, session_id: str, wanted: Resource, alive: list[Row], steady: int, record: bool) -> Held:
    first = max(alive, key=lambda row: row["expires_at"])
    waiters = _waiters(hub, first, steady)
    if record:
        activity.record(
            hub.engine, hub.now(), "refused", wanted.name, session_id=session_id, project=first["project"],
            holder=first["session_id"], token=first["token"],
        )  # fmt: skip
    locks = tuple(view(hub, row, steady) for row in alive)
    waiting = [waiter for waiter in waiters if waiter != session_id]
    more = [f"{len(alive) - 1} more hold part of it"] if len(alive) > 1 else []
    more += [f"{len(waiting)} waiting"] if waiting else []
    return Held(
        resource=wanted.name, holder=first["session_id"], flavor=first["flavor"],
        summary=text.inline(first["summary"]), note=first["note"],
        note_text=f', "{text.inline(first["note"])}"' if first["note"] else "",
        held=first["name"], until=moment(hub.now() + first["expires_at"] - steady),
        left=text.duration(first["expires_at"] - steady), token=first["token"],
        others_text="".join(f"; {part}" for part in more), waiters=waiters, locks=locks,
    )  # fmt: skip


def _take_over(hub: Hub, taker: Row, rival: Row, token: int) -> None:
    """Pass a lapsed lock on, leave a trace, and tell the one who lost it."""
    now = hub.now()
    store.delete(hub.engine, rival["token"])
    body = (
        f"Your lock on {rival['name']} (token {rival['token']}) was taken over by {taker['id']} "
        f"({taker['flavor']}: {text.inline(taker['summary'])}) with token {token}, because {rival['lapse']}."
    )
    messages.insert(
        hub.engine, sender=taker["id"], recipient=rival["session_id"], project=rival["project"],
        kind="loss", body=body, now=now,
    )  # fmt: skip
    activity.record(
        hub.engine, now, "takeover", rival["name"], session_id=taker["id"], project=rival["project"],
        holder=rival["session_id"], old_token=rival["token"], token=token, reason=rival["lapse"],
    )  # fmt: skip


def _waiters(hub: Hub, row: Row, steady: int) -> tuple[str, ...]:
    resource = _resource(row)
    return tuple(
        waiter["session_id"]
        for waiter in store.near(hub.engine, resource, "waiters")
        if waiter["expires_at"] > steady
        and waiter["session_id"] != row["session_id"]
        and overlaps(resource, _resource(waiter))
    )


def _within(field: str, number: float, least: float, most: float) -> float:
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not least <= number <= most:
        raise InvalidInput(field=field, reason=f"{number!r} is not between {least} and {most}.")
    return number
