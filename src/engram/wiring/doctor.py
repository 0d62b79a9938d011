"""Doctor: what stands between you and a memory that loses nothing, and the command that mends it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from engram.clock import HOUR
from engram.errors import Error
from engram.hub import Hub
from engram.operation import Help, operation
from engram.settings import memoria_in_force, without_password
from engram.store import audit, ballast, blobs, cursors, filesystem, sessions
from engram.text import duration
from engram.wiring.finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from engram.capture.discover import Source
    from engram.store.engine import Row

_DAY = 24 * HOUR
_BEHIND = 0.05  # of stability: a drive has pressed with all it has for long
_KEPT = 30  # days an agent keeps its transcripts that says nothing of it
_NAMED = 5  # files that could not be read
_UPDATE = "update Engram, then engram ingest; report a file that stays unread, or remove it if it is damaged"
_UNITS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30}  # days of each


@operation(agent=False)
def doctor(
    hub: Hub,
    quick: Annotated[bool, Help("without reading through the whole store, which takes long in a large one")] = False,
) -> list[Finding]:
    """Show what is well and what needs attention: the store, the agents and their wiring, what is not captured."""
    from engram.wiring import health

    wired, captured = health.agents(hub.settings.home), _agents(hub)
    return [
        *_store(hub, quick),
        *_settings(),
        *_provider(hub),
        *_by_subject([*wired, *captured]),
        *_budget(hub),
        *_dream(hub),
    ]


def _by_subject(found: list[Finding]) -> list[Finding]:
    """Return findings with all of one agent together, in the order the agents first came."""
    order = list(dict.fromkeys(each.subject for each in found))
    return sorted(found, key=lambda each: order.index(each.subject))


def without_store(home: str, problem: Error) -> list[Finding]:
    """Show what can be said while the store cannot be opened."""
    from engram.wiring import health

    hint = "Hooks let the agents go on without it, and what they do is captured from their transcripts later."
    dead = Finding("problem", "store", f"{problem} {hint}", "engram config  # shows which store is meant")
    return [dead, *health.agents(home)]


def _store(hub: Hub, quick: bool) -> Iterator[Finding]:
    shown = without_password(hub.settings.store)
    yield Finding(level="ok", subject="store", text=f"{shown} ({audit.library(hub.engine)})")
    if hub.engine.read_only:
        text = "It cannot be written from here, as in an agent's sandbox; reading works."
        yield Finding("warning", "store", text, f"let this user, or the sandbox, write to {hub.settings.home}")
    kind = filesystem.network_kind(hub.settings.home)
    if kind and hub.engine.dialect == "sqlite":
        text = f"It lies on {kind}, where SQLite loses data."
        yield Finding("problem", "store", text, "set ENGRAM_HOME to a directory on a local disk")
    for problem in () if quick else audit.structure(hub.engine):
        yield Finding("problem", "store", f"{problem}.", "engram check")


def _settings() -> Iterator[Finding]:
    for theirs, ours in memoria_in_force().items():
        yield Finding("ok", "settings", f"{theirs} is read because {ours} is not set.")


def _provider(hub: Hub) -> Iterator[Finding]:
    from engram.llm.status import model_status

    try:
        status = model_status(hub)
    except Error as problem:
        yield Finding("warning", "model", str(problem), "engram model")
        return
    if status.provider == "none":
        yield Finding("ok", "model", "None is chosen; gists are quotes, which costs nothing.")
    elif status.ready:
        yield Finding("ok", "model", f"{status.provider} can be reached.")
    else:
        yield Finding("warning", "model", status.reason, "engram model --try")


def _agents(hub: Hub) -> Iterator[Finding]:
    """Say for each agent on this machine what is captured, and what will be gone before it is."""
    from engram.adapters.registry import adapters
    from engram.capture import discover
    from engram.capture.sweep import is_waiting

    known = cursors.known(hub.engine, discover.machine(hub.engine.dialect))
    now = hub.now()
    for flavor in adapters():
        found = list(discover.sources(sessions.projects(hub.engine), flavor))
        if not found:
            continue
        rows = {each: known.pop(each.name, None) for each in found}
        unread = {each.shown: row for each, row in rows.items() if row and _is_unread(row, is_waiting(each, row))}
        waiting = [each for each, row in rows.items() if each.shown not in unread and is_waiting(each, row)]
        yield _captured(flavor, len(found), len(waiting), len(unread))
        yield from _unread(flavor, unread)
        yield from _expiring(flavor, waiting, now)
        yield from _unheard(hub, flavor, found)
    yield from _unread("files", {path: row for path, row in known.items() if _is_unread(row, False)})


def _is_unread(row: Row, is_waiting: bool) -> bool:
    """Tell whether a file could not be read; one that adapters have learnt more for is only waiting."""
    tried = not is_waiting or row["readers"] == ""
    return row["unread"] is not None and tried and any(map(os.path.exists, (row["path"], f"{row['path']}.zst")))


def _captured(flavor: str, found: int, waiting: int, unread: int) -> Finding:
    told = [f"{found} transcripts", f"{found - waiting - unread} captured"]
    told += [f"{waiting} to come"] if waiting else []
    told += [f"{unread} not read"] if unread else []
    level = "warning" if waiting or unread else "ok"
    return Finding(level, flavor, f"{', '.join(told)}.", "engram ingest" if waiting else "")


def _unread(subject: str, unread: dict[str, Row]) -> Iterator[Finding]:
    """Name the files that could not be read, for each reason the first few, and say what to do."""
    reasons: dict[tuple[str, bool], list[str]] = {}
    for path, row in unread.items():
        reasons.setdefault((row["unread"], row["readers"] == ""), []).append(path)
    for (reason, is_passing), paths in reasons.items():
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        text = f"Could not read {', '.join(paths[:_NAMED])}{more}: {reason}."
        yield Finding("warning", subject, text, "engram ingest  # once that is fixed" if is_passing else _UPDATE)


def _unheard(hub: Hub, flavor: str, found: list[Source]) -> Iterator[Finding]:
    """Say if an agent is wired and worked since, but did not call us."""
    from engram.wiring import health

    worked = max(each.changed_at for each in found)
    heard = max(health.last_heard(hub.settings.home, flavor), health.wired_at(hub.settings.home, flavor))
    if heard and worked > heard + HOUR and health.is_wired(flavor):
        text = f"It is wired and worked {duration(hub.now() - worked)} ago, but its hooks did not call us then."
        yield Finding("warning", flavor, text, f"engram init --agent {flavor}, then start it anew")


def _expiring(flavor: str, waiting: list[Source], now: int) -> Iterator[Finding]:
    days = _kept_days(flavor)
    if days is None:
        return
    first = min((each.changed_at for each in waiting), default=None)
    if first is not None:
        left = first + int(days * _DAY) - now
        when = f"within {duration(left)}" if left > 0 else "any moment"
        text = f"It deletes transcripts after {days:g} days; the oldest not captured goes {when}."
        yield Finding("problem" if left < 3 * _DAY else "warning", flavor, text, "engram ingest")
    else:
        text = f"It deletes transcripts after {days:g} days; what is captured stays."
        yield Finding(level="ok", subject=flavor, text=text)


def _kept_days(flavor: str) -> float | None:
    """Return after how many days an agent deletes its transcripts, if it does."""
    if flavor == "claude":
        return min(map(_claude_days, _claude_homes()), default=_KEPT)
    return _gemini_days() if flavor == "gemini" else None


def _claude_homes() -> Iterator[str]:
    """Yield the directories of Claude Code that hold transcripts, each with settings of its own."""
    moved = [each for each in os.environ.get("CLAUDE_CONFIG_DIR", "").split(",") if each]
    for home in moved or [os.path.expanduser("~/.claude"), os.path.expanduser("~/.config/claude")]:
        if os.path.isdir(os.path.join(home, "projects")):
            yield home


def _claude_days(home: str) -> float:
    from engram.wiring.health import setting

    days = setting(os.path.join(home, "settings.json"), "cleanupPeriodDays")
    return days if isinstance(days, int | float) else _KEPT


def _gemini_days() -> float | None:
    from engram.wiring.health import setting

    home = os.environ.get("GEMINI_CLI_HOME") or os.path.expanduser("~")
    kept = setting(os.path.join(home, ".gemini", "settings.json"), "general", "sessionRetention")
    kept = kept if isinstance(kept, dict) else {}
    if kept.get("enabled") is False:
        return None
    age = str(kept.get("maxAge"))
    return int(age[:-1]) * _UNITS[age[-1]] if age[:-1].isdecimal() and age[-1] in _UNITS else _KEPT


def _budget(hub: Hub) -> Iterator[Finding]:
    used, cap = blobs.usage(hub.engine), hub.settings.raw_soft_cap_bytes
    yield Finding(level="ok", subject="budget", text=f"{used:,} of {cap:,} bytes of bodies.")
    if hub.engine.dialect == "sqlite" and not ballast.is_kept(hub.settings.home):
        text = "No room is put aside for making room; the next sweep does it if the disk allows."
        yield Finding("warning", "disk", text, "engram ingest")


def _dream(hub: Hub) -> Iterator[Finding]:
    """Say how far the memory is behind, and what failed when it was last tended."""
    from engram.dream import journal, senses

    last = next(iter(journal.newest(hub, 1)), None)
    stability = senses.sense(hub)["stability"]
    failed = [f"{name}: {why}" for done in last.steps for name, why in done.failed.items()] if last else []
    if failed:
        yield Finding("warning", "dream", f"The last pass could not do all: {failed[0]}", "engram dream log")
    if stability.level < _BEHIND:
        yield Finding("warning", "dream", f"The memory is behind: {stability.why}.", "engram dream --force")
    else:
        yield Finding("ok", "dream", f"The memory is tended: {stability.why}.")
