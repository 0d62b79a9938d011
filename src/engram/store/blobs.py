"""Bodies of events: compressed with zstd, named by the SHA-256 of their content.

On SQLite they are files beside the database, fsynced before the rows that refer to them; on PostgreSQL they
are in a table that the whole team reads. The hash is verified on every read.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import Any

from engram.errors import BodyGone, StoreDamaged, StoreFull
from engram.settings import Settings
from engram.store import counters
from engram.store.filesystem import sync_filesystem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine, Row

_LEVEL = 3
_MANY = 8  # new bodies from which one sync of the filesystem replaces one of each
_KEPT = "kept bytes"

_ADD = """
insert into blobs (sha256, capture, batch, raw_bytes, stored_bytes, made_at)
values (:sha256, :capture, :batch, :raw_bytes, :stored_bytes, :now) returning num
"""

# Several machines share one store: one must not drop a body that another is about to refer to.
_CONTENT = "select 1 as one from blob_contents where sha256 = :sha256"
_REMOVE = """
delete from blob_contents where sha256 = :sha256
   and not exists (select 1 from blobs where sha256 = :sha256 and evicting_at is null)
"""

_PUT = "insert into blob_contents (sha256, content) values (:sha256, :content) on conflict do nothing"


class BlobStore:
    """The bodies of one store."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self.directory = os.path.join(settings.home, "blobs")
        self.quarantine_directory = os.path.join(settings.home, "quarantine")
        self._made_directories: set[str] = set()
        self._unsynced_directories: set[str] = set()
        self._unsynced_files: dict[str, str] = {}  # temporary names of new bodies, by their final names

    def save(self, content: bytes) -> tuple[str, int]:
        """Store a body, durable and in its place after `sync`; return its name and its stored size."""
        from engram.platform.zstd import zstd  # late: most commands touch no body

        compressed = zstd.compress(content, _LEVEL)
        name = sha256(content).hexdigest()
        if self._engine.dialect == "postgres":
            self._engine.run(_PUT, sha256=name, content=compressed)
            return name, len(compressed)
        path = self._build_path(name)
        if path not in self._unsynced_files and not os.path.exists(path):
            self._unsynced_files[path] = self._write_temporary(path, compressed)
        self._unsynced_directories.add(os.path.dirname(path))  # an existing one may be unsynced after a crash
        return name, len(compressed)

    def sync(self) -> None:
        """Make the new bodies durable and give them their names, before a row refers to them.

        A body gets its name only after its content is on disk: what has a name is whole, also after a power cut.
        """
        try:
            has_synced_all = len(self._unsynced_files) >= _MANY and sync_filesystem(self.directory)
            for path, temporary in self._unsynced_files.items():
                if not has_synced_all:
                    _sync_file(temporary)
                os.replace(temporary, path)
            if not has_synced_all or not sync_filesystem(self.directory):
                for directory in self._unsynced_directories:
                    _sync_directory(directory)
        except OSError as problem:
            self.discard_unsynced()
            raise StoreFull(store=self.directory) if problem.errno in _FULL else problem from problem
        self._unsynced_files.clear()
        self._unsynced_directories.clear()

    def discard_unsynced(self) -> None:
        """Delete the new bodies that no row will refer to."""
        for temporary in self._unsynced_files.values():
            _remove_if_exists(temporary)
        self._unsynced_files.clear()

    def get(self, name: str) -> bytes:
        """Return a body after verifying its hash."""
        from engram.platform.zstd import zstd

        compressed = self._read_packed(name)
        try:
            content = zstd.decompress(compressed)
        except zstd.ZstdError as problem:
            raise StoreDamaged(store=self._format_name(name), reason=f"{problem}.") from problem
        if sha256(content).hexdigest() != name:
            raise StoreDamaged(store=self._format_name(name), reason="its content does not match its name.")
        return content

    def remove(self, name: str) -> None:
        """Delete a body, also from quarantine; do nothing if it is gone."""
        _remove_if_exists(self._build_path(name, self.quarantine_directory))
        if self._engine.dialect == "postgres":
            self._delete_row(name)
            return
        try:
            os.unlink(self._build_path(name))
        except FileNotFoundError:
            pass

    def _delete_row(self, name: str) -> None:
        with self._engine.transaction():
            self._engine.run(f"{_CONTENT} for update", sha256=name)  # wait for writers about to refer to it
            self._engine.run(_REMOVE, sha256=name)

    def list_names(self) -> set[str]:
        """Return the names of all stored bodies."""
        if self._engine.dialect == "postgres":
            return {row["sha256"] for row in self._engine.run("select sha256 from blob_contents")}
        return _list_names_in(self.directory)

    def count_older_than_database(self) -> int:
        """Count the bodies older than this database: they may belong to another one that is gone."""
        if self._engine.dialect == "postgres":
            return 0
        created = self._engine.run("select min(applied_at) as at from schema_migrations")[0]["at"]
        return sum(_read_mtime(self._build_path(name)) < created for name in self.list_names())

    def quarantine(self, name: str) -> None:
        """Move a body that no row refers to into quarantine, from where it can be restored."""
        path = self._build_path(name, self.quarantine_directory)
        _make_directory_durably(os.path.dirname(path))
        if self._engine.dialect == "postgres":
            self._write_file(path, self._read_packed(name))
            self._delete_row(name)
        else:
            os.replace(self._build_path(name), path)
            _sync_directory(os.path.dirname(path))

    def list_quarantined(self) -> set[str]:
        """Return the names of the quarantined bodies."""
        return _list_names_in(self.quarantine_directory)

    def restore_from_quarantine(self, name: str) -> None:
        """Move a body out of quarantine to where its rows expect it."""
        path = self._build_path(name, self.quarantine_directory)
        if self._engine.dialect == "postgres":
            with open(path, "rb") as file:
                self._engine.run(_PUT, sha256=name, content=file.read())
            os.unlink(path)
        else:
            _make_directory_durably(os.path.dirname(self._build_path(name)))
            os.replace(path, self._build_path(name))
            _sync_directory(os.path.dirname(self._build_path(name)))

    def list_unfinished_files(self) -> list[str]:
        """Return body files left by an interrupted write."""
        folders = os.walk(self.directory) if self._engine.dialect == "sqlite" else ()
        return [os.path.join(folder, name) for folder, _, files in folders for name in files if name.endswith(".tmp")]

    def _read_packed(self, name: str) -> bytes:
        if self._engine.dialect == "postgres":
            rows = self._engine.run("select content from blob_contents where sha256 = :sha256", sha256=name)
            if not rows:
                raise BodyGone(name=name)
            return bytes(rows[0]["content"])
        try:
            with open(self._build_path(name), "rb") as file:
                return file.read()
        except FileNotFoundError as problem:
            raise BodyGone(name=name) from problem

    def _build_path(self, name: str, directory: str = "") -> str:
        return os.path.join(directory or self.directory, name[:1], f"{name[1:]}.zst")

    def _format_name(self, name: str) -> str:
        return self._build_path(name) if self._engine.dialect == "sqlite" else f"blob {name}"

    def _write_file(self, path: str, compressed: bytes) -> None:
        temporary = self._write_temporary(path, compressed)
        try:
            _sync_file(temporary)
            os.replace(temporary, path)
        except OSError as problem:
            _remove_if_exists(temporary)
            raise StoreFull(store=self.directory) if problem.errno in _FULL else problem from problem

    def _write_temporary(self, path: str, compressed: bytes) -> str:
        """Write a body beside its place and return the temporary name."""
        directory = os.path.dirname(path)
        temporary = f"{path}.{os.urandom(4).hex()}.tmp"
        try:
            if directory not in self._made_directories:
                _make_directory_durably(directory)
                self._made_directories.add(directory)
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(compressed)
        except OSError as problem:
            _remove_if_exists(temporary)
            raise StoreFull(store=self.directory) if problem.errno in _FULL else problem from problem
        return temporary


