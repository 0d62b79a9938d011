"""Engram: one memory for every coding agent.

The names below are the public API. They are loaded on first use, because a hook that runs at every
agent event must not pay for what it does not need.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from engram.api import Engram, sitrep, update_world_state
    from engram.errors import (
        BodyGone,
        Conflict,
        Error,
        Fenced,
        Held,
        ImportRefused,
        InvalidInput,
        MissingExtra,
        NetworkFilesystem,
        NotAStore,
        NotFound,
        RepairRefused,
        SchemaTooNew,
        SettingsInvalid,
        StoreBusy,
        StoreDamaged,
        StoreFull,
        StoreMissing,
        StoreReadOnly,
        StoreUnavailable,
        SweepRunning,
        TooLarge,
        UpgradeFailed,
    )
    from engram.model import (
        About,
        Activity,
        Capture,
        Check,
        Cost,
        Digest,
        Event,
        Hit,
        Imported,
        Ingested,
        Lock,
        Log,
        Message,
        Process,
        Retention,
        Sent,
        Session,
        Sitrep,
        Stats,
        Usage,
        WorldState,
    )
    from engram.wiring.finding import Finding

    SessionRegistry = Engram
    DB_PATH: Path | None

__version__ = "0.1.0"

__all__ = [
    "About", "Activity", "BodyGone", "Capture", "Check", "Conflict", "Cost", "Digest", "Engram", "Error", "Event",
    "Fenced", "Finding", "Held", "Hit", "ImportRefused", "Imported", "Ingested", "InvalidInput", "Lock", "Log",
    "Message", "MissingExtra", "NetworkFilesystem", "NotAStore", "NotFound", "Process", "RepairRefused", "Retention",
    "SchemaTooNew", "Sent", "Session", "SessionRegistry", "SettingsInvalid", "Sitrep", "Stats", "StoreBusy",
    "StoreDamaged", "StoreFull", "StoreMissing", "StoreReadOnly", "StoreUnavailable", "SweepRunning", "TooLarge",
    "UpgradeFailed", "Usage", "WorldState", "__version__", "sitrep", "update_world_state",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "DB_PATH":  # asked anew each time: the environment says where it is
        from engram.api import default_path

        return default_path()
    if name not in __all__:
        raise AttributeError(f"module 'engram' has no attribute {name!r}")
    from importlib import import_module

    for module in ("engram.errors", "engram.model", "engram.wiring.finding", "engram.api"):
        if name in vars(import_module(module)):
            globals()[name] = vars(import_module(module))[name]
            return globals()[name]
    raise AttributeError(name)


def __dir__() -> list[str]:
    return __all__
