"""Engram: one memory for every coding agent.

The names below are the public API. They are loaded on first use, because a hook that runs at every
agent event must not pay for what it does not need.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.api import Engram as Engram
    from engram.api import Engram as SessionRegistry  # noqa: F401
    from engram.api import report as sitrep  # noqa: F401
    from engram.api import update_world_state as update_world_state

__version__ = "0.1.0"

_API = {
    "Engram": ("engram.api", "Engram"),
    "SessionRegistry": ("engram.api", "Engram"),  # the name older programs know
    "sitrep": ("engram.api", "report"),
    "update_world_state": ("engram.api", "update_world_state"),
}
_VALUES = (
    "Activity",
    "Imported",
    "Lock",
    "Log",
    "Message",
    "Process",
    "Sent",
    "Session",
    "Sitrep",
    "Stats",
    "WorldState",
)
_ERRORS = (
    "Conflict", "Error", "Fenced", "Held", "ImportRefused", "InvalidInput", "MissingExtra", "NetworkFilesystem",
    "NotFound", "SchemaTooNew", "SettingsInvalid", "StoreBusy", "StoreDamaged", "StoreFull", "StoreUnavailable",
    "TooLarge",
)  # fmt: skip
_NAMES = _API | {name: ("engram.model", name) for name in _VALUES} | {name: ("engram.errors", name) for name in _ERRORS}

__all__ = [*_NAMES, "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    if name not in _NAMES:
        raise AttributeError(f"module 'engram' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _NAMES[name]
    found = globals()[name] = getattr(import_module(module), attribute)
    return found


def __dir__() -> list[str]:
    return __all__
