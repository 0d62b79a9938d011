"""Settings and their one loader: defaults, then config.toml, then ENGRAM_* variables."""

from __future__ import annotations

import os
import sys

from engram.errors import SettingsInvalid
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


@value
class Settings:
    """Every choice a user can make; each is also ENGRAM_<NAME> in the environment."""

    home: str  # where everything lies
    store: str  # a SQLite file, or a postgresql:// address for a team
    stale_minutes: int = 30  # a session without a sign of life for this long is stale
    lock_minutes: int = 30  # a lock lapses after this long without a sign of life of its holder
    recent_hours: int = 24  # how far back the sitrep shows completed work
    sitrep_tokens: int = 2000  # hard limit of a sitrep
    world_state_tokens: int = 2000  # hard limit of one world state
    message_bytes: int = 8192  # hard limit of one message
    inbox_tokens: int = 1000  # how much of an inbox is handed over at once
    busy_seconds: int = 10  # how long to wait for a store others are writing to
    raw_soft_cap_bytes: int = 2_000_000_000  # from here on the bodies of digested sessions are dropped
    raw_hard_cap_bytes: int = 4_000_000_000  # never more than this, whatever is lost
    raw_max_age_days: int = 365  # bodies held for longer are dropped, once digested, even where there is space
    distilled_cap_bytes: int = 1_000_000_000  # digests beyond this are reported, never dropped
    auto_claim: bool = True  # a file being edited is locked until the turn ends
    start_tokens: int = 2000  # hard limit of what an agent is told when it starts
    prompt_recall: bool = True  # tell an agent what is remembered of its prompt, if that is clearly to the point
    prompt_tokens: int = 600  # hard limit of that
    pattern_places: str = "context"  # where approved rules go: context (told at the start), files (of the agents), both
    pattern_tokens: int = 600  # hard limit of the rules in one place
    allow_network_filesystem: bool = False  # keep a SQLite store where it may lose data
    wiki: str = ""  # where daily logs and articles lie; `wiki` in the home if empty
    compile_interval_minutes: int = 60  # today's log is not compiled again within so long
    timezone: str = ""  # where you live, e.g. Europe/Berlin; the machine's own zone if empty
    model: str = "none"  # who thinks for Engram: none, claude, codex, anthropic, openai, or what a package brings
    model_name: str = ""  # which model of theirs
    model_url: str = ""  # where its API is, if not at the vendor
    model_key_variable: str = ""  # the environment variable that holds the key; the key itself is never stored
    model_seconds: int = 120  # how long one answer may take, with all tries
    model_daily_cents: int = 100  # no more US cents a day than this
    model_daily_tokens: int = 1_000_000  # no more tokens a day than this from models without a known price
    auto_dream: bool = True  # tend the memory after sessions end
    start_drives: bool = False  # tell an agent that starts how far the memory is behind
    continuity_threshold: int = 50  # percent from which new turns are taken in, flushed and summarized
    coherence_threshold: int = 50  # percent from which eras, profile, narrative and wiki are brought up to date
    curiosity_threshold: int = 50  # percent from which the dream looks for patterns and reflects
    hygiene_threshold: int = 50  # percent from which it lints, looks for duplicates, indexes and evicts
    dream_patience_hours: int = 24  # what waits this long presses half as much again as it leaves open
    dream_seconds: int = 600  # no pass takes longer than this
    dream_tokens: int = 200_000  # no more tokens a pass than this, once money allows a model
    dream_cents: int = 0  # no more US cents a pass than this; 0: no model is asked, quotes do
    embedder: str = "auto"  # who reads meaning: auto, static, minilm, openai, ollama, sentence-transformers, none
    embedder_url: str = ""  # where its API is, if not at its usual place
    embedder_model: str = ""  # which model of theirs
    embedder_key_variable: str = ""  # the environment variable that holds its key


_MAY_BE_ZERO = frozenset((
    "dream_cents", "continuity_threshold", "coherence_threshold", "curiosity_threshold", "hygiene_threshold",
))  # fmt: skip


_MEMORIA = {"timezone": "MEMORIA_TZ", "compile_interval_minutes": "MEMORIA_COMPILE_INTERVAL_MIN"}


def load(environ: Mapping[str, str] | None = None, **given: Any) -> Settings:
    """Return the settings in force; `given` overrides file and environment."""
    env = os.environ if environ is None else environ
    home = home_in(env, given.get("home"))
    facts: dict[str, Any] = {"store": os.path.join(home, "engram.db")}
    facts |= _from_memoria(env)
    facts |= _from_file(os.path.join(home, "config.toml"))
    facts |= _from_environment(env)
    facts |= {name: choice for name, choice in given.items() if choice is not None}
    facts["home"] = home
    if not is_url(facts["store"]):
        facts["store"] = os.path.abspath(os.path.expanduser(facts["store"]))
    return Settings(**facts)


