"""Check the connection of each agent on this machine: entries, command, trust and calls, with a fix for each
problem.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from datetime import datetime, timezone

from engram.agents.agent import NO_HOOKS, Agent, read_json_setting
from engram.agents.registry import find_agent
from engram.errors import Error
from engram.install import launcher, toml_block
from engram.install.agents import find_program, is_present, list_connectable
from engram.install.config_files import WiredFile, list_wired_files
from engram.install.file_entry import HooksEntry, PluginFileEntry
from engram.install.finding import Finding
from engram.install.hook_times import measure_times, parse_entry_time
from engram.install.own_command import fleeting, is_runnable, locate_program, parse_program
from engram.install.trust import TrustEntry
from engram.platform import jsonc
from engram.platform.file_edit import read_file
from engram.platform.text import format_duration, to_one_line
from engram.store import hook_log
from engram.store.hook_log import HookLogEntry


def check_agents(home: str) -> Iterator[Finding]:
    """Report for each installed agent whether it is connected and when its hooks last fired; needs no store."""
    try:
        program = locate_program()
    except Error as problem:
        yield Finding("problem", "engram", str(problem))
        program = "engram"
    if fleeting(program):
        yield Finding(
            "warning",
            "engram",
            f"{program} is in a temporary directory.",
            "python3 dev.py install (in a permanent checkout), then engram init",
        )
    yield from _check_launcher(home)
    entries_by_agent = _group_log_by_agent(home)
    for agent in list_connectable():
        if is_present(agent):
            yield from _check_agent(agent, launcher.get_agent_program(home), entries_by_agent.get(agent.name, []), home)


def _check_launcher(home: str) -> Iterator[Finding]:
    """Report if agents start another installation."""
    python = launcher.read_interpreter(launcher.get_launcher_path(home))
    if python is None or launcher.is_current(home):
        return
    if python == sys.executable:
        text = "The launcher that agents call is of another version; events may be lost."
        yield Finding("warning", "engram", text, "engram init")
    elif os.access(python, os.X_OK):
        yield Finding("warning", "engram", f"Agents start the Engram of {python}, not this one.", "engram init")
    else:
        text = f"Agents start {python or 'nothing'}, which no longer exists: nothing is remembered."
        yield Finding("problem", "engram", text, "engram init")


def get_last_hook_time(home: str, flavor: str) -> int:
    """Return when an agent's hooks last fired, in microseconds; 0 if never."""
    entries = _group_log_by_agent(home).get(flavor)
    last_time = parse_entry_time(entries[-1]) if entries else None
    return 0 if last_time is None else int(last_time.timestamp() * 1_000_000)


def get_wiring_time(home: str, flavor: str) -> int:
    """Return when `init` last wrote an agent's files, in microseconds; 0 if unknown."""
    from engram.install.install_record import InstallRecord

    times = [file.at for file in InstallRecord(home).list_files(None) if file.flavor == flavor]
    return max(times, default=0)


def is_wired(flavor: str) -> bool:
    """Check whether an agent's hooks call us."""
    agent = find_agent(flavor)
    return agent is not None and bool(_find_commands(list_wired_files(agent, None, "engram")))


def _check_agent(agent: Agent, program: str, log_entries: list[HookLogEntry], home: str) -> Iterator[Finding]:
    files = list_wired_files(agent, None, program)
    faults = [fault for file in files for fault in _find_faults(file)]
    has_plugin = agent.has_engram_plugin()
    has_entry = _has_any_entry(files)
    if not has_entry:
        yield from _report_unwired(agent, has_plugin)
    else:
        yield from _check_commands(agent, files, faults)
        yield from _check_double_wiring(agent, has_plugin)
    if has_entry or has_plugin:
        yield from _check_disabled_hooks(agent)
        trust_findings = [*_check_trust(agent, files)]
        yield from trust_findings
        if agent.hook_layout != NO_HOOKS and (log_entries or not trust_findings):  # nothing can have fired before
            yield from _check_hook_log(agent, log_entries, home)


def _report_unwired(agent: Agent, has_plugin: bool) -> Iterator[Finding]:
    if has_plugin:
        yield Finding("ok", agent.name, f"{_format_title(agent)}: connected by its plugin.")
    else:
        yield Finding(
            "warning", agent.name, f"{_format_title(agent)} is not connected.", f"engram init --agent {agent.name}"
        )


def _check_commands(agent: Agent, files: list[WiredFile], faults: list[str]) -> Iterator[Finding]:
    fix = f"engram init --agent {agent.name}"
    broken_programs = sorted(
        program for program in map(parse_program, _find_commands(files)) if not is_runnable(program)
    )
    for path in broken_programs:
        yield Finding("problem", agent.name, f"Its hooks call {path}, which cannot be run.", fix)
    if faults and not broken_programs:
        yield Finding(
            "warning", agent.name, f"{_format_title(agent)} is not connected correctly: {'; '.join(faults)}.", fix
        )
    elif not faults:
        what = "MCP server" if agent.hook_layout == NO_HOOKS else "hooks and MCP server"
        yield Finding("ok", agent.name, f"{_format_title(agent)}: {what} connected.")


