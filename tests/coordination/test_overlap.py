"""Overlap: exact in both directions, whatever the spelling, and equal to brute force."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram import Engram, Held, InvalidInput
from engram.coordination import overlap, resources
from engram.model import Resource
from tests.conftest import git

often = settings(max_examples=300, deadline=None, database=None)
seldom = settings(
    max_examples=40, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


# ---- Brute force: a few names, every path of them, and a matcher that tries everything


def every_path(names: tuple[str, ...], depth: int) -> list[tuple[str, ...]]:
    return [path for length in range(1, depth + 1) for path in product(names, repeat=length)]


@cache
def covered(pattern: tuple[str, ...], names: tuple[str, ...], depth: int) -> frozenset[tuple[str, ...]]:
    return frozenset(path for path in every_path(names, depth) if matches(pattern, path))


@cache
def matches(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(matches(pattern[1:], path[skipped:]) for skipped in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and matches(pattern[1:], path[1:])


# ---- The pure rule

# Two of the patterns below that can meet at all meet in one of these names, no deeper than four levels.
LETTERS = ("a", "b", "aa", "ab", "ba", "bb")
patterns = st.lists(
    st.sampled_from(["a", "b", "ab", "*", "?", "a*", "*b", "?b", "a?", "**"]), min_size=1, max_size=3
).map(tuple)
literals = st.lists(st.sampled_from(LETTERS), min_size=1, max_size=3).map(tuple)


def file(path: tuple[str, ...]) -> tuple[Resource, tuple[str, ...]]:
    name = "/" + "/".join(path)
    return Resource(kind="file", name=name, base=name, pattern=name), path


def directory(path: tuple[str, ...]) -> tuple[Resource, tuple[str, ...]]:
    name = "/" + "/".join(path)
    return Resource(kind="directory", name=name, base=name, pattern=name), (*path, "**")


def glob(path: tuple[str, ...]) -> tuple[Resource, tuple[str, ...]]:
    name = "/" + "/".join(path)
    return Resource(kind="glob", name=name, base="/", pattern=name), path


anything = st.one_of(literals.map(file), literals.filter(lambda path: len(path) < 3).map(directory), patterns.map(glob))


@often
@given(anything, anything)
def test_overlap_equals_brute_force_and_is_symmetric(
    one: tuple[Resource, tuple[str, ...]], other: tuple[Resource, tuple[str, ...]]
) -> None:
    expected = bool(covered(one[1], LETTERS, 4) & covered(other[1], LETTERS, 4))
    assert overlap.overlaps(one[0], other[0]) == overlap.overlaps(other[0], one[0]) == expected


def test_segments_meet_exactly_where_some_name_fits_both() -> None:
    segments = ["".join(word) for length in (1, 2, 3) for word in product("ab*?", repeat=length)]
    names = ["".join(word) for length in range(1, 7) for word in product("ab", repeat=length)]
    fits = {segment: {name for name in names if fnmatchcase(name, segment)} for segment in segments}
    wrong = [
        (one, other)
        for one, other in product(segments, repeat=2)
        if overlap.segments_meet(one, other) != bool(fits[one] & fits[other])
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("**/a/**/b", "x/**/a/y/**", True),
        ("**/a/**/b", "x/y", False),
        ("a/**/**/b", "a/b", True),
        ("**", "**/**", True),
        ("a/**/c/**/e", "**/b/**/d/**", True),
        ("a/*/c", "a/**/b/c", True),
        ("a/*/c", "a/b/b/c", False),
    ],
)
def test_several_stars_anywhere(one: str, other: str, expected: bool) -> None:
    assert overlap.paths_meet(one.split("/"), other.split("/")) is expected
    assert overlap.paths_meet(other.split("/"), one.split("/")) is expected


def test_many_stars_cost_no_time() -> None:
    deep = ["**", "a"] * 60
    assert overlap.paths_meet([*deep, "b"], [*deep, "c"]) is False
    assert overlap.segments_meet("*a" * 60 + "b", "*a" * 60 + "c") is False


# ---- One canonical name, on real trees

NAMES = ("a", "b", "ab")
places = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(tuple)
globs = st.lists(st.sampled_from(["a", "b", "*", "?", "a*", "*b", "**"]), min_size=1, max_size=3).map(tuple)


# Ways to begin, and where each leads: `link` goes to a, `deep` to a/b, and `..` behind a link leaves its target.
BEGINNINGS: dict[str, tuple[str, ...]] = {
    "": (), "./": (), "{root}/": (), "a/../": (), "{root}/./b/..//": (), "link/": ("a",), "deep/": ("a", "b"),
    "deep/../": ("a",), "{root}/link/../deep/": ("a", "b"),
}  # fmt: skip


@st.composite
def spellings(draw: st.DrawFn) -> tuple[str, tuple[str, ...]]:
    """Return one of the many ways to say a path or a glob, and its plain segments."""
    path = draw(st.one_of(places, globs))
    before = draw(st.sampled_from(sorted(BEGINNINGS)))
    after = "/" if draw(st.booleans()) and not any(map(overlap.is_glob, path)) else ""
    return before + "/".join(path) + after, (*BEGINNINGS[before], *path)


@settings(often, max_examples=150)
@given(st.sets(places, max_size=4), st.sets(places, max_size=3), spellings(), spellings())
def test_canonical_names_overlap_as_the_files_of_a_random_tree_do(
    tmp_path_factory: pytest.TempPathFactory,
    files: set[tuple[str, ...]],
    folders: set[tuple[str, ...]],
    one: tuple[str, tuple[str, ...]],
    other: tuple[str, tuple[str, ...]],
) -> None:
    root = plant(tmp_path_factory.mktemp("tree").resolve(), files, folders)
    found = [resources.canonical(word.replace("{root}", str(root)), str(root)) for word, _ in (one, other)]
    truth = [covered(meant(root, *wish), NAMES, 7) for wish in (one, other)]
    assert overlap.overlaps(*found) == overlap.overlaps(*reversed(found)) == bool(truth[0] & truth[1])


def plant(root: Path, files: set[tuple[str, ...]], folders: set[tuple[str, ...]]) -> Path:
    """Lay out a tree, as far as its wishes agree with each other, and two links into it."""
    for path in (("a", "b"), ("b",), *sorted(folders)):
        root.joinpath(*path).mkdir(parents=True, exist_ok=True)
    for path in sorted(files):
        if root.joinpath(*path[:-1]).is_dir() and not root.joinpath(*path).exists():
            root.joinpath(*path).touch()
    (root / "link").symlink_to("a")
    (root / "deep").symlink_to(root / "a" / "b")
    return root


def meant(root: Path, word: str, path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the pattern a wish stands for: a directory, or what may become one, is all that lies in it."""
    if any(overlap.is_glob(part) for part in path):
        return path
    return path if root.joinpath(*path).is_file() and not word.endswith("/") else (*path, "**")


