"""Sessions that only look as if something went wrong."""

from __future__ import annotations

from typing import Any

from tests.patterns.plots import begin, end


def search_without_hits(w: Any, n: int) -> set[str]:
    begin(w, n)
    for word in ("alpha", "beta", "gamma"):
        w.runs(f"grep -rn {word}_{n} src", "", 1)
    w.runs("diff a.txt b.txt", "1c1\n< a\n> b\n", 1)
    w.runs("which node", "", 1)
    end(w, n)
    return set()


def test_first(w: Any, n: int) -> set[str]:
    """A test fails once, as intended, and then passes."""
    name = begin(w, n)
    w.runs("pytest -q tests/test_new.py", "E   assert None == 4\n1 failed in 0.1s", 1)
    w.edits(name, f"def answer_{n}(): pass", f"def answer_{n}(): return 4")
    w.runs("pytest -q tests/test_new.py", "1 passed in 0.1s")
    w.answers("It passes.")
    return set()


def read_in_parts(w: Any, n: int) -> set[str]:
    name = begin(w, n)
    for part in range(1, 8):
        w.reads(name, f"line_{part} = {part}\n", part=part)
    end(w, n)
    return set()


def read_after_changes(w: Any, n: int) -> set[str]:
    name = begin(w, n)
    for turn in range(5):
        w.reads(name)
        w.edits(name, f"entry_{turn}_of_{n} = 'old'", f"other_{turn}_of_{n} = 'new'")
    end(w, n)
    return set()


REQUESTS = (
    "Now show the date instead of the time in the header",
    "Actually great, thanks. Please also add the icon to the footer",
    "No problem, go on with the second part",
    "Wait for the build to finish, then tell me the size",
    "Stop the dev server and list the open ports",
    "Don't forget the docs when you are at it",
    "No more changes needed, summarize what you did",
    "Can you use the new theme on the start page as well?",
    "that's fine, next: sort the list by name",
    "Not sure about the color, show me two options",
    "no rush, but could you also check the logs?",
    "What does 'never cache' mean here?",
    "use the dark icon on hover",
    "I don't know which one is better, you choose",
    "should not take long: add a tooltip",
    "Why does the test need a network?",
    "is the old endpoint still used or can it go?",
    "never seen that before, what is it?",
    "stop words should be removed from the index",
    "nothing wrong here, go on",
)


def plain_request(w: Any, n: int) -> set[str]:
    return _requested(w, n)


def request_with_tricky_words(w: Any, n: int) -> set[str]:
    return _requested(w, n + 15)


def _requested(w: Any, n: int) -> set[str]:
    name = begin(w, n)
    w.edits(name, f"title_{n} = 'some earlier title'", f"title_{n} = 'some later title'")
    w.answers("I changed the title.")
    w.says(REQUESTS[n % len(REQUESTS)])
    w.answers("Here it is.")
    end(w, n)
    return set()


def unstaged(w: Any, n: int) -> set[str]:
    """Unstaging a file or changing the branch discards nothing."""
    name = begin(w, n)
    w.edits(name, f"kept_{n} = 'as it was written'", f"kept_{n} = 'as it is written'")
    w.runs(f"git restore --staged {name}", "")
    w.runs(f"git checkout -b feature-{n}", "Switched to a new branch\n")
    w.answers("The change is kept, only not staged.")
    return set()


def reset_without_work(w: Any, n: int) -> set[str]:
    begin(w, n)
    w.runs("git reset --hard origin/main", "HEAD is now at 1a2b3c4\n")
    w.answers("It is up to date now.")
    return set()


def steady_edits(w: Any, n: int) -> set[str]:
    """Many edits of one file, each in another place."""
    name = begin(w, n)
    for turn in range(6):
        w.edits(name, f"def function_number_{turn}(): pass", f"def function_number_{turn}(a, b): return a")
    end(w, n)
    return set()


def failing_on_purpose(w: Any, n: int) -> set[str]:
    begin(w, n)
    w.runs("test -f missing.txt || echo absent", "absent\n", 0)
    w.runs(f"ls build_{n} 2>/dev/null || true", "", 0)
    w.runs("false", "", 1)
    end(w, n)
    return set()


def costly_answer(w: Any, n: int) -> set[str]:
    """Many tokens, no changes, and a good answer."""
    begin(w, n)
    for turn in range(6):
        w.reads(f"src/part_{turn}.py")
        w.answers("Reading on.", tokens=15_000)
    w.answers("The cause is the lock in the pool: two workers wait for each other. Here is how they come to do so.")
    return set()


