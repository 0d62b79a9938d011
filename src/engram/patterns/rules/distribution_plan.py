"""Plan what distributing rules would change, file by file; nothing is written here."""

from __future__ import annotations

import os

from engram.errors import ConfigDamaged, ConfigRefused, InvalidInput
from engram.patterns.rules import context_rules
from engram.patterns.rules import rule_block as block
from engram.patterns.rules.placement import (
    RuleFile,
    find_hidden_file,
    find_skill_file,
    list_present_agents,
    list_rule_files,
    rule_readers,
)
from engram.patterns.rules.scope import split_scope
from engram.platform import host, plain_json
from engram.platform.file_edit import FileChange, read_file
from engram.platform.value import value
from engram.search.briefing_rules import score_rule
from engram.store import rule_placements, rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.store.engine import Row


_MAX_FILE_BYTES = 4 * 1024 * 1024  # maximum size of a file that receives rules


@value
class PlannedFile:
    """The new content of one file, and the rules in it."""

    place: RuleFile
    change: FileChange
    rules: tuple[Row, ...]
    created_paths: (
        tuple[str, ...] | None
    )  # paths created for it (the file, directories above it); None if the file is new to us

    @property
    def ids(self) -> tuple[str, ...]:
        """The patterns in it."""
        return tuple(row["id"] for row in self.rules)


@value
class DistributionPlan:
    """The planned changes, and what prevents others."""

    context: tuple[Row, ...]
    files: tuple[PlannedFile, ...]
    left_out: tuple[str, ...]  # rules that fit in no file
    problems: tuple[str, ...]
    undo: bool
    is_complete: bool  # not limited to a project or an agent
    approved_versions: tuple[tuple[str, int], ...]  # approved patterns and their versions


def require_flavor(flavor: str | None) -> str | None:
    """Return the agent if it reads rules from a file we know; raise InvalidInput otherwise."""
    if flavor is not None and flavor not in rule_readers():
        reason = f"Unknown agent {flavor!r}. Choose one of: {', '.join(rule_readers())}."
        raise InvalidInput(field="flavor", reason=reason)
    return flavor


def build_plan(hub: Hub, *, files: bool, undo: bool, project: str | None, flavor: str | None) -> DistributionPlan:
    """Plan the changes that bring every place up to date, or that remove every rule."""
    now, choice = hub.now(), context_rules.read_places_setting(hub)
    approved = sorted(rules.list_approved(hub.engine), key=lambda row: (-score_rule(row, now), row["id"]))
    created_by_path = {
        path: tuple(plain_json.loads(created_json))
        for path, created_json in rule_placements.list_files(hub.engine, host.get_host_name()).items()
    }
    files = files or choice != "context"
    chosen_places = [
        place
        for place in _list_due_files(approved, files, undo, created_by_path)
        if _is_selected(place, project, flavor)
    ]
    planned_files, problems = list[PlannedFile](), list[str]()
    for place in chosen_places:
        fitting = [row for row in approved if _rule_belongs(row, place)]
        try:
            planned_files += (
                _plan_removal(place, created_by_path) if undo else _plan_file(hub, place, fitting, created_by_path)
            )
        except ConfigRefused as refusal:
            problems.append(str(refusal))
    context = () if undo or choice == "files" else tuple(approved)
    is_complete = project is None and flavor is None
    placed_ids = {pattern_id for planned in planned_files for pattern_id in planned.ids}
    left_out = [row["id"] for row in approved if files and is_complete and not undo and row["id"] not in placed_ids]
    return DistributionPlan(
        context,
        tuple(planned_files),
        tuple(left_out),
        tuple(problems),
        undo,
        is_complete,
        list_approved_versions(approved),
    )


def list_approved_versions(approved: list[Row]) -> tuple[tuple[str, int], ...]:
    """Return the approved version of each rule."""
    return tuple(sorted((row["id"], row["version"]) for row in approved))


def _list_due_files(
    approved: list[Row], files: bool, undo: bool, created_by_path: dict[str, tuple[str, ...]]
) -> list[RuleFile]:
    """Return the files to check: those that should contain rules, and those that do."""
    projects = {split_scope(row["scope"])[1] for row in approved}
    local_projects = [project for project in projects if os.path.isabs(project) and os.path.isdir(project)]
    wanted_files = [
        place for project in ("", *sorted(local_projects)) for place in list_rule_files(list_present_agents(), project)
    ]
    by_path = {place.path: place for place in [*wanted_files, *filter(None, map(find_skill_file, wanted_files))]}
    looked_at = [] if undo else [place for place in wanted_files if files or place.path in created_by_path]
    skill_paths = {skill.path for place in looked_at if (skill := find_skill_file(place))}  # planned with their file
    standing_files = [
        by_path.get(path) or _build_old_place(path) for path in sorted(created_by_path) if path not in skill_paths
    ]
    if undo or not files:
        return standing_files
    return [*(place for place in wanted_files if place.path not in created_by_path), *standing_files]