# ---- What real projects ask for

PAIRS = {
    "the same file": ("src/app.py", "src/app.py"),
    "a glob over a file": ("src/app.py", "src/*.py"),
    "a deep glob over a file": ("src/app.py", "**/app.*"),
    "a directory over a file": ("src/app.py", "src"),
    "a directory over a glob": ("src/*.py", "src/"),
    "a glob over a directory": ("src/deep", "src/**/*.py"),
    "a directory in a directory": ("src/deep", "."),
    "a glob against a glob": ("src/a*", "src/*.py"),
    "an absolute path": ("src/app.py", "{root}/src/app.py"),
    "a path with ..": ("src/app.py", "src/deep/../app.py"),
    "a link to the file": ("src/app.py", "shortcut.py"),
    "a link to its directory": ("src/app.py", "source/app.py"),
    "another worktree": ("src/app.py", "{tree}/src/app.py"),
}


@pytest.fixture
def checkouts(repository: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A repository with links, and a second worktree of it."""
    (repository / "src" / "deep").mkdir()
    (repository / "source").symlink_to("src")
    (repository / "shortcut.py").symlink_to("src/app.py")
    git(repository, "worktree", "add", "-q", str(tmp_path / "second"))
    return repository, tmp_path / "second"


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("order", [1, -1], ids=["held first", "asked first"])
def test_a_true_overlap_is_refused_in_both_orders(
    engram: Engram, checkouts: tuple[Path, Path], pair: tuple[str, str], order: int
) -> None:
    root, tree = checkouts
    held, asked = (word.replace("{root}", str(root)).replace("{tree}", str(tree)) for word in pair[::order])
    first, second = (engram.register("codex", "works", cwd=str(root)) for _ in range(2))
    engram.lock_resource(first, held)
    with pytest.raises(Held) as refused:
        engram.lock_resource(second, asked)
    assert refused.value.holder == first


def test_a_relative_path_in_one_worktree_is_the_same_file_in_another(
    engram: Engram, checkouts: tuple[Path, Path]
) -> None:
    first, second = (engram.register("codex", "works", cwd=str(cwd)) for cwd in checkouts)
    engram.lock_resource(first, "src/new.py")
    for word in ("src/new.py", "src", "src/n*", "../second/src/new.py", "../repository/src/new.py"):
        with pytest.raises(Held):
            engram.lock_resource(second, word)


def test_a_glob_with_a_slash_at_its_end_means_directories(repository: Path) -> None:
    every = resources.canonical("s*/", str(repository))
    for word in ("src", "src/app.py", "src/**/x.py", "sources/deep/er"):
        assert overlap.overlaps(every, resources.canonical(word, str(repository)))
    assert not overlap.overlaps(every, resources.canonical("tests/src/app.py", str(repository)))


@pytest.mark.parametrize(
    ("held", "asked"),
    [
        ("src/app.py", "src/app.pyc"),
        ("src", "src-old/app.py"),
        ("src/*.py", "src/deep/app.py"),
        ("src/*.py", "src/*.md"),
        ("src/app/[slug]/page.tsx", "src/app/s/page.tsx"),
        ("src/app/[slug]/page.tsx", "src/app/[id]/page.tsx"),
    ],
)
def test_what_does_not_overlap_is_granted(engram: Engram, checkouts: tuple[Path, Path], held: str, asked: str) -> None:
    first, second = (engram.register("codex", "works", cwd=str(checkouts[0])) for _ in range(2))
    engram.lock_resource(first, held)
    assert engram.lock_resource(second, asked).overlaps == ()


def test_brackets_are_part_of_a_name(repository: Path) -> None:
    page = resources.canonical("app/[slug]/page.tsx", str(repository))
    assert page.kind == "file"
    assert page.name == str(repository / "app" / "[slug]" / "page.tsx")
    assert overlap.overlaps(page, resources.canonical("app/*/page.tsx", str(repository)))
    assert overlap.overlaps(page, resources.canonical("app/[slug]/*", str(repository)))


@pytest.mark.parametrize("name", ["a*b", "a?b", "**"])
def test_a_file_that_is_called_like_a_glob_is_a_file(repository: Path, name: str) -> None:
    (repository / name).touch()
    literal = resources.canonical(name, str(repository))
    plain = resources.canonical("axb", str(repository))
    assert literal.kind == "file"
    assert not overlap.overlaps(literal, plain)
    assert overlap.overlaps(literal, resources.canonical("./*", str(repository)))
    assert overlap.overlaps(resources.canonical("a*", str(repository)), plain)


def test_a_name_belongs_to_its_project(engram: Engram, checkouts: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    here, there, elsewhere = (
        engram.register("codex", "works", cwd=str(cwd)) for cwd in (*checkouts, tmp_path / "elsewhere")
    )
    held = engram.lock_resource(here, "db:migrations")
    assert held.kind == "name"
    assert engram.lock_resource(elsewhere, "db:migrations").overlaps == ()
    assert engram.lock_resource(there, "db:seeds").overlaps == ()
    with pytest.raises(Held):
        engram.lock_resource(there, "db:migrations")


@pytest.mark.parametrize("word", ["./db:migrations", "src/db:x", "C:\\x", "https://example.org"])
def test_a_path_with_a_colon_is_a_path(repository: Path, word: str) -> None:
    assert resources.canonical(word, str(repository), str(repository)).kind != "name"


def test_a_relative_path_needs_a_place_to_start(repository: Path) -> None:
    with pytest.raises(InvalidInput):
        resources.canonical("src/app.py", None)
    assert resources.canonical(f"file://{repository}/src/app.py", None).name == str(repository / "src" / "app.py")


@pytest.mark.parametrize("make", [os.symlink, os.link], ids=["symbolic", "hard"])
def test_a_link_that_differs_only_in_case_does_not_make_the_file_system_ignore_case(
    engram: Engram, tmp_path: Path, make: object
) -> None:
    folder = tmp_path / "Folder"
    folder.mkdir()
    (folder / "readme").touch()
    if os.path.exists(folder / "README"):
        pytest.skip("this file system ignores case")
    make(folder / "readme", folder / "README")  # type: ignore[operator]
    first, second = (engram.register("codex", "works", cwd=str(folder)) for _ in range(2))
    engram.lock_resource(first, ".")
    with pytest.raises(Held):
        engram.lock_resource(second, "readme")


# ---- The index: what it does not bring, nobody judges

# Neighbours of "/" in sorting order: where a range that is a little wrong loses or steals a row.
CLOSE = ("a", "a-", "a.", "a0", "b")
near_paths = (
    st.lists(st.sampled_from(CLOSE), min_size=1, max_size=3)
    .map(tuple)
    .filter(lambda path: len(path) < 3 or "." in path[-1])  # what may be a directory meets globs below itself
)
near_globs = st.lists(st.sampled_from([*CLOSE, "*", "a*", "?", "a?", "**"]), min_size=1, max_size=3).map(tuple)
near_wishes = st.one_of(
    st.tuples(near_paths, st.just(False)),
    st.tuples(near_paths.filter(lambda path: len(path) < 3), st.just(True)),
    st.tuples(near_globs, st.just(False)),
)


@pytest.fixture
def room(engram: Engram, tmp_path: Path) -> tuple[Engram, Path, str]:
    root = tmp_path.resolve() / "room"
    root.mkdir()
    return engram, root, engram.register("codex", "announces", cwd=str(root))


@seldom
@given(st.lists(near_wishes, min_size=1, max_size=8), near_wishes)
def test_asking_for_locks_finds_every_true_overlap(
    room: tuple[Engram, Path, str], held: list[tuple[tuple[str, ...], bool]], asked: tuple[tuple[str, ...], bool]
) -> None:
    engram, root, session = room
    engram.release_all(session)
    granted = [engram.lock_resource(session, spelled(wish), mode="announce").token for wish in held]
    wanted = covered(shape(asked), CLOSE, 4)
    expected = {token for token, wish in zip(granted, held, strict=True) if covered(shape(wish), CLOSE, 4) & wanted}
    assert {lock.token for lock in engram.check_locks(spelled(asked), cwd=str(root))} == expected


def spelled(wish: tuple[tuple[str, ...], bool]) -> str:
    path, is_directory = wish
    return "/".join(path) + "/" * is_directory


def shape(wish: tuple[tuple[str, ...], bool]) -> tuple[str, ...]:
    path, is_directory = wish
    # Nothing of this exists: a name without an extension may become a directory.
    is_open = not any(map(overlap.is_glob, path)) and "." not in path[-1]
    return (*path, "**") if is_directory or is_open else path
