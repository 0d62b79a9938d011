"""Overlap: exact in both directions, for every spelling, and equal to brute force."""

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
from engram.sessions import overlap, resources
from engram.types import Resource
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


# ---- The rule itself

# If two of the patterns below overlap at all, they do so in one of these names, at most four levels deep.
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
    assert overlap.resources_overlap(one[0], other[0]) == overlap.resources_overlap(other[0], one[0]) == expected


def test_segments_meet_exactly_where_some_name_fits_both() -> None:
    segments = ["".join(word) for length in (1, 2, 3) for word in product("ab*?", repeat=length)]
    names = ["".join(word) for length in range(1, 7) for word in product("ab", repeat=length)]
    fits = {segment: {name for name in names if fnmatchcase(name, segment)} for segment in segments}
    wrong = [
        (one, other)
        for one, other in product(segments, repeat=2)
        if overlap.segments_overlap(one, other) != bool(fits[one] & fits[other])
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
    assert overlap.paths_overlap(one.split("/"), other.split("/")) is expected
    assert overlap.paths_overlap(other.split("/"), one.split("/")) is expected


def test_many_stars_cost_no_time() -> None:
    deep = ["**", "a"] * 60
    assert overlap.paths_overlap([*deep, "b"], [*deep, "c"]) is False
    assert overlap.segments_overlap("*a" * 60 + "b", "*a" * 60 + "c") is False


# ---- One canonical name, on real trees

NAMES = ("a", "b", "ab")
places = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(tuple)
globs = st.lists(st.sampled_from(["a", "b", "*", "?", "a*", "*b", "**"]), min_size=1, max_size=3).map(tuple)


# Ways to start, and where each leads: `link` goes to a, `deep` to a/b, and `..` after a link leaves its target.
BEGINNINGS: dict[str, tuple[str, ...]] = {
    "": (), "./": (), "{root}/": (), "a/../": (), "{root}/./b/..//": (), "link/": ("a",), "deep/": ("a", "b"),
    "deep/../": ("a",), "{root}/link/../deep/": ("a", "b"),
}  # fmt: skip


@st.composite
def spellings(draw: st.DrawFn) -> tuple[str, tuple[str, ...]]:
    """Return one of many spellings of a path or a glob, and its plain segments."""
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
    found = [resources.parse_resource(word.replace("{root}", str(root)), str(root)) for word, _ in (one, other)]
    truth = [covered(meant(root, *wish), NAMES, 7) for wish in (one, other)]
    assert overlap.resources_overlap(*found) == overlap.resources_overlap(*reversed(found)) == bool(truth[0] & truth[1])


def plant(root: Path, files: set[tuple[str, ...]], folders: set[tuple[str, ...]]) -> Path:
    """Create a tree, as far as its paths agree with each other, and two links into it."""
    for path in (("a", "b"), ("b",), *sorted(folders)):
        root.joinpath(*path).mkdir(parents=True, exist_ok=True)
    for path in sorted(files):
        if root.joinpath(*path[:-1]).is_dir() and not root.joinpath(*path).exists():
            root.joinpath(*path).touch()
    (root / "link").symlink_to("a")
    (root / "deep").symlink_to(root / "a" / "b")
    return root


def meant(root: Path, word: str, path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the pattern of a request: a directory, or what may become one, is everything in it."""
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


def test_a_worktree_itself_is_its_main_checkout(checkouts: tuple[Path, Path]) -> None:
    main, tree = checkouts
    for word, name in (
        (".", main),
        ("src", main / "src"),
        ("src/app.py", main / "src/app.py"),
        ("new/x.py", main / "new/x.py"),
    ):
        assert resources.parse_resource(word, str(tree)).name == str(name)


def test_a_glob_with_a_slash_at_its_end_means_directories(repository: Path) -> None:
    every = resources.parse_resource("s*/", str(repository))
    for word in ("src", "src/app.py", "src/**/x.py", "sources/deep/er"):
        assert overlap.resources_overlap(every, resources.parse_resource(word, str(repository)))
    assert not overlap.resources_overlap(every, resources.parse_resource("tests/src/app.py", str(repository)))


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
    page = resources.parse_resource("app/[slug]/page.tsx", str(repository))
    assert page.kind == "file"
    assert page.name == str(repository / "app" / "[slug]" / "page.tsx")
    assert overlap.resources_overlap(page, resources.parse_resource("app/*/page.tsx", str(repository)))
    assert overlap.resources_overlap(page, resources.parse_resource("app/[slug]/*", str(repository)))


@pytest.mark.parametrize("name", ["a*b", "a?b", "**"])
def test_a_file_that_is_called_like_a_glob_is_a_file(repository: Path, name: str) -> None:
    (repository / name).touch()
    literal = resources.parse_resource(name, str(repository))
    plain = resources.parse_resource("axb", str(repository))
    assert literal.kind == "file"
    assert not overlap.resources_overlap(literal, plain)
    assert overlap.resources_overlap(literal, resources.parse_resource("./*", str(repository)))
    assert overlap.resources_overlap(resources.parse_resource("a*", str(repository)), plain)


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
    assert resources.parse_resource(word, str(repository), str(repository)).kind != "name"


def test_a_relative_path_needs_a_place_to_start(repository: Path) -> None:
    with pytest.raises(InvalidInput):
        resources.parse_resource("src/app.py", None)
    assert resources.parse_resource(f"file://{repository}/src/app.py", None).name == str(repository / "src" / "app.py")


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


def test_a_name_overlaps_only_the_same_name() -> None:
    one, same, other = (
        Resource(kind="name", name=word, base=word, pattern=word) for word in ("db:a in x", "db:a in x", "db:b in x")
    )
    path = Resource(kind="file", name=one.name, base=one.base, pattern=one.pattern)
    assert overlap.resources_overlap(one, same)
    assert not overlap.resources_overlap(one, other)
    assert not overlap.resources_overlap(one, path)
    assert not overlap.resources_overlap(path, one)


@pytest.mark.parametrize("word", ["db:migrations", "d2:x", "db2:x", "db:m/x", "db:"])
def test_a_word_before_a_colon_makes_a_name(tmp_path: Path, word: str) -> None:
    assert resources.is_name(word, str(tmp_path)) is True
    assert resources.is_name(word, None) is True


@pytest.mark.parametrize("word", ["d:x", "2db:x", "db:/x", "db:\\x", "a/b:x", "db", ":x", "/db:x"])
def test_a_drive_a_number_a_slash_or_no_word_before_the_colon_makes_a_path(tmp_path: Path, word: str) -> None:
    assert resources.is_name(word, str(tmp_path)) is False


def test_a_file_that_is_called_like_a_name_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "db:x").touch()
    assert resources.is_name("db:x", str(tmp_path)) is False
    assert resources.parse_resource("db:x", str(tmp_path)).kind == "file"


@pytest.mark.parametrize(
    ("word", "kind"),
    [("src", "directory"), ("src/", "directory"), ("new", "directory"), ("new.py", "file"), ("new.d/", "directory"),
     ("Makefile", "file"), ("src/app.py", "file"), ("*.py", "glob")],
)  # fmt: skip
def test_a_path_is_a_directory_if_it_is_one_or_may_become_one(repository: Path, word: str, kind: str) -> None:
    (repository / "Makefile").touch()
    assert resources.parse_resource(word, str(repository)).kind == kind


def test_a_path_starts_at_the_home_of_its_user(repository: Path, home: Path) -> None:
    assert resources.parse_resource("~/notes.md", str(repository)).name == str(home.resolve() / "notes.md")


@pytest.mark.parametrize(
    ("word", "name"),
    [("./src/./*.py", "src/*.py"), ("src/a**b", "src/a*b"), ("src/a****b", "src/a*b"), ("src/**/x", "src/**/x"),
     ("src//*", "src/*"), ("s*/", "s*/**"), ("no/such/*/x?", "no/such/*/x?")],
)  # fmt: skip
def test_a_glob_has_one_canonical_name(repository: Path, word: str, name: str) -> None:
    found = resources.parse_resource(word, str(repository))
    assert (found.name, found.pattern) == (f"{repository}/{name}", f"{repository}/{name}")
    assert overlap.is_glob(found.base) is False
    assert found.name.startswith(found.base)


def test_a_glob_from_the_root_has_no_double_slash() -> None:
    assert resources.parse_resource("/*/x", None).pattern == "/*/x"


@pytest.mark.parametrize("word", ["src/*/../x", "*/.."])
def test_a_glob_cannot_leave_what_it_matches(repository: Path, word: str) -> None:
    with pytest.raises(InvalidInput, match=r"after a wildcard"):
        resources.parse_resource(word, str(repository))


def test_a_segment_has_at_most_32_wildcards(repository: Path) -> None:
    most = "*a" * 16 + "?" * 16
    assert resources.parse_resource(f"{most}/{most}", str(repository)).kind == "glob"
    with pytest.raises(InvalidInput, match="at most 32"):
        resources.parse_resource(f"{most}?", str(repository))


def test_wildcards_in_the_name_of_a_file_are_plain_characters(repository: Path) -> None:
    (repository / "a*?").mkdir()
    (repository / "a*?" / "b").touch()
    inside = resources.parse_resource("a*?/b", str(repository))
    assert inside.name == str(repository / "a*?" / "b")
    assert not overlap.is_glob(inside.pattern)
    assert inside.pattern != resources.parse_resource("a??/b", str(repository)).pattern


# ---- Where the file system ignores case


@pytest.fixture
def ignoring_case(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A directory on what looks like a file system that ignores case."""

    def is_same(one: str, other: str) -> bool:
        os.stat(one)  # as the real one does, fail if it is missing
        return one.casefold() == other.casefold()

    monkeypatch.setattr(os.path, "samefile", is_same)
    monkeypatch.setattr(resources, "_folding", {})
    root = tmp_path.resolve() / "Folder"
    (root / "42").mkdir(parents=True)
    return root


def test_spellings_that_differ_in_case_are_one_file(ignoring_case: Path) -> None:
    spellings = ["Src/App.py", "SRC/APP.PY", "src/app.py"]
    assert len({resources.parse_resource(word, str(ignoring_case)) for word in spellings}) == 1
    some = resources.parse_resource("Src/*.PY", str(ignoring_case))
    assert some.name == f"{ignoring_case}/src/*.py".casefold()
    assert overlap.resources_overlap(some, resources.parse_resource("SRC/app.py", str(ignoring_case)))


def test_two_encodings_of_a_letter_are_one_file(ignoring_case: Path) -> None:
    one, other = (resources.parse_resource(word, str(ignoring_case)) for word in ("caf\u00e9.md", "cafe\u0301.md"))
    assert one == other


@pytest.mark.parametrize("word", ["", "42", "42/7", "missing", "Missing/42"])
def test_a_directory_ignores_case_as_what_is_around_it_does(ignoring_case: Path, word: str) -> None:
    assert resources.folds_case(str(ignoring_case / word)) is True


def test_two_directories_that_differ_in_case_prove_that_case_counts(ignoring_case: Path) -> None:
    (ignoring_case.parent / "fOLDER").symlink_to(ignoring_case)
    assert resources.folds_case(str(ignoring_case)) is False
    assert resources.parse_resource("42/App.py", str(ignoring_case)).name == str(ignoring_case / "42" / "App.py")


def test_without_letters_nothing_shows_that_case_is_ignored(ignoring_case: Path) -> None:
    assert resources.folds_case("/") is False
    assert resources.folds_case("/42") is False


def test_where_case_counts_spellings_are_different_files(tmp_path: Path) -> None:
    (tmp_path / "probe").touch()
    if (tmp_path / "PROBE").exists():
        pytest.skip("this file system ignores case")
    one, other = (resources.parse_resource(word, str(tmp_path)) for word in ("App.py", "app.py"))
    assert one.name == str(tmp_path.resolve() / "App.py")
    assert not overlap.resources_overlap(one, other)
    assert resources.folds_case(str(tmp_path)) is False


def test_what_is_known_about_directories_takes_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "_folding", known := dict[str, bool]())
    sizes = []
    for number in range(1500):
        resources.folds_case(f"/{number}")
        sizes.append(len(known))
    assert sizes[:1001] == list(range(1, 1002))
    assert max(sizes) == 1001
    monkeypatch.setitem(known, "/1499", True)
    assert resources.folds_case("/1499") is True


# ---- The index: rows it does not return are never checked

# Neighbors of "/" in sorting order: where a slightly wrong range loses or adds a row.
CLOSE = ("a", "a-", "a.", "a0", "b")


def is_file_or_shallow(path: tuple[str, ...]) -> bool:
    """Leave out deep paths that may be directories: they overlap globs below themselves, deeper than we enumerate."""
    return len(path) < 3 or "." in path[-1] or bool(set("*?") & set("".join(path)))


near_paths = st.lists(st.sampled_from(CLOSE), min_size=1, max_size=3).map(tuple).filter(is_file_or_shallow)
near_globs = (
    st.lists(st.sampled_from([*CLOSE, "*", "a*", "?", "a?", "**"]), min_size=1, max_size=3)
    .map(tuple)
    .filter(is_file_or_shallow)
)
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
