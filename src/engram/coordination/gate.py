"""The gate every write passes: a holder that lost its lock unawares is stopped before it does harm."""

from __future__ import annotations

from engram import text
from engram.errors import Fenced
from engram.store import locks, messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from engram.hub import Hub


class Gate:
    """A write transaction for a session that knows of all its losses and holds what it relies on.

    A session that was not yet told of a lost lock is refused once: telling is the refusal itself, and
    the next call passes, because now the session knows. A token that was overtaken is refused always.
    """

    def __init__(self, hub: Hub, session_id: str | None, token: int | None = None, *, durable: bool = False) -> None:
        self.hub = hub
        self.session_id = None if session_id is None else text.name("session_id", session_id)
        self.token = token
        self._transaction = hub.engine.transaction(durable=durable)

    def __enter__(self) -> None:
        self._transaction.__enter__()
        try:
            self._check()
        except BaseException as refusal:
            self._transaction.__exit__(type(refusal), refusal, refusal.__traceback__)
            if isinstance(refusal, _Untold):
                self._tell(refusal.ids)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._transaction.__exit__(kind, error, trace)

    def _check(self) -> None:
        locks.serialize(self.hub.engine)
        lost = messages.losses(self.hub.engine, self.session_id) if self.session_id else []
        if lost:
            reason = " ".join(row["body"] for row in lost)
            raise _Untold(reason=reason, session_id=self.session_id, ids=[row["id"] for row in lost])
        if self.token is not None and not locks.holds(self.hub.engine, self.session_id, self.token):
            who = self.session_id or "nobody (a token needs its session)"
            reason = f"Token {self.token} is not a lock {who} holds now."
            raise Fenced(reason=reason, session_id=self.session_id)

    def _tell(self, ids: list[int]) -> None:
        with self.hub.engine.transaction():
            messages.deliver(self.hub.engine, ids, self.hub.now())


class _Untold(Fenced):
    __doc__ = Fenced.__doc__
    ids: list[int]
