"""Settings and their one loader: defaults, then config.toml, then ENGRAM_* variables."""

from __future__ import annotations

import os
import sys

from engram.errors import SettingsInvalid
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


@value
class Settings:
    """Every setting; each can also be set as ENGRAM_<NAME> in the environment."""

    home: str  # directory that holds all of Engram's data
    store: str  # path of a SQLite file, or a postgresql:// address for a team
    stale_minutes: int = 30  # minutes without a heartbeat after which a session is stale
    lock_minutes: int = 30  # minutes without a heartbeat from its holder after which a lock expires
    edit_lock_minutes: int = 10  # the same for the lock that hooks take on a file while an agent edits it
    recent_hours: int = 24  # how far back the sitrep shows completed sessions
    sitrep_tokens: int = 2000  # hard limit for a sitrep
    world_state_tokens: int = 2000  # hard limit for one world state
    message_bytes: int = 8192  # hard limit for one message
    inbox_tokens: int = 1000  # how much of an inbox is delivered per read
    busy_seconds: int = 10  # how long to wait for a store that another process is writing to
    raw_soft_cap_bytes: int = 2_000_000_000  # above this, bodies of digested sessions are dropped
    raw_hard_cap_bytes: int = 4_000_000_000  # never keep more than this, even if undigested sessions are lost
    raw_max_age_days: int = 365  # drop bodies of digested sessions older than this, even if there is space
    distilled_cap_bytes: int = 1_000_000_000  # report digests above this; they are never dropped
    auto_claim: bool = True  # lock a file that is being edited until the turn ends
    start_tokens: int = 450  # hard limit for the briefing an agent gets when it starts
    prompt_recall: str = "on"  # on: give an agent what settled its problem before; shadow: only record it; off
    tool_recall: str = "on"  # the same when it reads or edits a file, before a command, and after one failed
    prompt_tokens: int = 350  # hard limit for those memories
    pattern_places: str = "context"  # where approved rules go: context (briefing at start), files (of the agents), both
    pattern_tokens: int = 600  # hard limit for the rules in one place
    allow_network_filesystem: bool = False  # allow a SQLite store on a network filesystem, where it may lose data
    wiki: str = ""  # directory of daily logs and articles; default: `wiki` in the home
    compile_interval_minutes: int = 60  # minimum time between two compilations of today's log
    timezone: str = ""  # your time zone, e.g. Europe/Berlin; default: the machine's
    model: str = "none"  # none, claude, codex, anthropic, openai, or one from an installed package
    model_name: str = ""  # name of the provider's model
    model_url: str = ""  # address of its API, if not the vendor's
    model_key_variable: str = ""  # environment variable that holds the key; the key itself is never stored
    model_seconds: int = 120  # time limit for one reply, including retries
    model_daily_cents: int = 100  # maximum US cents per day
    model_daily_tokens: int = 1_000_000  # maximum tokens per day from models without a known price
    auto_dream: bool = True  # run a dream after sessions end, if enough is due
    start_drives: bool = False  # include overdue upkeep in the briefing of an agent that starts
    continuity_threshold: int = 50  # percent from which new turns are ingested, flushed and summarized
    coherence_threshold: int = 50  # percent from which eras, profile, narrative and wiki are updated
    curiosity_threshold: int = 50  # percent from which the dream looks for patterns and reflects
    hygiene_threshold: int = 50  # percent from which the dream lints, finds duplicates, indexes and evicts
    dream_patience_hours: int = 24  # after this long, waiting work counts as if half of the rest were due too
    dream_seconds: int = 600  # maximum duration of one pass
    dream_tokens: int = 200_000  # maximum tokens per pass, if dream_cents allows a model
    dream_cents: int = 0  # maximum US cents per pass; 0: call no model, quote instead
    embedder: str = "auto"  # auto, static, minilm, openai, ollama, sentence-transformers, none
    embedder_url: str = ""  # address of its API, if not the usual one
    embedder_model: str = ""  # name of the embedding model
    embedder_key_variable: str = ""  # environment variable that holds its key


