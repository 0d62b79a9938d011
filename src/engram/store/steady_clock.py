"""One monotonic time shared by all users of a store, independent of wall clocks."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine

_ENTER = """
insert into boots (boot, ahead) values (:boot, :ahead)
on conflict (boot) do update set boot = excluded.boot returning ahead
"""


def get_clock_offset(engine: Engine, boot: str, offered: int) -> int:
    """Return what this boot adds to its monotonic clock, set on first use."""
    rows = engine.run("select ahead from boots where boot = :boot", boot=boot)
    if not rows and engine.read_only:
        return offered
    if not rows:
        with engine.transaction(durable=True):
            rows = engine.run(_ENTER, boot=boot, ahead=offered)
    return int(rows[0]["ahead"])


def read_server_time(engine: Engine) -> int:
    """Return the PostgreSQL server's clock, which several machines share."""
    rows = engine.run("select cast(extract(epoch from clock_timestamp()) * 1000000 as bigint) as now")
    return int(rows[0]["now"])
