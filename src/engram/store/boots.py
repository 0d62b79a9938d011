"""One steady time for everybody who shares a store, whatever happens to wall clocks."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine

_ENTER = """
insert into boots (boot, ahead) values (:boot, :ahead)
on conflict (boot) do update set boot = excluded.boot returning ahead
"""


def ahead(engine: Engine, boot: str, offered: int) -> int:
    """Return what this boot adds to its steady clock, fixing it on first sight."""
    rows = engine.run("select ahead from boots where boot = :boot", boot=boot)
    if not rows and engine.read_only:
        return offered
    if not rows:
        with engine.transaction(durable=True):
            rows = engine.run(_ENTER, boot=boot, ahead=offered)
    return int(rows[0]["ahead"])


def server_now(engine: Engine) -> int:
    """Return the PostgreSQL server's clock, the one time several machines share."""
    rows = engine.run("select cast(extract(epoch from clock_timestamp()) * 1000000 as bigint) as now")
    return int(rows[0]["now"])
