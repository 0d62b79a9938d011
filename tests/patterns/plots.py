"""Sessions with planted signals; paths, names and words vary."""

from __future__ import annotations

from typing import Any

FILES = ("parser", "render", "billing", "session", "router", "queue")
TASKS = (
    "Explain how the cache in this service decides what to drop",
    "Tidy up the naming in the export module",
    "Look into why the nightly report is so slow",
    "Describe the retry logic of the upload client",
    "Rename the helper that formats addresses",
    "Find out where the feature flags are read",
)


def begin(w: Any, n: int) -> str:
    """Write the usual start of a session; return the file it is about."""
    name = f"src/{FILES[n % len(FILES)]}_{n}.py"
    w.says(TASKS[n % len(TASKS)])
    w.reads(f"docs/notes_{n}.md", "Some notes.\n")
    w.answers("I will look at the code first.")
    return name


def end(w: Any, n: int) -> None:
    """Write a quiet end: a small change without a test."""
    w.edits(f"docs/notes_{n}.md", f"old words number {n}", f"new words number {n}")
    w.answers("This is how it is: the module reads its settings once and keeps them. Done.")


_FAILS = (
    ("npm run build:prod", 'npm ERR! Missing script: "build:prod"', "npm run build"),
    ("python setup.py develop", "error: invalid command 'develop' for this project", "pip install -e ."),
    (
        "docker compose up -d db",
        "Error response from daemon: Conflict. The container name is already in use",
        "docker compose restart db",
    ),
)


def failing_command(w: Any, n: int) -> set[str]:
    begin(w, n)
    command, wrong, other = _FAILS[n % len(_FAILS)]
    for _ in range(3):
        w.runs(command, f"{wrong}\n", 1)
        w.answers("Let me try that again.")
    w.runs(other, "ok\n")
    end(w, n)
    # Only the missing script is a call that cannot work; what `pip install -e .` replaces does not look like it.
    return {"failing-command", "error", *(("known-fix",) if n % len(_FAILS) == 0 else ())}


_OTHER_WAYS = (
    ("python scripts/load_7.py", "bash: line 1: python: command not found", 127, "python3 scripts/load_7.py"),
    ("pytest tests/unit", "zsh:1: command not found: pytest", 127, "uv run pytest tests/unit"),
    ("npm run typecheck", 'npm ERR! Missing script: "typecheck"', 1, "pnpm run typecheck"),
)


def other_way(w: Any, n: int) -> set[str]:
    begin(w, n)
    command, wrong, code, other = _OTHER_WAYS[n % len(_OTHER_WAYS)]
    w.runs(command, f"{wrong}\n", code)
    w.runs(other, "loaded 12 rows\n")
    end(w, n)
    return {"failing-command", "error", "known-fix"}


_ERRORS = (
    (
        "python3 -m app.load /data/in_{n}.csv",
        (
            'Traceback (most recent call last):\n  File "/srv/app/load.py", line {n}, in <module>\n'
            "ModuleNotFoundError: No module named 'yaml'"
        ),
    ),
    (
        "psql -h localhost -p 5{n} -c 'select 1'",
        'psql: error: connection to server at "localhost" (127.0.0.1), port 5{n} failed: Connection refused',
    ),
    ("gh pr view {n}", "GraphQL: Could not resolve to a PullRequest with the number of {n}. (repository.pullRequest)"),
    ("git push origin feature-{n}", "error: failed to push some refs to 'git@example.org:me/app-{n}.git'"),
)


def error(w: Any, n: int) -> set[str]:
    begin(w, n)
    command, wrong = _ERRORS[n % len(_ERRORS)]
    w.runs(command.format(n=100 + n), wrong.format(n=100 + n) + "\n", 1)
    w.answers("That does not work here, so I go on by reading.")
    end(w, n)
    return {"error"}


_CHECKS = (
    ("pytest -q tests/test_sum.py", "E   assert 3 == 4\n1 failed, 2 passed in 0.{n}s", "3 passed in 0.2s"),
    ("go test ./...", "--- FAIL: TestSum (0.00s)\n    sum_test.go:{n}: got 3\nFAIL", "ok  \tapp/sum\t0.1s"),
    ("npm test", "Tests:       1 failed, 4 passed, 5 total", "Tests:       5 passed, 5 total"),
)


def test_loop(w: Any, n: int) -> set[str]:
    name = begin(w, n)
    command, wrong, right = _CHECKS[n % len(_CHECKS)]
    for turn in range(4):
        w.edits(name, f"def step_{turn}_first(): return {turn}", f"def step_{turn}_second(): return {turn} + 1")
        w.runs(command, wrong.format(n=turn), 1)
    if n % 2:
        w.edits(name, "def last_one_before(): pass", "def last_one_after(): return 4")
        w.runs(command, right)
    w.answers("That is as far as I get. Shall I go on?" if not n % 2 else "It passes now.")
    return {"test-loop"}


def reread(w: Any, n: int) -> set[str]:
    name = begin(w, n)
    for turn in range(5):
        w.reads(name, "class Thing:\n    pass\n")
        w.runs(f"rg -n Other_{turn} lib", f"lib/a_{turn}.py:1:Other\n")
    end(w, n)
    return {"reread"}


def reedit(w: Any, n: int) -> set[str]:
    name = begin(w, n)
    for turn in range(5):
        w.edits(name, f"    return first_version({turn})", f"    return first_version({turn + 1})")
    end(w, n)
    return {"reedit"}


