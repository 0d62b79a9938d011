"""Plan what connecting or disconnecting agents would change, file by file; nothing is written here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from engram.agents.agent import HOOKS, SERVER_TOML, Agent, ConfigFile
from engram.agents.registry import agent_directory
from engram.errors import ConfigDamaged, ConfigRefused
from engram.install import toml_block
from engram.install.agents import list_connectable, require_agent, select_agents
from engram.install.config_files import WiredFile, list_wired_files
from engram.install.file_entry import ConfigEntry, ForeignEntryError
from engram.install.install_record import InstalledFile, InstallRecord, hash_content
from engram.install.trust import TrustEntry
from engram.platform import jsonc
from engram.platform.file_edit import FileChange, read_file
from engram.platform.value import value


@value
class WiringPlan:
    """The planned changes, and what prevents others."""

    agents: tuple[Agent, ...]
    changes: tuple[FileChange, ...]
    problems: tuple[str, ...]
    project: str | None
    untrusted: tuple[str, ...] = ()  # hooks of ours that wait for the user's trust
    gone: tuple[str, ...] = ()  # recorded files that no longer exist

    @property
    def trusting_agent(self) -> str:
        """The title of the agent whose user must trust hooks."""
        return next((agent.title for agent in self.agents if agent.trusts_hooks_by_text), "")


def plan_wiring(flavors: Iterable[str] | None, project: str | None, program: str, trust: bool) -> WiringPlan:
    """Plan the entries of agents that the user names, or of those on this machine."""
    agents, problems, changes = select_agents(flavors), list[str](), list[FileChange]()
    for agent in agents:
        for wired_file in list_wired_files(agent, project, program):
            try:
                before = read_file(wired_file.path)
                new_text = _insert_entries(wired_file, _decode_text(wired_file.path, before) or "", problems)
                if new_text.encode() != (before or b""):
                    why = " and ".join(entry.label for entry in wired_file.entries)
                    changes.append(
                        FileChange(wired_file.path, before, new_text.encode(), why, agent.name, wired_file.shared)
                    )
            except ConfigRefused as refusal:
                problems.append(str(refusal))
    untrusted: list[str] = []
    for agent in agents:
        if agent.trusts_hooks_by_text:
            untrusted += _plan_hook_trust(agent, changes, problems, project, trust)
    return WiringPlan(tuple(agents), tuple(changes), tuple(problems), project, tuple(untrusted))


def _plan_hook_trust(
    agent: Agent, changes: list[FileChange], problems: list[str], project: str | None, trust: bool
) -> list[str]:
    """Add trust in our hooks to the changes if requested; return the hooks that wait for it."""
    directory = agent_directory(agent.name)
    config = os.path.join(directory, _find_file_holding(SERVER_TOML, agent.user_files()))
    if project:
        hooks = os.path.join(project, *_find_file_holding(HOOKS, agent.project_files(project)).split("/"))
    else:
        hooks = os.path.join(directory, _find_file_holding(HOOKS, agent.user_files()))
    try:
        entry = TrustEntry(hooks, _read_planned_text(hooks, changes))
        text = _read_planned_text(config, changes)
        with _report_damaged_file(config):
            if trust:
                text = entry.insert(text)
                _add_to_changes(changes, config, text, agent)
            return entry.list_untrusted(text)
    except ConfigRefused as refusal:
        if str(refusal) not in problems:
            problems.append(str(refusal))
        return []


def _find_file_holding(kind: str, files: list[ConfigFile]) -> str:
    """Return the configuration file that contains this entry."""
    return next(file.path for file in files if kind in file.holds)


def _read_planned_text(path: str, changes: list[FileChange]) -> str:
    """Return the text of a file after the planned changes."""
    planned = next((change.after for change in changes if change.path == path), None)
    return _decode_text(path, planned if planned is not None else read_file(path)) or ""


def _add_to_changes(changes: list[FileChange], path: str, text: str, agent: Agent) -> None:
    """Add a change to a file's planned text."""
    for index, change in enumerate(changes):
        if change.path == path:
            changes[index] = FileChange(
                path, change.before, text.encode(), f"{change.why} and trust", change.flavor, change.shared
            )
            return
    before = read_file(path)
    if text.encode() != (before or b""):
        changes.append(FileChange(path, before, text.encode(), "trust", agent.name))


