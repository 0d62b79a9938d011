"""How each agent on this machine is wired: here, calling us, trusted, heard from; each fault with what mends it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from engram.errors import Error
from engram.files.change import read
from engram.store import hook_log
from engram.store.hook_log import Firing
from engram.text import duration, one_line
from engram.wiring import jsonc, launcher, toml_block
from engram.wiring.agents import AGENTS, Agent, directory, present, program
from engram.wiring.command import fleeting, located, program_in, runs
from engram.wiring.finding import Finding
from engram.wiring.hook_times import measured, moment_of
from engram.wiring.places import Place, places
from engram.wiring.trust import Trusted
from engram.wiring.wire import Hooks, Plugin


def agents(home: str) -> Iterator[Finding]:
    """Say of each agent that is here how it is wired and when it last called us; no store is needed for that."""
    try:
        ours = located()
    except Error as problem:
        yield Finding("problem", "engram", str(problem))
        ours = "engram"
    if fleeting(ours):
        yield Finding(
            "warning",
            "engram",
            f"{ours} is in a temporary folder.",
            "python3 dev.py install (in a checkout that stays), then engram init",
        )
    yield from _launched(home)
    heard = _heard(home)
    for agent in AGENTS:
        if present(agent):
            yield from _agent(agent, launcher.called(home), heard.get(agent.flavor, []), home)


def _launched(home: str) -> Iterator[Finding]:
    """Say what the agents' calls start, if that is not us."""
    python = launcher.starts(launcher.path(home))
    if python is None or launcher.is_current(home):
        return
    if python == sys.executable:
        text = "The file agents call us through is not this version's; what they tell may not arrive."
        yield Finding("warning", "engram", text, "engram init")
    elif os.access(python, os.X_OK):
        yield Finding("warning", "engram", f"Agents start the Engram of {python}, not this one.", "engram init")
    else:
        text = f"Agents start {python or 'nothing'}, which is gone: they remember nothing."
        yield Finding("problem", "engram", text, "engram init")


def last_heard(home: str, flavor: str) -> int:
    """Return when an agent last called us, in microseconds; 0 if it never did."""
    found = _heard(home).get(flavor)
    then = moment_of(found[-1]) if found else None
    return 0 if then is None else int(then.timestamp() * 1_000_000)


def wired_at(home: str, flavor: str) -> int:
    """Return when `init` last wrote an agent's files, in microseconds; 0 if that is not known."""
    from engram.wiring.record import Record

    times = [each.at for each in Record(home).all(None) if each.flavor == flavor]
    return max(times, default=0)


def is_wired(flavor: str) -> bool:
    """Tell whether an agent's hooks call us."""
    agent = next((each for each in AGENTS if each.flavor == flavor), None)
    return agent is not None and bool(_commands(places(agent, None, "engram")))


def _agent(agent: Agent, ours: str, firings: list[Firing], home: str) -> Iterator[Finding]:
    spots = places(agent, None, ours)
    faults = [fault for spot in spots for fault in _faults(spot)]
    also = packaged(agent)
    wired = _wired(spots)
    if not wired:
        yield from _unwired(agent, also)
    else:
        yield from _calls(agent, spots, faults)
        yield from _doubled(agent, also)
    if wired or also:
        yield from _silenced(agent)
        yield from _untrusted(agent, spots)
        if agent.shape != "none":
            yield from _firing(agent, firings, home)


def _unwired(agent: Agent, also: bool) -> Iterator[Finding]:
    if also:
        yield Finding("ok", agent.flavor, f"{_title(agent)}: wired by its plugin.")
    else:
        yield Finding(
            "warning", agent.flavor, f"{_title(agent)} does not call Engram.", f"engram init --agent {agent.flavor}"
        )


def _calls(agent: Agent, spots: list[Place], faults: list[str]) -> Iterator[Finding]:
    mend = f"engram init --agent {agent.flavor}"
    broken = sorted(each for each in map(program_in, _commands(spots)) if not runs(each))
    for path in broken:
        yield Finding("problem", agent.flavor, f"Its hooks call {path}, which cannot be run.", mend)
    if faults and not broken:
        yield Finding("warning", agent.flavor, f"{_title(agent)} is not wired as it should: {'; '.join(faults)}.", mend)
    elif not faults:
        what = "MCP server" if agent.shape == "none" else "hooks and MCP server"
        yield Finding("ok", agent.flavor, f"{_title(agent)}: {what} wired.")


def _doubled(agent: Agent, also: bool) -> Iterator[Finding]:
    if also:
        text = "Wired twice, by its plugin and by `engram init`: every event is told twice."
        yield Finding("warning", agent.flavor, text, f"engram uninit --agent {agent.flavor}")


def _untrusted(agent: Agent, spots: list[Place]) -> Iterator[Finding]:
    if agent.flavor != "codex":
        return
    hooks, config = (_text(spot.path) for spot in spots)
    try:
        waiting = Trusted(spots[0].path, hooks).untrusted(config) if hooks else []
    except (jsonc.Damaged, toml_block.Refused):
        return  # told of already
    if waiting:
        text = f"Codex passes over {len(waiting)} of our hooks until you trust them: start codex and accept them."
        yield Finding("problem", agent.flavor, text, "engram init --agent codex --trust-codex")