def _build_old_place(path: str) -> RuleFile:
    """Return the place of a file we wrote that no agent on this machine reads any more."""
    name = os.path.basename(path)
    kind = "skill" if name == "SKILL.md" else "cursor" if name.endswith(".mdc") else "block"
    return RuleFile(path, (), "", kind)


def _is_selected(place: RuleFile, project: str | None, flavor: str | None) -> bool:
    return (project is None or place.project == project) and (flavor is None or flavor in place.flavors)


def _rule_belongs(row: Row, place: RuleFile) -> bool:
    """Check whether a rule belongs in a file: an agent's rules in its user file, a project's in the project's file."""
    flavor, project = split_scope(row["scope"])
    if place.kind == "skill" or not place.flavors:
        return False  # the skill takes the rules another file has no room for
    return project == place.project and (not flavor or place.flavors == (flavor,))


def _plan_removal(place: RuleFile, created_by_path: dict[str, tuple[str, ...]]) -> list[PlannedFile]:
    return _plan_change(place, "", (), created_by_path.get(place.path))


def _plan_file(
    hub: Hub, place: RuleFile, fitting: list[Row], created_by_path: dict[str, tuple[str, ...]]
) -> list[PlannedFile]:
    """Plan a file, and the skill beside it for the rules that do not fit."""
    if place.kind == "skill":
        return _plan_removal(place, created_by_path)  # the file beside it is no longer ours
    budget = hub.settings.pattern_tokens
    rule_block = block.build_block(fitting, budget)
    skill_file = find_skill_file(place)
    if skill_file and rule_block.left_out:
        rule_block = block.build_block(fitting, budget, more=True)
    planned_files = _plan_change(place, rule_block.text, rule_block.placed, created_by_path.get(place.path))
    if skill_file and (rule_block.left_out or skill_file.path in created_by_path):
        skill_block = block.build_block(rule_block.left_out, budget * 10)
        planned_files += _plan_change(
            skill_file, skill_block.text, skill_block.placed, created_by_path.get(skill_file.path)
        )
    return planned_files


def _plan_change(
    place: RuleFile, new_text: str, placed_rules: tuple[Row, ...], created_paths: tuple[str, ...] | None
) -> list[PlannedFile]:
    """Plan one file; return nothing if it has no rules of ours and should get none."""
    _refuse_foreign(place)
    before = read_file(place.path)
    current_text = _decode_text(place.path, before)
    if new_text and current_text is None and (hidden := find_hidden_file(place)):
        reason = f"creating it would hide {hidden} from an agent. Create it yourself, or deliver rules in the context."
        raise ConfigRefused(path=place.path, reason=reason)
    if current_text is not None and not block.is_intact(current_text):
        reason = "the Engram block lacks one of its two fence lines, or occurs twice."
        raise ConfigDamaged(
            path=place.path, line=current_text[: current_text.find("<!-- engram:")].count("\n") + 1, reason=reason
        )
    if current_text is not None and block.is_edited(current_text):
        reason = "the Engram block was edited. Move your text out of it, or delete the block, and run this again."
        raise ConfigRefused(path=place.path, reason=reason)
    if created_paths is None and not new_text:
        return []
    after = (
        block.insert_block(current_text, new_text, place.kind)
        if new_text
        else _text_without_rules(place, current_text, created_paths or ())
    )
    change = FileChange(
        place.path, before, None if after is None else after.encode(), "rules", shared=bool(place.project)
    )  # fmt: skip
    return [PlannedFile(place, change, placed_rules, created_paths)]


def _refuse_foreign(place: RuleFile) -> None:
    """Refuse a project file that links out of the project: a repository must not choose which files we write."""
    real = os.path.realpath(place.path)
    if place.project and not real.startswith(os.path.join(os.path.realpath(place.project), "")):
        reason = f"it links to {real}, outside the project."
        raise ConfigRefused(path=place.path, reason=reason)
    if os.path.isfile(real) and os.path.getsize(real) > _MAX_FILE_BYTES:
        raise ConfigRefused(path=place.path, reason="it is too large for a file that agents read at every start.")


def _text_without_rules(place: RuleFile, current_text: str | None, created_paths: tuple[str, ...]) -> str | None:
    """Return the text of a file without our rules; None if the file was created for us and has nothing else."""
    if current_text is None:
        return None
    rest = block.remove_block(current_text)
    return (
        None
        if place.path in created_paths and rest != current_text and block.has_nothing_else(place.kind, rest)
        else rest
    )


def _decode_text(path: str, content: bytes | None) -> str | None:
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1 if content else 1
        raise ConfigDamaged(path=path, line=line, reason="it is not UTF-8 text.") from None
