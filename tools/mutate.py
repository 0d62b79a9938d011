"""Measure tests by mutation: change one operator, constant or statement at a time and see whether a test fails.

python3 dev.py mutate                     every area below
python3 dev.py mutate overlap fuse --sample 20 --seed 3
python3 dev.py mutate clock.py --tests tests/dream/test_budget.py

A mutant is killed if a test fails or takes too long; a survivor is printed with its line and its diff. Mutants run one
after the other in a copy of the tree, at low priority, on SQLite; `--postgres` adds PostgreSQL. Changes that parse to
the same code are skipped. Some survivors are equivalent: they behave like the original, so no test can find them.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import hypothesis.stateful  # noqa: F401  loaded once here, not once per mutant
import pytest

ROOT = Path(__file__).resolve().parents[1]
# Source files below src/engram, and the tests that must notice a change; quick ones first.
AREAS = {
    "overlap": ("sessions/overlap.py sessions/resources.py", "tests/sessions/test_overlap.py"),
    "retention": ("capture/digests/retention.py", "tests/capture/digests/test_retention.py"),
    "redaction": (
        "redaction/redactor.py redaction/rules.py redaction/secret_shape.py redaction/placeholders.py",
        "tests/redaction",
    ),
    "fuse": ("search/fuse.py", "tests/search/test_fuse.py tests/search/test_ranking.py"),
    "statistics": ("patterns/rules/statistics.py", "tests/patterns/rules/test_statistics.py"),
    "blobs": ("store/blobs.py", "tests/store/test_blobs.py tests/capture/test_check.py tests/capture/digests"),
}
LEFT_OUT = shutil.ignore_patterns(".venv", ".git", ".cache", "__pycache__", "node_modules", "dist")
UNCHANGED = {"annotation", "returns", "decorator_list"}
PYTEST = "-W ignore::pytest.PytestAssertRewriteWarning -x -q -p no:xdist --hypothesis-seed=0".split()
SWAPPED: dict[str, str] = {
    "Add": "Sub", "Sub": "Add", "Mult": "Div", "Div": "Mult", "FloorDiv": "Mult", "Mod": "Mult", "Pow": "Mult",
    "BitOr": "BitAnd", "BitAnd": "BitOr", "LShift": "RShift", "RShift": "LShift", "And": "Or", "Or": "And",
    "Lt": "LtE GtE", "LtE": "Lt Gt", "Gt": "GtE LtE", "GtE": "Gt Lt", "Eq": "NotEq", "NotEq": "Eq", "In": "NotIn",
    "NotIn": "In", "Is": "IsNot", "IsNot": "Is",
}  # fmt: skip


def find_mutants(path: str) -> list[tuple[str, int, bytes]]:
    """Return every mutant of a file: its path, the changed line and the changed source."""
    source = (ROOT / path).read_bytes()
    starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
    mutants, tree = [], ast.parse(source)
    for node, text in _change_below(tree):
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        changed = source[: starts[node.lineno - 1] + node.col_offset] + text.encode() + source[end:]
        if ast.dump(ast.parse(changed)) != ast.dump(tree):
            mutants.append((path, node.lineno, changed))
    return mutants


def _change_below(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yield each node that can be changed, and its new text."""
    for name, value in ast.iter_fields(tree):
        for child in value if isinstance(value, list) else [value]:
            # Before Python 3.12 the positions inside an f-string are wrong.
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr) or name in UNCHANGED:
                continue
            if isinstance(child, ast.If | ast.Assign) and "TYPE_CHECKING" in ast.unparse(child).partition("\n")[0]:
                continue
            if isinstance(child, ast.expr):
                yield from ((child, f"({ast.unparse(new)})") for new in _change_expression(child))
            elif isinstance(child, ast.stmt):
                yield from ((child, text) for text in _change_statement(child))
            if isinstance(child, ast.If | ast.IfExp | ast.While):
                yield child.test, f"(not ({ast.unparse(child.test)}))"
            yield from _change_below(child)


def _swap(operator: ast.AST) -> list[Any]:
    return [getattr(ast, name)() for name in SWAPPED.get(type(operator).__name__, "").split()]


