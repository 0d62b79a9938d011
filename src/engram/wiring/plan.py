"""What wiring or unwiring the agents would change, file by file; nothing is written here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from engram.errors import ConfigDamaged, ConfigRefused
from engram.files.change import Change, read
from engram.value import value
from engram.wiring import jsonc, toml_block
from engram.wiring.agents import AGENTS, Agent, agent_of, chosen, directory
from engram.wiring.places import Place, places
from engram.wiring.record import Record, Written, digest
from engram.wiring.trust import Trusted
from engram.wiring.wire import Foreign, Wire


@value
class Plan:
    """The changes to come, and what stands in their way."""

    agents: tuple[Agent, ...]
    changes: tuple[Change, ...]
    problems: tuple[str, ...]
    project: str | None
    untrusted: tuple[str, ...] = ()  # Codex' hooks of ours that wait for its user's word
    gone: tuple[str, ...] = ()  # recorded files that are no more


def wiring(flavors: Iterable[str] | None, project: str | None, program: str, trust: bool) -> Plan:
    """Return what makes the agents call us: those a person names, or those that are here."""
    agents, problems, changes = chosen(flavors), list[str](), list[Change]()
    for agent in agents:
        for place in places(agent, project, program):
            try:
                before = read(place.path)
                new = _put(place, _decoded(place.path, before) or "", problems)
                if new.encode() != (before or b""):
                    why = " and ".join(wire.why for wire in place.wires)
                    changes.append(Change(place.path, before, new.encode(), why, agent.flavor, place.shared))
            except ConfigRefused as refusal:
                problems.append(str(refusal))
    waiting: list[str] = []
    if any(agent.flavor == "codex" for agent in agents):
        waiting = _codex_trust(changes, problems, project, trust)
    return Plan(tuple(agents), tuple(changes), tuple(problems), project, tuple(waiting))


def _codex_trust(changes: list[Change], problems: list[str], project: str | None, trust: bool) -> list[str]:
    """Add trust in our hooks to what changes, if that is wished; return the hooks that wait for it."""
    codex = agent_of("codex")
    hooks = os.path.join(project, ".codex", "hooks.json") if project else os.path.join(directory(codex), "hooks.json")
    config = os.path.join(directory(codex), "config.toml")
    try:
        wire = Trusted(hooks, _coming(hooks, changes))
        text = _coming(config, changes)
        with _told(config):
            if trust:
                text = wire.put(text)
                _join(changes, config, text)
            return wire.untrusted(text)
    except ConfigRefused as refusal:
        if str(refusal) not in problems:
            problems.append(str(refusal))
        return []


def _coming(path: str, changes: list[Change]) -> str:
    """Return what a file will say once the changes are made."""
    held = next((each.after for each in changes if each.path == path), None)
    return _decoded(path, held if held is not None else read(path)) or ""


def _join(changes: list[Change], path: str, text: str) -> None:
    """Let a file say this too."""
    for n, each in enumerate(changes):
        if each.path == path:
            changes[n] = Change(path, each.before, text.encode(), f"{each.why} and trust", each.flavor, each.shared)
            return
    before = read(path)
    if text.encode() != (before or b""):
        changes.append(Change(path, before, text.encode(), "trust", "codex"))


def unwiring(flavors: Iterable[str] | None, project: str | None, record: Record) -> Plan:
    """Return what takes us out again: to the byte where nobody wrote since, else our entries alone."""
    agents = [agent_of(flavor) for flavor in flavors] if flavors else list(AGENTS)
    changes, problems, gone = list[Change](), list[str](), list[str]()
    for agent in agents:
        for place in _known(agent, project, record):
            try:
                held = read(place.path)
                if held is None:
                    gone.append(place.path)
                    continue
                after = _restored(place, agent, held, record)
                if after != held:
                    changes.append(Change(place.path, held, after, place.wires[0].why, agent.flavor, place.shared))
            except ConfigRefused as refusal:
                problems.append(str(refusal))
    return Plan(tuple(agents), tuple(changes), tuple(problems), project, gone=tuple(gone))


def without_us(place: Place, held: bytes, before: bytes | None) -> bytes | None:
    """Return what a file holds beside what is ours; None if that is nothing."""
    text, then = _decoded(place.path, held) or "", _decoded(place.path, before)
    if all(not _holds(wire, text) for wire in place.wires):
        return held
    rest: str | None = text
    with _told(place.path):
        for wire in place.wires:
            rest = None if rest is None else wire.removed(rest, then)
    return None if rest is None else rest.encode()


def place_of(written: Written, program: str) -> Place | None:
    """Return the place a recorded file stands for, wherever the agent's directory was then."""
    known = places(agent_of(written.flavor), written.project or None, program)
    same = [each for each in known if os.path.basename(each.path) == os.path.basename(written.path)]
    return Place(written.path, same[0].wires, bool(written.project)) if same else None


def _holds(wire: Wire, text: str) -> bool:
    """Tell whether a file has anything of ours, current or not."""
    try:
        return wire.removed(text, text) != text
    except (jsonc.Damaged, toml_block.Refused):
        return True  # what cannot be read is told of, not passed over


def _restored(place: Place, agent: Agent, held: bytes, record: Record) -> bytes | None:
    written = record.of(place.path)
    before = record.before(written) if written else None
    lost = written is not None and written.before is not None and before is None
    if written and not lost and digest(held) == written.wrote:
        return before
    extra = _trust_in(place, agent)
    rest = without_us(Place(place.path, (*place.wires, *extra), place.shared), held, before)
    if rest is not None and written and written.before is None and rest.strip(b"\xef\xbb\xbf \t\r\n") in (b"", b"{}"):
        return None  # the file was made for us
    return rest


def _trust_in(place: Place, agent: Agent) -> tuple[Wire, ...]:
    """Return the trust in our hooks that we or Codex itself wrote beside them."""
    if agent.flavor != "codex" or not place.path.endswith("config.toml"):
        return ()
    beside = os.path.join(os.path.dirname(place.path), "hooks.json")
    return (Trusted(beside, _decoded(beside, read(beside)) or ""),)


def _known(agent: Agent, project: str | None, record: Record) -> Iterator[Place]:
    now = places(agent, project, "engram")
    yield from now
    paths = {place.path for place in now}
    for written in record.all(project):
        if written.flavor == agent.flavor and written.path not in paths:
            found = place_of(written, "engram")
            if found:
                yield found


def _put(place: Place, text: str, problems: list[str]) -> str:
    for wire in place.wires:
        try:
            with _told(place.path):
                text = wire.put(text)
        except Foreign as told:
            problems.append(f"{place.path}: {told}")
    return text


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Say of which file it is that a text is damaged."""
    try:
        yield
    except (jsonc.Damaged, toml_block.Refused) as problem:
        raise ConfigDamaged(path=path, line=problem.line, reason=problem.reason) from None


def _decoded(path: str, held: bytes | None) -> str | None:
    try:
        return None if held is None else held.decode()
    except UnicodeDecodeError as problem:
        line = held[: problem.start].count(b"\n") + 1 if held else 1
        raise ConfigDamaged(path=path, line=line, reason="it is not UTF-8 text.") from None