def plan_unwiring(flavors: Iterable[str] | None, project: str | None, record: InstallRecord) -> WiringPlan:
    """Plan the removal: restore files exactly if nobody changed them since, else remove only our entries."""
    agents = [require_agent(name) for name in flavors] if flavors else list_connectable()
    changes, problems, gone = list[FileChange](), list[str](), list[str]()
    for agent in agents:
        for wired_file in _iter_known_files(agent, project, record):
            try:
                content = read_file(wired_file.path)
                if content is None:
                    gone.append(wired_file.path)
                    continue
                after = _restore_content(wired_file, agent, content, record)
                if after != content:
                    changes.append(
                        FileChange(
                            wired_file.path, content, after, wired_file.entries[0].label, agent.name, wired_file.shared
                        )
                    )
            except ConfigRefused as refusal:
                problems.append(str(refusal))
    return WiringPlan(tuple(agents), tuple(changes), tuple(problems), project, gone=tuple(gone))


def strip_our_entries(wired_file: WiredFile, content: bytes, before: bytes | None) -> bytes | None:
    """Return the content of a file without our entries; None if nothing is left."""
    text, original_text = _decode_text(wired_file.path, content) or "", _decode_text(wired_file.path, before)
    if all(not _has_our_entry(entry, text) for entry in wired_file.entries):
        return content
    rest: str | None = text
    with _report_damaged_file(wired_file.path):
        for entry in wired_file.entries:
            rest = None if rest is None else entry.remove(rest, original_text)
    return None if rest is None else rest.encode()


def find_recorded_file(installed_file: InstalledFile, program: str) -> WiredFile | None:
    """Return the place of a recorded file, wherever the agent's directory was then."""
    candidates = list_wired_files(require_agent(installed_file.flavor), installed_file.project or None, program)
    same_name = [
        wired_file
        for wired_file in candidates
        if os.path.basename(wired_file.path) == os.path.basename(installed_file.path)
    ]
    return WiredFile(installed_file.path, same_name[0].entries, bool(installed_file.project)) if same_name else None


def _has_our_entry(entry: ConfigEntry, text: str) -> bool:
    """Check whether a file has any entry of ours, current or not."""
    try:
        return entry.remove(text, text) != text
    except (jsonc.Damaged, toml_block.TomlEditRefused):
        return True  # an unreadable file is reported, not skipped


def _restore_content(wired_file: WiredFile, agent: Agent, content: bytes, record: InstallRecord) -> bytes | None:
    installed_file = record.get(wired_file.path)
    before = record.read_original(installed_file) if installed_file else None
    is_original_lost = installed_file is not None and installed_file.before is not None and before is None
    if installed_file and not is_original_lost and hash_content(content) == installed_file.wrote:
        return before
    trust_entries = _find_trust_entries(wired_file, agent)
    rest = strip_our_entries(
        WiredFile(wired_file.path, (*wired_file.entries, *trust_entries), wired_file.shared), content, before
    )
    if (
        rest is not None
        and installed_file
        and installed_file.before is None
        and rest.strip(b"\xef\xbb\xbf \t\r\n") in (b"", b"{}")
    ):
        return None  # the file was created for us
    return rest


def _find_trust_entries(wired_file: WiredFile, agent: Agent) -> tuple[ConfigEntry, ...]:
    """Return the trust entries for our hooks, written by us or the agent."""
    if not agent.trusts_hooks_by_text or not wired_file.path.endswith(
        _find_file_holding(SERVER_TOML, agent.user_files())
    ):
        return ()
    hooks_path = os.path.join(os.path.dirname(wired_file.path), _find_file_holding(HOOKS, agent.user_files()))
    return (TrustEntry(hooks_path, _decode_text(hooks_path, read_file(hooks_path)) or ""),)


def _iter_known_files(agent: Agent, project: str | None, record: InstallRecord) -> Iterator[WiredFile]:
    current_files = list_wired_files(agent, project, "engram")
    yield from current_files
    paths = {wired_file.path for wired_file in current_files}
    for installed_file in record.list_files(project):
        if installed_file.flavor == agent.name and installed_file.path not in paths:
            recorded_file = find_recorded_file(installed_file, "engram")
            if recorded_file:
                yield recorded_file


def _insert_entries(wired_file: WiredFile, text: str, problems: list[str]) -> str:
    for entry in wired_file.entries:
        try:
            with _report_damaged_file(wired_file.path):
                text = entry.insert(text)
        except ForeignEntryError as refusal:
            problems.append(f"{wired_file.path}: {refusal}")
    return text


@contextmanager
def _report_damaged_file(path: str) -> Iterator[None]:
    """Report which file is damaged."""
    try:
        yield
    except (jsonc.Damaged, toml_block.TomlEditRefused) as problem:
        raise ConfigDamaged(path=path, line=problem.line, reason=problem.reason) from None


def _decode_text(path: str, content: bytes | None) -> str | None:
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1 if content else 1
        raise ConfigDamaged(path=path, line=line, reason="it is not UTF-8 text.") from None
