"""Bodies of events: zstd, named by the SHA-256 of what they hold.

On SQLite they are files beside the database, fsynced before the rows that need them; on PostgreSQL they
lie in a table, where the whole team reads them. What a name promises is checked at every reading.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import Any

from engram.errors import BodyGone, StoreDamaged, StoreFull
from engram.settings import Settings
from engram.store import counters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine, Row

_LEVEL = 3
_KEPT = "kept bytes"

_ADD = """
insert into blobs (sha256, capture, batch, raw_bytes, stored_bytes, made_at)
values (:sha256, :capture, :batch, :raw_bytes, :stored_bytes, :now) returning num
"""

# Machines share one store: a body that one is about to name must not be dropped by another.
_CONTENT = "select 1 as one from blob_contents where sha256 = :sha256"
_REMOVE = """
delete from blob_contents where sha256 = :sha256
   and not exists (select 1 from blobs where sha256 = :sha256 and evicting_at is null)
"""

_PUT = "insert into blob_contents (sha256, content) values (:sha256, :content) on conflict do nothing"


class Blobs:
    """The bodies of one store."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self.directory = os.path.join(settings.home, "blobs")
        self.aside = os.path.join(settings.home, "quarantine")
        self._made: set[str] = set()
        self._unsettled: set[str] = set()

    def put(self, content: bytes) -> tuple[str, int]:
        """Keep a body, durably once settled; return its name and how much it takes."""
        from engram.zstd import zstd  # not for commands that touch no body

        packed = zstd.compress(content, _LEVEL)
        name = sha256(content).hexdigest()
        if self._engine.dialect == "postgres":
            self._engine.run(_PUT, sha256=name, content=packed)
            return name, len(packed)
        path = self._path(name)
        if not os.path.exists(path):
            self._write(path, packed)
        self._unsettled.add(os.path.dirname(path))  # of one found there as well: a crash may have left it
        return name, len(packed)

    def settle(self) -> None:
        """Make the names of what was put survive a power cut, before a row relies on them."""
        for directory in self._unsettled:
            _sync_directory(directory)
        self._unsettled.clear()

    def get(self, name: str) -> bytes:
        """Return a body, checked."""
        from engram.zstd import zstd

        packed = self._read(name)
        try:
            content = zstd.decompress(packed)
        except zstd.ZstdError as problem:
            raise StoreDamaged(store=self._shown(name), reason=f"{problem}.") from problem
        if sha256(content).hexdigest() != name:
            raise StoreDamaged(store=self._shown(name), reason="its content is not what its name says.")
        return content

    def remove(self, name: str) -> None:
        """Delete a body, in quarantine too; one that is gone already is fine."""
        _forget(self._path(name, self.aside))
        if self._engine.dialect == "postgres":
            self._remove_row(name)
            return
        try:
            os.unlink(self._path(name))
        except FileNotFoundError:
            pass

    def _remove_row(self, name: str) -> None:
        with self._engine.transaction():
            self._engine.run(f"{_CONTENT} for update", sha256=name)  # wait for those about to name it
            self._engine.run(_REMOVE, sha256=name)

    def names(self) -> set[str]:
        """Return the names of all bodies that are kept."""
        if self._engine.dialect == "postgres":
            return {row["sha256"] for row in self._engine.run("select sha256 from blob_contents")}
        return _names_in(self.directory)

    def quarantine(self, name: str) -> None:
        """Move a body that no row names out of the way, as a file that can be brought back."""
        path = self._path(name, self.aside)
        _make_durably(os.path.dirname(path))
        if self._engine.dialect == "postgres":
            self._write(path, self._read(name))
            self._remove_row(name)
        else:
            os.replace(self._path(name), path)
            _sync_directory(os.path.dirname(path))

    def quarantined(self) -> set[str]:
        """Return the names of the bodies in quarantine."""
        return _names_in(self.aside)

    def bring_back(self, name: str) -> None:
        """Move a body out of quarantine, to where its rows expect it."""
        path = self._path(name, self.aside)
        if self._engine.dialect == "postgres":
            with open(path, "rb") as file:
                self._engine.run(_PUT, sha256=name, content=file.read())
            os.unlink(path)
        else:
            _make_durably(os.path.dirname(self._path(name)))
            os.replace(path, self._path(name))
            _sync_directory(os.path.dirname(self._path(name)))

    def unfinished(self) -> list[str]:
        """Return the files of bodies whose writing was broken off."""
        walked = os.walk(self.directory) if self._engine.dialect == "sqlite" else ()
        return [os.path.join(place, name) for place, _, files in walked for name in files if name.endswith(".tmp")]

    def _read(self, name: str) -> bytes:
        if self._engine.dialect == "postgres":
            rows = self._engine.run("select content from blob_contents where sha256 = :sha256", sha256=name)
            if not rows:
                raise BodyGone(name=name)
            return bytes(rows[0]["content"])
        try:
            with open(self._path(name), "rb") as file:
                return file.read()
        except FileNotFoundError as problem:
            raise BodyGone(name=name) from problem

    def _path(self, name: str, directory: str = "") -> str:
        return os.path.join(directory or self.directory, name[:1], f"{name[1:]}.zst")

    def _shown(self, name: str) -> str:
        return self._path(name) if self._engine.dialect == "sqlite" else f"blob {name}"

    def _write(self, path: str, packed: bytes) -> None:
        directory = os.path.dirname(path)
        temporary = f"{path}.{os.urandom(4).hex()}.tmp"
        try:
            if directory not in self._made:
                _make_durably(directory)
                self._made.add(directory)
            _write_synced(temporary, packed)
            os.replace(temporary, path)
        except OSError as problem:
            _forget(temporary)
            raise StoreFull(store=self.directory) if problem.errno in _FULL else problem from problem