CORRECTIONS = (
    "No, use pnpm instead of npm in this repository.",
    "no, that's wrong. The settings belong into config.toml, not into code",
    "I said only the tests, you were not supposed to touch the migrations",
    "Don't mock the database in these tests!",
    "That's not what I asked for. Keep the old endpoint working.",
    "Stop adding comments to every line please",
    "You forgot to update the changelog, every change needs a line there",
    "why are you editing the generated client? change the schema instead",
    "We never commit directly to main, make a branch first",
    "Please use uv instead of pip here",
    "nope, revert that. The button should stay where it was",
    "wrong file, I meant the one under packages/core",
    "Hmm, this is not how we do it: errors go through the logger",
    "please don't change the public API",
    "You changed the wrong function",
    "undo the last change, it breaks the login",
    "too complicated, make it simpler",
    "we use tabs in this repo, not spaces",
    "You're overcomplicating this, a plain dict is enough",
    "leave the lock file alone",
)


def correction(w: Any, n: int) -> set[str]:
    return _corrected(w, n)


def correction_in_other_words(w: Any, n: int) -> set[str]:
    return _corrected(w, n + 15)


def _corrected(w: Any, n: int) -> set[str]:
    name = begin(w, n)
    w.edits(name, f"value_{n} = 'before the change'", f"value_{n} = 'after the change'")
    w.answers("I changed it.")
    w.says(CORRECTIONS[n % len(CORRECTIONS)])
    w.answers("Understood, I will do it that way.")
    end(w, n)
    return {"correction", *(("standing-rule",) if "never" in CORRECTIONS[n % len(CORRECTIONS)] else ())}


def interrupt(w: Any, n: int) -> set[str]:
    begin(w, n)
    w.runs(("npm run dev", "docker build .", "cargo run")[n % 3], "listening\n")
    w.interrupted()
    w.says("Give me a short summary of what you found so far")
    w.answers("So far: the settings are read once.")
    end(w, n)
    return {"interrupt"}


def reverted(w: Any, n: int) -> set[str]:
    name = begin(w, n)
    w.edits(name, f"limit_{n} = compute_the_limit()", f"limit_{n} = compute_another_limit()")
    w.edits(name, f"other_{n} = compute_the_other()", f"other_{n} = compute_no_other()")
    w.runs(("git checkout -- src", "git reset --hard HEAD", f"git restore {name}")[n % 3], "")
    w.answers("I took my changes back: they were not the right way.")
    return {"reverted"}


def denied(w: Any, n: int) -> set[str]:
    begin(w, n)
    w.refused(("rm -rf build", "git push --force", "npm publish")[n % 3])
    w.answers("Fine, I leave that to you.")
    end(w, n)
    return {"denied"}


def denied_with_words(w: Any, n: int) -> set[str]:
    begin(w, n)
    w.refused(
        "npm install left-pad",
        ("no, use pnpm here", "Don't install anything, use what is there", "no, write it by hand instead")[n % 3],
    )
    w.answers("I will.")
    end(w, n)
    return {"denied", "correction"}


def tool_misuse(w: Any, n: int) -> set[str]:
    name = begin(w, n)
    w.misses(name)
    w.reads(name)
    w.edits(name, f"there_it_is_{n} = 1", f"there_it_is_{n} = 2")
    end(w, n)
    return {"tool-misuse"}


def huge_output(w: Any, n: int) -> set[str]:
    begin(w, n)
    w.runs(f"cat data/dump_{n}.json", '{"key": "value"},\n' * 6000)
    end(w, n)
    return {"context-blowup"}


def compaction(w: Any, n: int) -> set[str]:
    begin(w, n)
    w.compacts()
    w.answers("Going on from the summary.")
    end(w, n)
    return {"context-blowup"}


def abandoned(w: Any, n: int) -> set[str]:
    name = begin(w, n)
    w.reads(name)
    w.runs("ls src", "a.py\n")
    w.edits(name, f"half_{n} = 'of the work is'", f"half_{n} = 'of the work was'")
    w.says("Now wire the new option through to the command line")
    return {"abandoned"}


def wasted(w: Any, n: int) -> set[str]:
    begin(w, n)
    for turn in range(6):
        w.reads(f"src/part_{turn}.py")
        w.answers("Still looking for the cause.", tokens=15_000)
    w.answers("I could not find the cause. Unfortunately, I was not able to reproduce it either.", tokens=9_000)
    return {"wasted-tokens"}


GOALS = (
    "Add a --verbose option to the export command",
    "Fix the rounding of totals in invoices",
    "Rename the field user_name to login everywhere",
)


def short_path(w: Any, n: int) -> set[str]:
    w.says(GOALS[n % len(GOALS)])
    w.reads(f"src/tool_{n}.py")
    w.edits(f"src/tool_{n}.py", f"option_{n} = parse_nothing()", f"option_{n} = parse_verbose()")
    w.runs("pytest -q", "12 passed in 0.4s")
    w.runs('git commit -am "Do it"', f"[main 1a2b3c{n % 10}] Do it\n 1 file changed")
    w.answers("Done: it works and the tests pass.")
    return {"short-path"}


def passing_sequence(w: Any, n: int) -> set[str]:
    begin(w, n)
    w.runs("ruff check .", "Found 2 errors.", 1)
    w.edits(f"src/tool_{n}.py", f"import os  # number {n} of them", f"import sys  # number {n} of them")
    w.runs("ruff check .", "All checks passed!")
    w.runs("pytest -q", "12 passed in 0.4s")
    w.runs('git commit -am "Clean up"', f"[main 1a2b3c{n % 10}] Clean up\n 1 file changed")
    w.answers("Clean and committed.")
    return {"passing-sequence"}
