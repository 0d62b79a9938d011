"""How much room the store takes, of how much it may, and what waits to get in."""

from __future__ import annotations

from engram.clock import SECOND, moment
from engram.operation import operation
from engram.settings import without_password
from engram.store import audit, blobs, digests
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from engram.hub import Hub


@value
class Storage:
    """The room the store takes, in bytes, and what is in it."""

    store: str
    database: int
    bodies: int  # what events say, compressed
    soft_cap: int  # bodies beyond it are dropped once they are digested
    hard_cap: int  # never more bodies than this
    digests: int
    digests_cap: int  # beyond it is reported, never dropped
    free: int | None  # on the disk of the home, once there is one
    sessions: int
    events: int
    waiting: int  # requests of hooks that are not captured yet
    waiting_since: datetime | None


@operation(agent=False)
def get_storage(hub: Hub) -> Storage:
    """Show how much room the store takes, of how much it may, and what waits to be captured."""
    from engram.capture import spool

    settings, counts, since = hub.settings, audit.counts(hub.engine), spool.oldest(hub.settings.home)
    return Storage(
        store=without_password(settings.store), database=audit.size(hub.engine), bodies=blobs.usage(hub.engine),
        soft_cap=settings.raw_soft_cap_bytes, hard_cap=settings.raw_hard_cap_bytes,
        digests=digests.total_bytes(hub.engine), digests_cap=settings.distilled_cap_bytes,
        free=_free(settings.home), sessions=counts["sessions"], events=counts["events"],
        waiting=len(spool.waiting(settings.home)),
        waiting_since=None if since is None else moment(int(since * SECOND)),
    )  # fmt: skip


def _free(home: str) -> int | None:
    import shutil

    try:
        return shutil.disk_usage(home).free
    except OSError:  # a store elsewhere needs no home before something is captured
        return None
