"""The check before every write: a session that lost its lock without knowing is stopped."""

from __future__ import annotations

from engram.errors import Fenced
from engram.platform import text
from engram.store import locks, messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from engram.hub import Hub


class FencedTransaction:
    """A write transaction for a session that knows about all its lost locks and holds the ones it relies on.

    A session that was not yet told about a lost lock is refused once: the refusal tells it, and the next
    call passes. An outdated token is always refused.
    """

    def __init__(self, hub: Hub, session_id: str | None, token: int | None = None, *, durable: bool = False) -> None:
        self.hub = hub
        self.session_id = None if session_id is None else text.validate_name("session_id", session_id)
        self.token = token
        self._transaction = hub.engine.transaction(durable=durable)

    def __enter__(self) -> None:
        self._transaction.__enter__()
        try:
            self._check_fence()
        except BaseException as refusal:
            self._transaction.__exit__(type(refusal), refusal, refusal.__traceback__)
            if isinstance(refusal, _UntoldLoss):
                self._mark_delivered(refusal.ids)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._transaction.__exit__(kind, error, trace)

    def _check_fence(self) -> None:
        locks.lock_table(self.hub.engine)
        losses = messages.list_unread_losses(self.hub.engine, self.session_id) if self.session_id else []
        if losses:
            reason = " ".join(row["body"] for row in losses)
            raise _UntoldLoss(reason=reason, session_id=self.session_id, ids=[row["id"] for row in losses])
        if self.token is not None and not locks.is_holder(self.hub.engine, self.session_id, self.token):
            holder = self.session_id or "no session (a token needs its session)"
            reason = f"Token {self.token} does not belong to a lock held by {holder}."
            raise Fenced(reason=reason, session_id=self.session_id)

    def _mark_delivered(self, ids: list[int]) -> None:
        with self.hub.engine.transaction():
            messages.mark_delivered(self.hub.engine, ids, self.hub.now())


class _UntoldLoss(Fenced):
    __doc__ = Fenced.__doc__
    ids: list[int]
