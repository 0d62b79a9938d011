"""The directory tree of the race, the resources racers ask for, and the files each of them covers."""

from __future__ import annotations

import random
import subprocess
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

# Any two wishes below that can overlap in some file overlap in one of these.
FILES = (
    "README.md", "docs/index.md", "docs/guide/start.md", "src/app/[slug]/page.tsx", "src/app/deep/table.md",
    "src/app/main.py", "src/app/view.py", "src/deep/walk.py", "src/lib/app/area.md", "src/lib/deep/data.txt",
    "src/lib/deep/parse.py", "src/lib/io.py", "tests/app/cases.md", "tests/data/a*b", "tests/data/axb",
    "tests/data/make.py", "tests/data/notes.md", "tests/test_app.py",
)  # fmt: skip
NAMES = ("db:migrations", "port:8080")
LINKS = {"shortcut": "src/app", "entry.py": "src/app/main.py"}


@dataclass(frozen=True)
class Wish:
    """A way to name a resource, and what it covers as an fnmatch pattern."""

    spelling: str
    covers: str
    at: str = "{root}"


WISHES = (
    Wish("src/app/main.py", "src/app/main.py"),
    Wish("./src/lib/../app//main.py", "src/app/main.py"),
    Wish("{root}/src/app/main.py", "src/app/main.py"),
    Wish("{tree}/src/app/main.py", "src/app/main.py"),
    Wish("src/app/main.py", "src/app/main.py", at="{tree}"),
    Wish("../app/main.py", "src/app/main.py", at="{root}/src/lib"),
    Wish("entry.py", "src/app/main.py"),
    Wish("shortcut/main.py", "src/app/main.py"),
    Wish("{tree}/shortcut/../app/main.py", "src/app/main.py"),
    Wish("src/app/view.py", "src/app/view.py"),
    Wish("src/app/[slug]/page.tsx", "src/app/[[]slug]/page.tsx"),
    Wish("src/lib/io.py", "src/lib/io.py"),
    Wish("deep/parse.py", "src/lib/deep/parse.py", at="{tree}/src/lib"),
    Wish("tests/test_app.py", "tests/test_app.py"),
    Wish("tests/data/a*b", "tests/data/a[*]b"),
    Wish("README.md", "README.md"),
    Wish("src", "src/**"),
    Wish("{tree}/src", "src/**"),
    Wish("src/app/", "src/app/**"),
    Wish("shortcut", "src/app/**"),
    Wish("{root}/src/lib", "src/lib/**"),
    Wish("tests", "tests/**"),
    Wish(".", "**", at="{tree}"),
    Wish("src/app/*.py", "src/app/*.py"),
    Wish("shortcut/*.py", "src/app/*.py"),
    Wish("src/**/*.py", "src/**/*.py"),
    Wish("{tree}/src/*/*.py", "src/*/*.py"),
    Wish("**/*.py", "**/*.py"),
    Wish("src/app/?ain.py", "src/app/?ain.py"),
    Wish("**/app/**/*a*", "**/app/**/*a*"),
    Wish("../**/deep/**", "src/**/deep/**", at="{root}/src/app"),
    Wish("tests/data/*", "tests/data/*"),
    Wish("**/*.md", "**/*.md"),
    Wish("db:migrations", "db:migrations"),
    Wish("port:8080", "port:8080"),
)  # fmt: skip


def build(root: Path, tree: Path) -> None:
    """Create the repository and a second worktree."""
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    for link, target in LINKS.items():
        (root / link).symlink_to(target)
    identity = ("-c", "user.name=race", "-c", "user.email=race@example.org")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "start"], ["worktree", "add", "-q", str(tree)]):
        subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)


@cache
def truth(covers: str) -> frozenset[str]:
    """Return everything a wish covers, by checking every file."""
    if covers in NAMES:
        return frozenset((covers,))
    return frozenset(name for name in FILES if matches(covers.split("/"), name.split("/")))


def matches(pattern: list[str], path: list[str]) -> bool:
    """Return whether a path matches a pattern, by trying everything `**` could stand for."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(matches(pattern[1:], path[skipped:]) for skipped in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and matches(pattern[1:], path[1:])


def picks(seed: int, number: int, chance: random.Random) -> list[int]:
    """Choose resources; in most rounds all racers choose ones that cover the same file."""
    focus = random.Random(f"{seed}/{number}").choice(("src/app/main.py", *FILES, *NAMES, "src/app/main.py", ""))
    near = [index for index, wish in enumerate(WISHES) if not focus or focus in truth(wish.covers)]
    chosen = [chance.choice(near)]
    for index in chance.sample(range(len(WISHES)), 2 if chance.random() < 0.2 else 0):
        if all(truth(WISHES[index].covers).isdisjoint(truth(WISHES[other].covers)) for other in chosen):
            chosen.append(index)
    return chosen