def _check_double_wiring(agent: Agent, has_plugin: bool) -> Iterator[Finding]:
    if has_plugin:
        text = "Connected twice, by its plugin and by `engram init`: every event is reported twice."
        yield Finding("warning", agent.name, text, f"engram uninit --agent {agent.name}")


def _check_trust(agent: Agent, files: list[WiredFile]) -> Iterator[Finding]:
    if not agent.trusts_hooks_by_text:
        return
    hooks, config = (_read_text(file.path) for file in files)
    try:
        untrusted = TrustEntry(files[0].path, hooks).list_untrusted(config) if hooks else []
    except (jsonc.Damaged, toml_block.TomlEditRefused):
        return  # already reported
    if untrusted:
        text = f"{agent.title} skips {len(untrusted)} Engram hooks until you trust them when it asks at its start."
        yield Finding("problem", agent.name, text, f"engram init --agent {agent.name} --trust-hooks")


def _check_disabled_hooks(agent: Agent) -> Iterator[Finding]:
    """Report a setting of the agent that disables all hooks."""
    disabled = agent.disabled_hooks()
    if disabled:
        setting, path = disabled
        yield Finding("problem", agent.name, f"{setting} disables all hooks.", f"remove it from {path}")


def _check_hook_log(agent: Agent, log_entries: list[HookLogEntry], home: str) -> Iterator[Finding]:
    if not log_entries:
        yield Finding("ok", agent.name, "No hook has fired yet. Start a session to test it.")
        return
    last = log_entries[-1]
    times = measure_times(agent.name, last.event, log_entries)
    duration_text = f"hooks take {times.p50:.0f} ms (95 % under {times.p95:.0f} ms)."
    yield Finding("ok", agent.name, f"Last hook {_format_ago(times.last_at)} ({last.event}); {duration_text}")
    if times.failures:
        why, log = to_one_line(times.problem, 200), os.path.join(home, "hook.log")
        text = f"{times.failures} of the last {times.calls} hooks failed, last {_format_ago(times.failed_at)}: {why}"
        yield Finding("problem" if last.problem else "warning", agent.name, text, f"tail {shlex.quote(log)}")


def _group_log_by_agent(home: str) -> dict[str, list[HookLogEntry]]:
    by_agent: dict[str, list[HookLogEntry]] = {}
    for entry in hook_log.read_recent(home):
        by_agent.setdefault(entry.flavor, []).append(entry)
    return by_agent


def _format_ago(then: datetime | None) -> str:
    if then is None:
        return "at an unknown time"
    return f"{format_duration(int((datetime.now(timezone.utc) - then).total_seconds() * 1_000_000))} ago"


def _format_title(agent: Agent) -> str:
    """Return an agent's name, with its version if a file contains it; nothing is executed."""
    program = find_program(agent)
    version = _read_version(program) if program else ""
    return f"{agent.title} {version}".strip()


def _read_version(path: str) -> str:
    folder = os.path.dirname(os.path.realpath(path))
    for _ in range(3):
        version = read_json_setting(os.path.join(folder, "package.json"), "version")
        if isinstance(version, str):
            return version
        folder = os.path.dirname(folder)
    return ""


def _has_any_entry(files: list[WiredFile]) -> bool:
    """Check whether an agent's files contain any entry of ours."""
    return any(_has_our_entry(file) for file in files)


def _has_our_entry(file: WiredFile) -> bool:
    text = _read_text(file.path)
    try:
        return bool(text) and any(entry.remove(text, text) != text for entry in file.entries)
    except (jsonc.Damaged, toml_block.TomlEditRefused):
        return False


def _find_faults(file: WiredFile) -> list[str]:
    text = _read_text(file.path)
    try:
        return [fault for entry in file.entries for fault in entry.find_faults(text)]
    except (jsonc.Damaged, toml_block.TomlEditRefused) as problem:
        return [f"{file.path}, line {problem.line}: {problem.reason.rstrip('.')}"]


def _find_commands(files: list[WiredFile]) -> set[str]:
    """Return the commands that our hooks in an agent's files call."""
    commands: set[str] = set()
    for file in files:
        text = _read_text(file.path)
        for entry in file.entries:
            try:
                if isinstance(entry, HooksEntry | PluginFileEntry):
                    commands |= entry.find_commands(text)
            except jsonc.Damaged:
                pass
    return commands


def _read_text(path: str) -> str:
    try:
        return (read_file(path) or b"").decode("utf-8", "replace")
    except Error:
        return ""
