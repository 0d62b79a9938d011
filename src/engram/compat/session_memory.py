"""Helix Forge's session_memory: the names of its schema, and its `config.toml` as `--config` takes it.

The format of its file is described only by a line of its README, so tables are read in all forms they may have; unknown
keys are reported and ignored.
"""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING, Any

from engram import settings
from engram.capture.digests.retention import weigh_digests
from engram.capture.ingest_report import Ingested, Retention
from engram.errors import SettingsInvalid
from engram.platform.value import value
from engram.store import domains
from engram.types import Cost, Session
from engram.types import Event as SessionEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engram.capture.sweep import Progress
    from engram.hub import Hub

__all__ = ["Config", "Cost", "Session", "SessionEvent", "apply_domains", "ingest", "read_config"]

_CAP_SETTINGS = ("raw_soft_cap_bytes", "raw_hard_cap_bytes", "raw_max_age_days", "distilled_cap_bytes")
_DOMAIN_TABLES = ("domains", "domain", "domain_map", "repo_domains", "repo_domain", "repo_domain_map", "repos", "repo")
_PATH_KEYS = ("path", "paths", "root", "roots", "dir", "dirs", "directory")
_STORE_TABLES = ("store", "storage", "paths", "database")
_STORE_NOTE = "Engram keeps its own store; `engram import session-memory PATH` imports an existing store"
_UNKNOWN_NOTE = "unknown, ignored"
_CADENCE_NOTE = "Engram ingests sessions when they end; `engram dream --install` sets a timer"


@value
class Config:
    """The content of a session_memory config.toml, in our terms."""

    caps: dict[str, Any]  # settings by our names, which are theirs
    paths: tuple[str, ...]  # transcripts, or directories of them; empty for the agents' default places
    domains: dict[str, str]  # by repository
    min_frequency: int | None
    notes: tuple[str, ...]  # keys without an effect here, and why


def read_config(path: str) -> Config:
    """Read a config.toml of session_memory."""
    import tomllib

    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file)
    except (OSError, ValueError) as problem:
        raise SettingsInvalid(source=path, reason=f"{problem}.") from problem
    reader = _ConfigReader(path)
    for name, table in tables.items():
        reader.read_table(name, table)
    return reader.build_config()


def ingest(hub: Hub, config: Config, *, dry_run: bool = False, progress: Progress | None = None) -> Ingested:
    """Ingest the transcripts a config names, and assign their domain to sessions."""
    from engram.capture.ingest_run import run_sweep

    result = run_sweep(hub, paths=config.paths or None, dry_run=dry_run, progress=progress)
    if dry_run or result.retention is None:
        return result
    apply_domains(hub, config)
    weight, over = weigh_digests(hub)
    retention = Retention(**{**vars(result.retention), "distilled": weight, "distilled_over": over})
    return Ingested(**{**vars(result), "retention": retention})


def apply_domains(hub: Hub, config: Config) -> None:
    """Store the domain map of a config."""
    if config.domains:
        with hub.engine.transaction(durable=True):
            domains.save_all(hub.engine, config.domains)


class _ConfigReader:
    """Reads a file table by table."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.caps: dict[str, Any] = {}
        self.paths: list[str] = []
        self.domains: dict[str, str] = {}
        self.min_frequency: int | None = None
        self.notes: list[str] = []

    def build_config(self) -> Config:
        return Config(
            caps=self.caps, paths=tuple(dict.fromkeys(self.paths)), domains=self.domains,
            min_frequency=self.min_frequency, notes=tuple(self.notes),
        )  # fmt: skip

    def read_table(self, name: str, table: Any) -> None:
        """Read a table, or a top-level key."""
        if name in ("sources", "source"):
            self._read_sources(table)
        elif name in _DOMAIN_TABLES and isinstance(table, dict):
            self._read_domain_map(name, table)
        elif name in _STORE_TABLES and isinstance(table, dict):
            self._add_note([f"{name}.{key}" for key in table], _STORE_NOTE)
        elif isinstance(table, dict):
            for key, entry in table.items():
                self._read_key(f"{name}.{key}", key, entry)
        else:
            self._read_key(name, name, table)

    def _read_key(self, shown_key: str, key: str, raw_value: Any) -> None:
        if key in _CAP_SETTINGS:
            number = int(raw_value) if isinstance(raw_value, float) and raw_value.is_integer() else raw_value
            self.caps[key] = settings.validate_setting(self.path, key, number)
        elif key == "min_frequency" and isinstance(raw_value, int):
            self.min_frequency = raw_value
        elif key in _DOMAIN_TABLES and isinstance(raw_value, dict):
            self._read_domain_map(shown_key, raw_value)
        else:
            self._add_note([shown_key], _CADENCE_NOTE if key == "cadence" else _UNKNOWN_NOTE)

    def _add_note(self, keys: list[str], why: str) -> None:
        if keys:
            self.notes.append(f"{', '.join(keys)}: {why}.")

    def _read_domain_map(self, name: str, table: dict[str, Any]) -> None:
        """Read a map: repository to domain, domain to its repositories, or a table for each repository."""
        for key, entry in table.items():
            domain = entry.get("domain") if isinstance(entry, dict) else entry
            if isinstance(domain, str):
                self.domains[key] = domain
            elif isinstance(entry, list):
                self.domains |= {repo: key for repo in entry if isinstance(repo, str)}
            else:
                self._add_note([f"{name}.{key}"], _UNKNOWN_NOTE)

    def _read_sources(self, sources: Any) -> None:
        """Read the places of transcripts: by agent, or as a list."""
        named_sources = (
            sources.items()
            if isinstance(sources, dict)
            else ((str(n), source) for n, source in enumerate(_to_list(sources)))
        )
        for name, source in named_sources:
            patterns = list(_list_source_paths(source))
            paths = [path for pattern in patterns for path in self._find_existing_paths(pattern)]
            self.paths += paths
            if not paths and _is_enabled(source):
                self._add_note([f"sources.{name}"], f"nothing found at {', '.join(patterns) or 'a configured path'}")

    def _find_existing_paths(self, pattern: str) -> list[str]:
        path = os.path.expandvars(os.path.expanduser(pattern))
        relative_path = os.path.join(os.path.dirname(os.path.abspath(self.path)), path)
        matches = sorted(glob.glob(relative_path, recursive=True)) or sorted(glob.glob(path, recursive=True))
        return [os.path.abspath(match) for match in matches]


def _to_list(raw_value: Any) -> list[Any]:
    return raw_value if isinstance(raw_value, list) else [raw_value]


def _is_enabled(source: Any) -> bool:
    return not (isinstance(source, dict) and source.get("enabled") is False)


def _list_source_paths(source: Any) -> Iterator[str]:
    """Yield the paths of one source, each with its pattern."""
    if isinstance(source, dict):
        pattern = source.get("glob") or source.get("pattern") or ""
        for name in _PATH_KEYS if _is_enabled(source) else ():
            for path in _to_list(source.get(name, [])):
                yield os.path.join(str(path), str(pattern)) if pattern else str(path)
    else:
        yield from (path for path in _to_list(source) if isinstance(path, str))