def _list_names_in(directory: str) -> set[str]:
    names = set()
    for folder, _, files in os.walk(directory):
        prefix = os.path.basename(folder)
        names |= {prefix + name.removesuffix(".zst") for name in files if name.endswith(".zst")}
    return names


_FULL = (28, 122)  # no space, or quota exceeded


def _sync_file(path: str) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def _make_directory_durably(directory: str) -> None:
    """Create a directory and sync its parent, so that it survives a power cut."""
    if not os.path.isdir(directory):
        parent = os.path.dirname(directory)
        _make_directory_durably(parent)
        os.makedirs(directory, mode=0o700, exist_ok=True)
        _sync_directory(parent)


def _sync_directory(path: str) -> None:
    if os.name == "nt":
        return  # Windows cannot open directories
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_if_exists(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def insert(engine: Engine, **facts: Any) -> int:
    """Insert the row of a stored body and return its number."""
    counters.add(engine, _KEPT, facts["stored_bytes"])
    if engine.dialect == "postgres" and not engine.run(f"{_CONTENT} for key share", sha256=facts["sha256"]):
        raise BodyGone(name=facts["sha256"])
    return int(engine.run(_ADD, **facts)[0]["num"])


def list_kept(engine: Engine) -> list[Row]:
    """Return every body that should be stored."""
    return engine.run("select num, sha256, capture, stored_bytes from blobs where evicting_at is null order by num")


def _read_mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns // 1000
    except FileNotFoundError:
        return 0


def has_rows(engine: Engine) -> bool:
    """Return whether any row refers to a body, including dropped ones."""
    return bool(engine.run("select 1 as one from blobs limit 1"))


def list_by_capture(engine: Engine, capture: int) -> list[Row]:
    """Return every body of a session, including dropped ones."""
    columns = "num, sha256, capture, batch, stored_bytes, evicting_at"
    return engine.run(f"select {columns} from blobs where capture = :capture order by num", capture=capture)


# Routine before rare: sessions that succeeded without trouble first, failed or corrected ones last,
# subagents before their parents; oldest first within each group.
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


def get_kept_bytes(engine: Engine) -> int:
    """Return the total bytes of stored bodies, from a counter, because every ingest asks."""
    return counters.get(engine, _KEPT)


def recount_kept_bytes(engine: Engine) -> int:
    """Correct the counter and return by how much it was off."""
    row = engine.run("select coalesce(sum(stored_bytes), 0) as total from blobs where evicting_at is null")[0]
    difference = int(row["total"]) - get_kept_bytes(engine)
    counters.add(engine, _KEPT, difference)
    return difference


def list_evictable(engine: Engine, before: int, limit: int, *, by_worth: bool) -> list[Row]:
    """Return bodies of digested sessions captured before a time, in eviction order."""
    return engine.run(_EVICTABLE.format(order=_WORTH if by_worth else "1"), before=before, limit=limit)


def list_undigested(engine: Engine, limit: int) -> list[Row]:
    """Return bodies that no digest covers yet."""
    return engine.run(_UNDIGESTED, limit=limit)


def mark_evicting(engine: Engine, rows: list[Row], now: int) -> None:
    """Mark bodies for eviction; the store refuses bodies that no digest covers."""
    params = [{"num": r["num"], "digest": r["digest"], "through": r["through"], "now": now} for r in rows]
    engine.run_many(_EVICTING, params)
    counters.add(engine, _KEPT, -sum(row["stored_bytes"] for row in rows))


def mark_lost(engine: Engine, rows: list[Row], now: int) -> None:
    """Mark bodies as lost: dropped although no digest covers them."""
    engine.run_many(_LOSE, [{"num": row["num"], "now": now} for row in rows])
    counters.add(engine, _KEPT, -sum(row["stored_bytes"] for row in rows))


def list_half_evicted(engine: Engine) -> list[Row]:
    """Return bodies that are marked but perhaps not deleted yet."""
    return engine.run(
        "select num, sha256, capture from blobs where evicting_at is not null and evicted_at is null order by num"
    )


def mark_evicted(engine: Engine, num: int, now: int) -> None:
    """Record that a body was deleted."""
    engine.run("update blobs set evicted_at = :now where num = :num", num=num, now=now)


def is_needed(engine: Engine, name: str) -> bool:
    """Return whether another row still refers to a body with this name."""
    return bool(engine.run("select 1 as one from blobs where sha256 = :name and evicting_at is null", name=name))