def checked(source: str, name: str, choice: Any) -> Any:
    """Return what a file of another program says for one of our settings, or raise if it makes no sense."""
    return _convert(source, name, choice)


def locate(path_or_url: str | os.PathLike[str] | None) -> dict[str, str]:
    """Tell what the argument of `Engram(...)` means: an address, a home directory, or a file."""
    if path_or_url is None:
        return {}
    place = os.fspath(path_or_url)
    if is_url(place):
        return {"store": place}
    place = os.path.abspath(os.path.expanduser(place))
    if os.path.isdir(place) or (not os.path.exists(place) and not os.path.splitext(place)[1]):
        return {"home": place, "store": os.path.join(place, "engram.db")}
    return {"home": os.path.dirname(place), "store": place}


def is_url(store: str) -> bool:
    """Tell whether a store is a PostgreSQL address."""
    return store.startswith(("postgresql://", "postgres://"))


def without_password(store: str) -> str:
    """Return a store's name as it may be shown."""
    import re

    hidden = re.sub(r"(?<=//)([^/@:]*):[^@/]*@", r"\1@", store)
    return re.sub(r"(?<=[?&]password=)[^&]*", "…", hidden)


def home_in(env: Mapping[str, str], given: str | None = None) -> str:
    """Return where everything lies; no file is read for that."""
    return os.path.abspath(os.path.expanduser(given or env.get("ENGRAM_HOME") or _default_home(env)))


def _default_home(env: Mapping[str, str]) -> str:
    """Return the platform's user data directory for Engram."""
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/engram")
    if sys.platform == "win32":
        return os.path.join(env.get("LOCALAPPDATA") or os.path.expanduser("~"), "engram")
    return os.path.join(env.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "engram")


def _from_file(path: str) -> dict[str, Any]:
    if not os.path.exists(path):
        return {}
    import tomllib

    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
    except (OSError, ValueError) as problem:
        raise SettingsInvalid(source=path, reason=f"{problem}.") from problem
    return {name: _convert(path, name, choice) for name, choice in table.items()}


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    found = {"timezone": env["ENGRAM_TZ"]} if env.get("ENGRAM_TZ") else {}  # the short name counts too
    for name in Settings.__annotations__:
        variable = f"ENGRAM_{name.upper()}"
        if env.get(variable) and name != "home":
            found[name] = _convert(variable, name, env[variable])
    return found


def _from_memoria(env: Mapping[str, str]) -> dict[str, Any]:
    """Return what variables of memoria say; a value that makes no sense there is passed over, as it is not ours."""
    found: dict[str, Any] = {}
    for name, variable in _MEMORIA.items():
        try:
            given = "1" if env.get(variable) == "0" else env.get(variable)  # 0 minutes there: without a pause
            found |= {name: _convert(variable, name, given)} if given else {}
        except SettingsInvalid:
            pass
    return found


def memoria_in_force(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of memoria that are set while ours are not, each with the name of ours."""
    env = os.environ if environ is None else environ
    theirs = {name: variable for name, variable in _MEMORIA.items() if env.get(variable)}
    if not theirs:
        return {}
    ours = _from_file(os.path.join(home_in(env), "config.toml")) | _from_environment(env)
    return {variable: f"ENGRAM_{name.upper()}" for name, variable in theirs.items() if name not in ours}


def _convert(source: str, name: str, choice: Any) -> Any:
    kind = Settings.__annotations__.get(name)
    if kind is None or name == "home":
        known = ", ".join(field for field in Settings.__annotations__ if field != "home")
        raise SettingsInvalid(source=source, reason=f"{name} is not a setting; there are {known}.")
    if kind == "bool":
        return _boolean(source, name, choice)
    if kind == "int":
        return _whole(source, name, choice, least=0 if name in _MAY_BE_ZERO else 1)
    if not isinstance(choice, str):
        raise SettingsInvalid(source=source, reason=f"{name} must be text, not {choice!r}.")
    return choice


def _boolean(source: str, name: str, choice: Any) -> bool:
    text = str(choice).lower()
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off"):
        return False
    raise SettingsInvalid(source=source, reason=f"{name} must be true or false, not {choice!r}.")


def _whole(source: str, name: str, choice: Any, least: int) -> int:
    try:
        number = int(choice)
    except (TypeError, ValueError):
        number = -1
    if number < least or isinstance(choice, (bool, float)):
        told = "0 or more" if least == 0 else "above 0"
        raise SettingsInvalid(source=source, reason=f"{name} must be a whole number {told}, not {choice!r}.")
    return number