def _change_expression(node: ast.expr) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp(left, operator, right):
            yield from (ast.BinOp(left, new, right) for new in _swap(operator))
        case ast.BoolOp(operator, values):
            yield from (ast.BoolOp(new, values) for new in _swap(operator))
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.Compare(left, operators, right):
            for at, sign in enumerate(operators):
                yield from (
                    ast.Compare(left, [*operators[:at], new, *operators[at + 1 :]], right) for new in _swap(sign)
                )
        case ast.Constant(value=bool() as flag):
            yield ast.Constant(not flag)
        case ast.Constant(value=int() as number):
            yield from (ast.Constant(number + 1), ast.Constant(number - 1))
        case ast.Constant(value=float() as number):
            yield from (ast.Constant(changed) for changed in ((number * 2, number / 2) if number else (1.0,)))


def _change_statement(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Break() | ast.Continue():
            yield "pass"
        case ast.Return(value=ast.expr()):
            yield "return None"
    if isinstance(node, ast.AugAssign):
        yield from (ast.unparse(ast.AugAssign(node.target, new, node.value)) for new in _swap(node.op))


class Trial:
    """A copy of the tree in which tests run against one mutant after the other."""

    def __init__(self, folder: Path, tests: list[str]) -> None:
        self.tree, self.tests = folder / "tree", tests
        self.seconds: float | None = None
        shutil.copytree(ROOT, self.tree, ignore=LEFT_OUT)
        began = time.monotonic()
        if self._run_tests():
            raise SystemExit(Path(f"{self.tree}.log").read_text()[-2000:] + "\nThese tests fail without any change.")
        self.seconds = 15 + 4 * (time.monotonic() - began)

    def is_killed(self, name: str, source: bytes) -> bool:
        """Return whether a test notices a changed file."""
        path = self.tree / name
        for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            cached.unlink()
        path.write_bytes(source)
        killed = self._run_tests()
        shutil.copy(ROOT / name, path)
        return killed

    def _run_tests(self) -> bool:
        """Return whether a test fails or takes too long, in a process that has loaded nothing of ours yet."""
        process = multiprocessing.get_context("fork").Process(target=self._become_pytest)
        process.start()
        process.join(self.seconds)
        if process.is_alive():
            os.killpg(process.pid or 0, signal.SIGKILL)
            process.join()
        return process.exitcode != 0

    def _become_pytest(self) -> None:
        os.setsid()
        os.chdir(self.tree)
        log = os.open(f"{self.tree}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        ours = [str(self.tree / "src"), str(self.tree)]
        sys.path[:] = ours + [path for path in sys.path if path not in ("", str(ROOT), str(ROOT / "src"))]
        sys.dont_write_bytecode = self.seconds is not None  # the first run, without a mutant, fills the caches
        os.environ.update(PYTHONPATH=os.pathsep.join(ours), PYTHONDONTWRITEBYTECODE="1")
        sys.exit(pytest.main([*PYTEST, *self.tests]))


def measure_area(sources: list[str], tests: list[str], words: argparse.Namespace) -> str:
    """Print the survivors of an area, and return how many mutants were killed."""
    mutants = [mutant for source in sources for mutant in find_mutants(f"src/engram/{source}")]
    mutants = sorted(random.Random(words.seed).sample(mutants, min(words.sample, len(mutants))))  # noqa: S311
    killed = 0
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        trial = Trial(Path(folder), tests if words.postgres else ["-k", "not postgres", *tests])
        for path, line, source in mutants:
            if trial.is_killed(path, source):
                killed += 1
            else:
                before, after = (ROOT / path).read_text().splitlines(), source.decode().splitlines()
                changes = list(difflib.unified_diff(before, after, n=0, lineterm=""))[3:]
                print(f"survived {path}:{line}", *changes, sep="\n", flush=True)
    return f"killed {killed} of {len(mutants)} ({killed / max(len(mutants), 1):.0%})"


def main(arguments: list[str]) -> None:
    """Measure the areas or files asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("areas", nargs="*", help=f"source files below src/engram, or areas: {', '.join(AREAS)}")
    parser.add_argument("--tests", nargs="+", help="test files or folders, instead of those of the area")
    parser.add_argument(
        "--sample", type=int, default=100_000, help="maximum number of mutants per area, chosen at random"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample")
    parser.add_argument("--postgres", action="store_true", help="run the tests on PostgreSQL too")
    words = parser.parse_args(arguments)
    os.nice(10)
    for name in words.areas or AREAS:
        files, tests = AREAS.get(name, (name, ""))
        print(f"{name}: {measure_area(files.split(), words.tests or tests.split(), words)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