def _silenced(agent: Agent) -> Iterator[Finding]:
    """Say where a setting of the agent's own keeps it from running any hook."""
    home = directory(agent)
    settings = os.path.join(home, "settings.json")
    for name, off in (("disableAllHooks", True), ("hooksConfig.enabled", False)):
        if setting(settings, *name.split(".")) is off:
            yield Finding(
                "problem", agent.flavor, f"{name} is set: it runs no hooks at all.", f"remove it from {settings}"
            )
    if (
        agent.flavor == "codex"
        and toml_block.at(_toml(os.path.join(home, "config.toml")), ("features", "hooks")) is False
    ):
        text = "features.hooks is off: it runs no hooks at all."
        yield Finding("problem", agent.flavor, text, f"remove it from {os.path.join(home, 'config.toml')}")


def _firing(agent: Agent, firings: list[Firing], home: str) -> Iterator[Finding]:
    if not firings:
        yield Finding("ok", agent.flavor, "Not heard from yet: that comes with its next session.")
        return
    last = firings[-1]
    found = measured(agent.flavor, last.event, firings)
    took = f"a hook takes {found.p50:.0f} ms, 95 % within {found.p95:.0f} ms."
    yield Finding("ok", agent.flavor, f"Last heard {_ago(found.last_at)} ({last.event}); {took}")
    if found.failures:
        why, log = one_line(found.problem, 200), os.path.join(home, "hook.log")
        text = f"{found.failures} of its last {found.calls} events failed, the last {_ago(found.failed_at)}: {why}"
        yield Finding("problem" if last.problem else "warning", agent.flavor, text, f"tail {shlex.quote(log)}")


def _heard(home: str) -> dict[str, list[Firing]]:
    found: dict[str, list[Firing]] = {}
    for each in hook_log.recent(home):
        found.setdefault(each.flavor, []).append(each)
    return found


def _ago(then: datetime | None) -> str:
    if then is None:
        return "at some time"
    return f"{duration(int((datetime.now(timezone.utc) - then).total_seconds() * 1_000_000))} ago"


def _title(agent: Agent) -> str:
    """Return an agent's name, with its version where a file says it: nothing is run for that."""
    found = program(agent)
    version = _version(found) if found else ""
    return f"{agent.title} {version}".strip()


def _version(path: str) -> str:
    folder = os.path.dirname(os.path.realpath(path))
    for _ in range(3):
        version = setting(os.path.join(folder, "package.json"), "version")
        if isinstance(version, str):
            return version
        folder = os.path.dirname(folder)
    return ""


def _wired(spots: list[Place]) -> bool:
    """Tell whether anything of ours is in an agent's files."""
    return any(_holds(spot) for spot in spots)


def _holds(spot: Place) -> bool:
    text = _text(spot.path)
    try:
        return bool(text) and any(wire.removed(text, text) != text for wire in spot.wires)
    except (jsonc.Damaged, toml_block.Refused):
        return False


def _faults(spot: Place) -> list[str]:
    text = _text(spot.path)
    try:
        return [fault for wire in spot.wires for fault in wire.faults(text)]
    except (jsonc.Damaged, toml_block.Refused) as problem:
        return [f"{spot.path}, line {problem.line}: {problem.reason.rstrip('.')}"]


def _commands(spots: list[Place]) -> set[str]:
    """Return the commands an agent's hooks of ours call."""
    found: set[str] = set()
    for spot in spots:
        text = _text(spot.path)
        for wire in spot.wires:
            try:
                if isinstance(wire, Hooks | Plugin):
                    found |= wire.commands(text)
            except jsonc.Damaged:
                pass
    return found


def packaged(agent: Agent) -> bool:
    """Tell whether the agent has us from its own store as well."""
    home = directory(agent)
    plugins = setting(os.path.join(home, "settings.json"), "enabledPlugins")
    if agent.flavor == "codex":
        plugins = toml_block.at(_toml(os.path.join(home, "config.toml")), ("plugins",))
    if agent.flavor in ("gemini", "qwen"):
        return os.path.isdir(os.path.join(home, "extensions", "engram"))
    return isinstance(plugins, dict) and any(name.split("@")[0] == "engram" and on for name, on in plugins.items())


def _text(path: str) -> str:
    try:
        return (read(path) or b"").decode("utf-8", "replace")
    except Error:
        return ""


def _toml(path: str) -> dict[str, Any]:
    try:
        return toml_block.data(_text(path))
    except toml_block.Refused:
        return {}


def setting(path: str, *names: str) -> Any:
    """Return what an agent's settings say, or None."""
    try:
        found = jsonc.data(_text(path))
        for name in names:
            found = found[name]
    except (ValueError, KeyError, TypeError):
        return None
    return found
