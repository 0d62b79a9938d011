"""How much disk space the store uses, its limits, and what waits to be captured."""

from __future__ import annotations

from engram.clock import SECOND, to_datetime
from engram.operation import operation
from engram.platform.value import value
from engram.settings import hide_password
from engram.store import blobs, digests, integrity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from engram.hub import Hub


@value
class Storage:
    """The disk space used by the store, in bytes, and what is in it."""

    store: str
    database: int
    bodies: int  # bodies of events, compressed
    soft_cap: int  # above this, bodies are dropped once they are digested
    hard_cap: int  # never more bodies than this
    digests: int
    digests_cap: int  # above this, digests are reported, never dropped
    free: int | None  # on the disk of the home, if the home exists
    sessions: int
    events: int
    waiting: int  # capture requests from hooks not processed yet
    waiting_since: datetime | None


@operation(agent=False)
def get_storage(hub: Hub) -> Storage:
    """Show how much disk space the store uses, its limits, and what waits to be captured."""
    from engram.capture import spool

    settings, counts, since = hub.settings, integrity.count_rows(hub.engine), spool.get_oldest_time(hub.settings.home)
    return Storage(
        store=hide_password(settings.store),
        database=integrity.get_database_size(hub.engine),
        bodies=blobs.get_kept_bytes(hub.engine),
        soft_cap=settings.raw_soft_cap_bytes,
        hard_cap=settings.raw_hard_cap_bytes,
        digests=digests.sum_bytes(hub.engine),
        digests_cap=settings.distilled_cap_bytes,
        free=_get_free_bytes(settings.home),
        sessions=counts["sessions"],
        events=counts["events"],
        waiting=len(spool.list_waiting(settings.home)),
        waiting_since=None if since is None else to_datetime(int(since * SECOND)),
    )


def _get_free_bytes(home: str) -> int | None:
    import shutil

    try:
        return shutil.disk_usage(home).free
    except OSError:  # with a store elsewhere, the home exists only after the first capture
        return None