def _names_in(directory: str) -> set[str]:
    found = set()
    for place, _, files in os.walk(directory):
        part = os.path.basename(place)
        found |= {part + name.removesuffix(".zst") for name in files if name.endswith(".zst")}
    return found


_FULL = (28, 122)  # no space, quota used up


def _write_synced(path: str, packed: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(packed)
        file.flush()
        os.fsync(file.fileno())


def _make_durably(directory: str) -> None:
    """Make a directory whose name survives a power cut like what is put into it."""
    if not os.path.isdir(directory):
        parent = os.path.dirname(directory)
        _make_durably(parent)
        os.makedirs(directory, mode=0o700, exist_ok=True)
        _sync_directory(parent)


def _sync_directory(path: str) -> None:
    if os.name == "nt":
        return  # a directory cannot be opened there
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _forget(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def add(engine: Engine, **facts: Any) -> int:
    """Write down a body that is kept; return its number."""
    counters.add(engine, _KEPT, facts["stored_bytes"])
    if engine.dialect == "postgres" and not engine.run(f"{_CONTENT} for key share", sha256=facts["sha256"]):
        raise BodyGone(name=facts["sha256"])
    return int(engine.run(_ADD, **facts)[0]["num"])


def kept(engine: Engine) -> list[Row]:
    """Return every body that should be here."""
    return engine.run("select num, sha256, capture, stored_bytes from blobs where evicting_at is null order by num")


def any_row(engine: Engine) -> bool:
    """Tell whether any row names a body, dropped ones too."""
    return bool(engine.run("select 1 as one from blobs limit 1"))


def of_capture(engine: Engine, capture: int) -> list[Row]:
    """Return every body of a session, dropped ones too."""
    columns = "num, sha256, capture, batch, stored_bytes, evicting_at"
    return engine.run(f"select {columns} from blobs where capture = :capture order by num", capture=capture)


# Routine before rare: a session that went well and quietly goes first, one that failed or was argued about last,
# subagents before those who sent them; within a kind the oldest first.
_WORTH = """
 (case when coalesce(d.corrected, d.outcome) = 'failure' or d.corrected is not null then 3
       when d.outcome in ('partial', 'abandoned') then 2 else 1 end) * 2
 + (case when c.relation = 'subagent' then 0 else 1 end)
"""

_EVICTABLE = """
select b.num, b.sha256, b.capture, b.batch, b.stored_bytes, d.id as digest, d.through, c.session_id, c.last_at
  from blobs b join captures c on c.num = b.capture join digests d on d.capture = b.capture
 where b.evicting_at is null and d.through >= b.batch and c.digest_due = 0 and b.made_at < :before
 order by {order}, c.last_at, b.num limit :limit
"""

_UNDIGESTED = """
select b.num, b.sha256, b.capture, b.stored_bytes, c.session_id
  from blobs b join captures c on c.num = b.capture left join digests d on d.capture = b.capture
 where b.evicting_at is null and (d.id is null or d.through < b.batch or c.digest_due = 1)
 order by b.made_at, b.num limit :limit
"""

_EVICTING = """
update blobs set evicting_at = :now, digest = :digest, digested_through = :through where num = :num
"""

_LOSE = "update blobs set evicting_at = :now, lost = 1 where num = :num"


def usage(engine: Engine) -> int:
    """Return how many bytes of bodies are kept: a running figure, since each sweep asks."""
    return counters.get(engine, _KEPT)


def recount(engine: Engine) -> int:
    """Set the running figure right; return by how much it was off."""
    row = engine.run("select coalesce(sum(stored_bytes), 0) as total from blobs where evicting_at is null")[0]
    off = int(row["total"]) - usage(engine)
    counters.add(engine, _KEPT, off)
    return off


def evictable(engine: Engine, before: int, limit: int, *, by_worth: bool) -> list[Row]:
    """Return bodies whose session is digested and that were captured before then, those to go first in front."""
    return engine.run(_EVICTABLE.format(order=_WORTH if by_worth else "1"), before=before, limit=limit)


def undigested(engine: Engine, limit: int) -> list[Row]:
    """Return bodies no digest knows yet."""
    return engine.run(_UNDIGESTED, limit=limit)


def evicting(engine: Engine, rows: list[Row], now: int) -> None:
    """Mark bodies as about to be dropped; the store refuses it for one that no digest knows."""
    wanted = [{"num": r["num"], "digest": r["digest"], "through": r["through"], "now": now} for r in rows]
    engine.run_many(_EVICTING, wanted)
    counters.add(engine, _KEPT, -sum(row["stored_bytes"] for row in rows))


def lose(engine: Engine, rows: list[Row], now: int) -> None:
    """Mark bodies as lost: dropped although no digest knows them."""
    engine.run_many(_LOSE, [{"num": row["num"], "now": now} for row in rows])
    counters.add(engine, _KEPT, -sum(row["stored_bytes"] for row in rows))


def half_evicted(engine: Engine) -> list[Row]:
    """Return bodies that are marked but perhaps not dropped yet."""
    return engine.run(
        "select num, sha256, capture from blobs where evicting_at is not null and evicted_at is null order by num"
    )


def evicted(engine: Engine, num: int, now: int) -> None:
    """Say that a body is dropped."""
    engine.run("update blobs set evicted_at = :now where num = :num", num=num, now=now)


def still_named(engine: Engine, name: str) -> bool:
    """Tell whether another row still needs a body of that name."""
    return bool(engine.run("select 1 as one from blobs where sha256 = :name and evicting_at is null", name=name))