_MAY_BE_ZERO = frozenset((
    "dream_cents", "continuity_threshold", "coherence_threshold", "curiosity_threshold", "hygiene_threshold",
))  # fmt: skip


_MODES = frozenset(("prompt_recall", "tool_recall"))
SHADOW = "shadow"
EMBEDDERS = ("auto", "static", "minilm", "openai", "ollama", "sentence-transformers", "none")
_MEMORIA = {"timezone": "MEMORIA_TZ", "compile_interval_minutes": "MEMORIA_COMPILE_INTERVAL_MIN"}


def load_settings(environ: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
    """Return the effective settings; `overrides` win over the file and the environment."""
    env = os.environ if environ is None else environ
    home = get_home_directory(env, overrides.get("home"))
    choices: dict[str, Any] = {"store": os.path.join(home, "engram.db")}
    choices |= _read_memoria(env)
    choices |= _read_file(os.path.join(home, "config.toml"))
    choices |= _read_environment(env)
    choices |= {name: choice for name, choice in overrides.items() if choice is not None}
    if overrides.get("timezone"):
        _check_timezone("timezone", overrides["timezone"])
    choices["home"] = home
    if not is_url(choices["store"]):
        choices["store"] = os.path.abspath(os.path.expanduser(choices["store"]))
    return Settings(**choices)


def validate_setting(source: str, name: str, choice: Any) -> Any:
    """Return a setting read from another program's file, converted, or raise if it is invalid."""
    return _convert_setting(source, name, choice)


def parse_location(path_or_url: str | os.PathLike[str] | None) -> dict[str, str]:
    """Interpret the argument of `Engram(...)`: an address, a home directory or a file."""
    if path_or_url is None:
        return {}
    location = os.fspath(path_or_url)
    if is_url(location):
        return {"store": location}
    location = os.path.abspath(os.path.expanduser(location))
    if os.path.isdir(location) or (not os.path.exists(location) and not os.path.splitext(location)[1]):
        return {"home": location, "store": os.path.join(location, "engram.db")}
    return {"home": os.path.dirname(location), "store": location}


def is_url(store: str) -> bool:
    """Return whether a store is a PostgreSQL address."""
    return store.startswith(("postgresql://", "postgres://"))


def hide_password(store: str) -> str:
    """Return a store's address without its password."""
    import re

    hidden = re.sub(r"(?<=//)([^/@:]*):[^@/]*@", r"\1@", store)
    return re.sub(r"(?<=[?&]password=)[^&]*", "…", hidden)


def get_home_directory(env: Mapping[str, str], home: str | None = None) -> str:
    """Return the Engram home without reading any file."""
    return os.path.abspath(os.path.expanduser(home or env.get("ENGRAM_HOME") or _default_home(env)))


def _default_home(env: Mapping[str, str]) -> str:
    """Return the platform's user data directory for Engram."""
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/engram")
    if sys.platform == "win32":
        return os.path.join(env.get("LOCALAPPDATA") or os.path.expanduser("~"), "engram")
    return os.path.join(env.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "engram")


def _read_file(path: str) -> dict[str, Any]:
    if not os.path.exists(path):
        return {}
    import tomllib

    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
    except (OSError, ValueError) as problem:
        raise SettingsInvalid(source=path, reason=f"{problem}.") from problem
    return {name: _convert_setting(path, name, choice) for name, choice in table.items()}


def _read_environment(env: Mapping[str, str]) -> dict[str, Any]:
    choices = (
        {"timezone": _convert_setting("ENGRAM_TZ", "timezone", env["ENGRAM_TZ"])} if env.get("ENGRAM_TZ") else {}
    )  # the short name works too
    for name in Settings.__annotations__:
        variable = f"ENGRAM_{name.upper()}"
        if env.get(variable) and name != "home":
            choices[name] = _convert_setting(variable, name, env[variable])
    return choices


def _read_memoria(env: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings in memoria's variables; invalid values are ignored because they are not ours."""
    choices: dict[str, Any] = {}
    for name, variable in _MEMORIA.items():
        try:
            text = "1" if env.get(variable) == "0" else env.get(variable)  # 0 minutes in memoria means no pause
            choices |= {name: _convert_setting(variable, name, text)} if text else {}
        except SettingsInvalid:
            pass
    return choices


def list_memoria_variables(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return memoria's variables that are set while ours are not, each with our name for it."""
    env = os.environ if environ is None else environ
    theirs = {name: variable for name, variable in _MEMORIA.items() if env.get(variable)}
    if not theirs:
        return {}
    ours = _read_file(os.path.join(get_home_directory(env), "config.toml")) | _read_environment(env)
    return {variable: f"ENGRAM_{name.upper()}" for name, variable in theirs.items() if name not in ours}


def _convert_setting(source: str, name: str, choice: Any) -> Any:
    kind = Settings.__annotations__.get(name)
    if kind is None or name == "home":
        names = ", ".join(field for field in Settings.__annotations__ if field != "home")
        raise SettingsInvalid(source=source, reason=f"Unknown setting {name}. Choose one of: {names}.")
    if kind == "bool":
        return _parse_boolean(source, name, choice)
    if name in _MODES:
        return _parse_mode(source, name, choice)
    if kind == "int":
        return _parse_integer(source, name, choice, least=0 if name in _MAY_BE_ZERO else 1)
    if not isinstance(choice, str):
        raise SettingsInvalid(source=source, reason=f"{name} must be text, not {choice!r}.")
    if name == "timezone":
        _check_timezone(source, choice)
    if name == "embedder":
        _check_embedder(source, choice)
    return choice


def is_known_timezone(name: str) -> bool:
    """Return whether a time zone exists; every name passes on a machine without a database of time zones."""
    from zoneinfo import ZoneInfo, available_timezones

    try:
        return bool(ZoneInfo(name))
    except (KeyError, ValueError, OSError):
        return not available_timezones()


def _check_timezone(source: str, timezone: str) -> None:
    """Refuse an unknown time zone."""
    if timezone and not is_known_timezone(timezone):
        reason = f"Unknown time zone {timezone!r}. Use a name such as Europe/Berlin."
        raise SettingsInvalid(source=source, reason=reason)


def _check_embedder(source: str, embedder: str) -> None:
    """Refuse an embedder that neither Engram nor an installed package provides."""
    if embedder in EMBEDDERS:
        return
    from importlib.metadata import entry_points

    if not entry_points(group="engram.embedders", name=embedder):
        raise SettingsInvalid(
            source=source, reason=f"Unknown embedder {embedder!r}. Choose one of: {', '.join(EMBEDDERS)}."
        )


def _parse_boolean(source: str, name: str, choice: Any) -> bool:
    text = str(choice).lower()
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off"):
        return False
    raise SettingsInvalid(source=source, reason=f"{name} must be true or false, not {choice!r}.")


def _parse_mode(source: str, name: str, choice: Any) -> str:
    """Return on, shadow or off; true and false were the choices of older versions."""
    if str(choice).lower() == SHADOW:
        return SHADOW
    try:
        return "on" if _parse_boolean(source, name, choice) else "off"
    except SettingsInvalid as problem:
        reason = f"{name} must be on, shadow or off, not {choice!r}."
        raise SettingsInvalid(source=source, reason=reason) from problem


def _parse_integer(source: str, name: str, choice: Any, least: int) -> int:
    try:
        number = int(choice)
    except (TypeError, ValueError):
        number = -1
    if number < least or isinstance(choice, (bool, float)):
        allowed = "0 or more" if least == 0 else "above 0"
        raise SettingsInvalid(source=source, reason=f"{name} must be a whole number {allowed}, not {choice!r}.")
    return number
