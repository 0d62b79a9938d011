"""What distributing would change, file by file; nothing is written here."""

from __future__ import annotations

import os

from engram import host, plain_json
from engram.errors import ConfigDamaged, ConfigRefused, InvalidInput
from engram.files.change import Change, read
from engram.recall.rules_told import worth
from engram.rules import block, told
from engram.rules.placement import FLAVORS, Place, hidden_by, places, present, skill_beside
from engram.rules.scope import reach
from engram.store import placements, rules
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.store.engine import Row


_LARGEST = 4 * 1024 * 1024  # bytes of a file that may take rules


@value
class Planned:
    """One file as it shall be, and the rules that stand in it then."""

    place: Place
    change: Change
    rules: tuple[Row, ...]
    made: tuple[str, ...] | None  # what of it and the directories above it was made for us; None: it is new to us

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the patterns in it."""
        return tuple(row["id"] for row in self.rules)


@value
class Plan:
    """The changes to come, and what stands in their way."""

    context: tuple[Row, ...]
    files: tuple[Planned, ...]
    left_out: tuple[str, ...]  # rules no file takes
    problems: tuple[str, ...]
    undo: bool
    whole: bool  # nothing was left out of it by project or flavor
    made_of: tuple[tuple[str, int], ...]  # the patterns and versions that were approved


def known(flavor: str | None) -> str | None:
    """Return a flavor we know a file of."""
    if flavor is not None and flavor not in FLAVORS:
        raise InvalidInput(field="flavor", reason=f"{flavor!r} is none; there are {', '.join(FLAVORS)}.")
    return flavor


def plan(hub: Hub, *, files: bool, undo: bool, project: str | None, flavor: str | None) -> Plan:
    """Return what brings every place up to date, or takes every rule out again."""
    now, choice = hub.now(), told.wanted(hub)
    approved = sorted(rules.approved(hub.engine), key=lambda row: (-worth(row, now), row["id"]))
    made = {path: tuple(plain_json.loads(said)) for path, said in placements.files(hub.engine, host.name()).items()}
    files = files or choice != "context"
    chosen = [place for place in _due(approved, files, undo, made) if _meant(place, project, flavor)]
    found, problems = list[Planned](), list[str]()
    for place in chosen:
        fitting = [row for row in approved if _belongs(row, place)]
        try:
            found += _taken_out(place, made) if undo else _planned(hub, place, fitting, made)
        except ConfigRefused as refusal:
            problems.append(str(refusal))
    context = () if undo or choice == "files" else tuple(approved)
    whole = project is None and flavor is None
    placed = {each for planned in found for each in planned.ids}
    left_out = [row["id"] for row in approved if files and whole and not undo and row["id"] not in placed]
    return Plan(context, tuple(found), tuple(left_out), tuple(problems), undo, whole, in_force(approved))


def in_force(approved: list[Row]) -> tuple[tuple[str, int], ...]:
    """Return which versions of which rules are approved."""
    return tuple(sorted((row["id"], row["version"]) for row in approved))


def _due(approved: list[Row], files: bool, undo: bool, made: dict[str, tuple[str, ...]]) -> list[Place]:
    """Return the files to look at: those that shall hold rules, and those that do."""
    projects = {reach(row["scope"])[1] for row in approved}
    here = [each for each in projects if os.path.isabs(each) and os.path.isdir(each)]
    wished = [place for each in ("", *sorted(here)) for place in places(present(), each)]
    by_path = {place.path: place for place in [*wished, *filter(None, map(skill_beside, wished))]}
    looked_at = [] if undo else [place for place in wished if files or place.path in made]
    beside = {skill.path for place in looked_at if (skill := skill_beside(place))}  # these come with their file
    held = [by_path.get(path) or _older(path) for path in sorted(made) if path not in beside]
    if undo or not files:
        return held
    return [*(place for place in wished if place.path not in made), *held]


def _older(path: str) -> Place:
    """Return the place of a file we wrote that no agent here reads any more."""
    name = os.path.basename(path)
    kind = "skill" if name == "SKILL.md" else "cursor" if name.endswith(".mdc") else "block"
    return Place(path, (), "", kind)


def _meant(place: Place, project: str | None, flavor: str | None) -> bool:
    return (project is None or place.project == project) and (flavor is None or flavor in place.flavors)


def _belongs(row: Row, place: Place) -> bool:
    """Tell whether a rule belongs into a file: a flavor's into its user's file, a project's into the project's."""
    flavor, project = reach(row["scope"])
    if place.kind == "skill" or not place.flavors:
        return False  # a skill takes what another file has no room for
    return project == place.project and (not flavor or place.flavors == (flavor,))


def _taken_out(place: Place, made: dict[str, tuple[str, ...]]) -> list[Planned]:
    return _changed(place, "", (), made.get(place.path))


def _planned(hub: Hub, place: Place, fitting: list[Row], made: dict[str, tuple[str, ...]]) -> list[Planned]:
    """Return what a file shall hold, and the skill beside it for the rest."""
    if place.kind == "skill":
        return _taken_out(place, made)  # the file it was beside is not ours any more
    budget = hub.settings.pattern_tokens
    said = block.block(fitting, budget)
    beside = skill_beside(place)
    if beside and said.left_out:
        said = block.block(fitting, budget, more=True)
    found = _changed(place, said.text, said.placed, made.get(place.path))
    if beside and (said.left_out or beside.path in made):
        rest = block.block(said.left_out, budget * 10)
        found += _changed(beside, rest.text, rest.placed, made.get(beside.path))
    return found


def _changed(place: Place, said: str, placed: tuple[Row, ...], made: tuple[str, ...] | None) -> list[Planned]:
    """Return one file as it shall be; nothing if it has nothing of ours and shall have nothing."""
    _refuse_foreign(place)
    before = read(place.path)
    held = _decoded(place.path, before)
    if said and held is None and (hidden := hidden_by(place)):
        reason = f"made anew, it would hide {hidden} from OpenCode. Make it yourself, or tell rules by the context."
        raise ConfigRefused(path=place.path, reason=reason)
    if held is not None and not block.whole(held):
        reason = "our block has lost one of its two fences, or stands there twice."
        raise ConfigDamaged(path=place.path, line=held[: held.find("<!-- engram:")].count("\n") + 1, reason=reason)
    if held is not None and block.edited(held):
        reason = "somebody wrote inside our block. Move what is yours out of it, or delete the block, and run it again."
        raise ConfigRefused(path=place.path, reason=reason)
    if made is None and not said:
        return []
    after = block.put(held, said, place.kind) if said else _without(place, held, made or ())
    change = Change(
        place.path, before, None if after is None else after.encode(), "rules", shared=bool(place.project)
    )  # fmt: skip
    return [Planned(place, change, placed, made)]


def _refuse_foreign(place: Place) -> None:
    """Refuse a file outside that a project's link leads to: what others put into a repository chooses no file."""
    real = os.path.realpath(place.path)
    if place.project and not real.startswith(os.path.join(os.path.realpath(place.project), "")):
        reason = f"a link leads from it out of the project, to {real}."
        raise ConfigRefused(path=place.path, reason=reason)
    if os.path.isfile(real) and os.path.getsize(real) > _LARGEST:
        raise ConfigRefused(path=place.path, reason="it is too large for a file that agents read at every start.")


def _without(place: Place, held: str | None, made: tuple[str, ...]) -> str | None:
    """Return what a file holds beside ours; None where it was made for us and nothing else came."""
    if held is None:
        return None
    rest = block.without(held)
    return None if place.path in made and rest != held and block.nothing_else(place.kind, rest) else rest


def _decoded(path: str, held: bytes | None) -> str | None:
    try:
        return None if held is None else held.decode()
    except UnicodeDecodeError as problem:
        line = held[: problem.start].count(b"\n") + 1 if held else 1
        raise ConfigDamaged(path=path, line=line, reason="it is not UTF-8 text.") from None