def large_but_fine(w: Any, n: int) -> set[str]:
    begin(w, n)
    w.runs("cat src/long.py", "x = 1\n" * 2000)
    end(w, n)
    return set()


def different_failures(w: Any, n: int) -> set[str]:
    """Checks fail in different ways during normal work."""
    name = begin(w, n)
    w.runs("mypy src", f"src/a.py:{n}: error: Incompatible return value type", 1)
    w.edits(name, f"first_{n}: int = 'word'", f"first_{n}: int = 1")
    w.runs("mypy src", "Success: no issues found in 12 source files")
    w.answers("The types are right now.")
    return set()


def answered_no(w: Any, n: int) -> set[str]:
    """A "no" that answers a question is not a correction."""
    begin(w, n)
    w.answers(
        ("Shall I also update the docs?", "Do you want me to run it now?", "Should the old name stay as an alias?")[
            n % 3
        ]
    )
    w.says(("no, that is not needed", "No, later", "no thanks")[n % 3])
    w.answers("Fine.")
    end(w, n)
    return set()


def talk_of_errors(w: Any, n: int) -> set[str]:
    """Errors that are read, not encountered."""
    begin(w, n)
    w.runs("grep -n ERROR logs/app.log", f"{n}: ERROR could not connect to server\n{n + 1}: ERROR timeout\n")
    w.runs("git log --oneline -5", "1a2b3c4 Fix: no such file or directory on start\n")
    w.reads("src/errors.py", "class NotFound(Exception): ...\nraise ValueError('failed to parse')\n")
    end(w, n)
    return set()


def meant_to_fail(w: Any, n: int) -> set[str]:
    """Commands whose exit code is their result."""
    begin(w, n)
    w.runs("git diff --exit-code", "diff --git a/x b/x\n+new\n", 1)
    w.runs("rg TODO src | head -3", "", 1)
    w.runs("pgrep -f server", "", 1)
    w.runs("[ -d build ] && echo there", "", 1)
    end(w, n)
    return set()


def content_user(w: Any, n: int) -> set[str]:
    """A final thank-you is not an abandoned request."""
    name = begin(w, n)
    w.reads(name)
    w.runs("ls src", "a.py\n")
    w.edits(name, f"half_{n} = 'of the work is'", f"half_{n} = 'of the work was'")
    w.answers("It is done.")
    w.says("Perfect, thanks!")
    return set()


def looked_up_thrice(w: Any, n: int) -> set[str]:
    name = begin(w, n)
    for _ in range(3):
        w.reads(name)
        w.answers("I see.")
    end(w, n)
    return set()


def two_failures(w: Any, n: int) -> set[str]:
    """Two rounds of edit and test are normal."""
    name = begin(w, n)
    for turn in range(2):
        w.edits(name, f"def round_{turn}_one(): return 1", f"def round_{turn}_two(): return 2")
        w.runs("pytest -q", "E   assert 1 == 2\n1 failed, 3 passed in 0.1s", 1)
    w.edits(name, "def round_last_one(): return 1", "def round_last_two(): return 2")
    w.runs("pytest -q", "4 passed in 0.1s")
    w.answers("All pass.")
    return set()


def put_aside_first(w: Any, n: int) -> set[str]:
    """Changes kept on a branch are not discarded."""
    name = begin(w, n)
    w.edits(name, f"level_{n} = 'as it was before'", f"level_{n} = 'as it was after'")
    w.runs(f"git branch backup-{n} && git reset --hard origin/main", "HEAD is now at 1a2b3c4\n")
    w.answers("The work is on the branch.")
    return set()


_ABOUT_THE_PROGRAM = (
    "Make the footer always show the version, and the header never wrap",
    "To suppress this warning in future runs, call setup() first, says the output",
    "It should never try to open a second connection",
    "Why does the cache never expire?",
)


def rule_about_the_program(w: Any, n: int) -> set[str]:
    """What the program is to do always or never is a requirement, not a rule for agents."""
    begin(w, n)
    w.says(_ABOUT_THE_PROGRAM[n % len(_ABOUT_THE_PROGRAM)])
    w.answers("I will see to it.")
    end(w, n)
    return set()


def refused_by_engram(w: Any, n: int) -> set[str]:
    """Two agents wanted one file: Engram's own refusal."""
    begin(w, n)
    refusal = (
        "This is locked by 20261101-090000-1a2b3c4d (codex: the parser) for another 4 min. Wait, do something else"
    )
    w.runs(f"engram lock src/part_{n}.py", f"{refusal}, or message them.\n", 3)
    end(w, n)
    return set()
