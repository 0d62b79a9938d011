"""Helix Forge's session_memory: the names of its schema, and its `config.toml` as `--config` takes it.

What its file may hold is described by a line of its README only, so tables are read in the shapes they may have; what
means nothing here is named and stops nothing.
"""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING, Any

from engram import settings
from engram.digests.retention import weigh_digests
from engram.errors import SettingsInvalid
from engram.model import Cost, Ingested, Retention, Session
from engram.model import Event as SessionEvent
from engram.store import domains
from engram.value import value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engram.capture.sweep import Progress
    from engram.hub import Hub

__all__ = ["Config", "Cost", "Session", "SessionEvent", "apply_domains", "ingest", "read_config"]

_CAPS = ("raw_soft_cap_bytes", "raw_hard_cap_bytes", "raw_max_age_days", "distilled_cap_bytes")
_MAPS = ("domains", "domain", "domain_map", "repo_domains", "repo_domain", "repo_domain_map", "repos", "repo")
_PLACES = ("path", "paths", "root", "roots", "dir", "dirs", "directory")
_STORE = ("store", "storage", "paths", "database")
_KEPT_HERE = "Engram keeps its own store; `engram import session-memory PATH` takes over what is there"
_UNKNOWN = "not known here, ignored"
_CADENCE = "Engram takes sessions in as they end; `engram dream --install` sets a timer"


@value
class Config:
    """What a config.toml of session_memory asks for, in our words."""

    caps: dict[str, Any]  # settings by our names, which are theirs
    paths: tuple[str, ...]  # transcripts, or directories of them; none: wherever agents keep them
    domains: dict[str, str]  # by repository
    min_frequency: int | None
    notes: tuple[str, ...]  # keys that change nothing here, and why


def read_config(path: str) -> Config:
    """Read a config.toml of session_memory."""
    import tomllib

    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file)
    except (OSError, ValueError) as problem:
        raise SettingsInvalid(source=path, reason=f"{problem}.") from problem
    reader = _Reader(path)
    for name, given in tables.items():
        reader.take(name, given)
    return reader.config()


def ingest(hub: Hub, config: Config, *, dry_run: bool = False, progress: Progress | None = None) -> Ingested:
    """Sweep what a config names, and let sessions know their domain."""
    from engram.capture.intake import sweep

    found = sweep(hub, paths=config.paths or None, dry_run=dry_run, progress=progress)
    if dry_run or found.retention is None:
        return found
    apply_domains(hub, config)
    weight, over = weigh_digests(hub)
    kept = Retention(**{**vars(found.retention), "distilled": weight, "distilled_over": over})
    return Ingested(**{**vars(found), "retention": kept})


def apply_domains(hub: Hub, config: Config) -> None:
    """Keep the map of a config in the store."""
    if config.domains:
        with hub.engine.transaction(durable=True):
            domains.put_all(hub.engine, config.domains)


class _Reader:
    """Takes a file in table by table."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.caps: dict[str, Any] = {}
        self.paths: list[str] = []
        self.domains: dict[str, str] = {}
        self.min_frequency: int | None = None
        self.notes: list[str] = []

    def config(self) -> Config:
        return Config(
            caps=self.caps, paths=tuple(dict.fromkeys(self.paths)), domains=self.domains,
            min_frequency=self.min_frequency, notes=tuple(self.notes),
        )  # fmt: skip

    def take(self, name: str, given: Any) -> None:
        """Take in a table, or a key that stands in none."""
        if name in ("sources", "source"):
            self._sources(given)
        elif name in _MAPS and isinstance(given, dict):
            self._map(name, given)
        elif name in _STORE and isinstance(given, dict):
            self._note([f"{name}.{key}" for key in given], _KEPT_HERE)
        elif isinstance(given, dict):
            for key, each in given.items():
                self._key(f"{name}.{key}", key, each)
        else:
            self._key(name, name, given)

    def _key(self, shown: str, key: str, given: Any) -> None:
        if key in _CAPS:
            whole = int(given) if isinstance(given, float) and given.is_integer() else given
            self.caps[key] = settings.checked(self.path, key, whole)
        elif key == "min_frequency" and isinstance(given, int):
            self.min_frequency = given
        elif key in _MAPS and isinstance(given, dict):
            self._map(shown, given)
        else:
            self._note([shown], _CADENCE if key == "cadence" else _UNKNOWN)

    def _note(self, keys: list[str], why: str) -> None:
        if keys:
            self.notes.append(f"{', '.join(keys)}: {why}.")

    def _map(self, name: str, given: dict[str, Any]) -> None:
        """Take in a map: repository to domain, domain to its repositories, or a table for each repository."""
        for key, each in given.items():
            domain = each.get("domain") if isinstance(each, dict) else each
            if isinstance(domain, str):
                self.domains[key] = domain
            elif isinstance(each, list):
                self.domains |= {repo: key for repo in each if isinstance(repo, str)}
            else:
                self._note([f"{name}.{key}"], _UNKNOWN)

    def _sources(self, given: Any) -> None:
        """Take in where transcripts lie: by agent, or as a list of places."""
        named = given.items() if isinstance(given, dict) else ((str(n), each) for n, each in enumerate(_listed(given)))
        for name, each in named:
            places = list(_places(each))
            found = [path for place in places for path in self._existing(place)]
            self.paths += found
            if not found and _is_on(each):
                self._note([f"sources.{name}"], f"there is nothing at {', '.join(places) or 'a place it names'}")

    def _existing(self, place: str) -> list[str]:
        path = os.path.expandvars(os.path.expanduser(place))
        beside = os.path.join(os.path.dirname(os.path.abspath(self.path)), path)
        found = sorted(glob.glob(beside, recursive=True)) or sorted(glob.glob(path, recursive=True))
        return [os.path.abspath(each) for each in found]


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def _is_on(given: Any) -> bool:
    return not (isinstance(given, dict) and given.get("enabled") is False)


def _places(given: Any) -> Iterator[str]:
    """Yield the places of one source, each with the pattern that stands beside it."""
    if isinstance(given, dict):
        pattern = given.get("glob") or given.get("pattern") or ""
        for name in _PLACES if _is_on(given) else ():
            for each in _listed(given.get(name, [])):
                yield os.path.join(str(each), str(pattern)) if pattern else str(each)
    else:
        yield from (each for each in _listed(given) if isinstance(each, str))
