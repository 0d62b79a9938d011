"""More sessions with planted signals, written later and tested before the code was changed for them."""

from __future__ import annotations

from typing import Any

from tests.patterns.plots import begin, end

_STRANGER = (
    (
        "node server_{n}.js",
        (
            "node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\nError: Cannot find module 'express'\n"
            "Require stack:\n- /srv/{n}/server.js"
        ),
        1,
    ),
    ("./deploy.sh staging{n}", "bash: ./deploy.sh: Permission denied", 126),
    (
        "curl -sf https://api.example.org/v{n}/health",
        "curl: (7) Failed to connect to api.example.org port 443 after 12 ms: Couldn't connect to server",
        7,
    ),
    (
        "java -jar target/app-{n}.jar",
        'Exception in thread "main" java.lang.UnsupportedClassVersionError: Main was compiled by a newer version',
        1,
    ),
    (
        "alembic upgrade head",
        "FAILED: Multiple head revisions are present for given argument 'head'; please specify a revision",
        255,
    ),
    (
        "timeout 60 python3 sync_{n}.py",
        "requests.exceptions.ConnectTimeout: HTTPSConnectionPool(host='h{n}', port=443): Max retries exceeded",
        1,
    ),
)


def stranger_error(w: Any, n: int) -> set[str]:
    begin(w, n)
    command, wrong, code = _STRANGER[n % len(_STRANGER)]
    w.runs(command.format(n=n), wrong.format(n=n) + "\n", code)
    w.answers("I note that and go on by reading.")
    end(w, n)
    return {"error"}


_PIPED = (
    ("cargo test 2>&1 | tail -5", "test sum::adds ... FAILED\n\ntest result: FAILED. 3 passed; 1 failed; 0 ignored"),
    ("npx vitest run | tail -20", " FAIL  src/sum.test.ts > adds\n Test Files  1 failed | 3 passed (4)"),
    ("cd api && go test ./... 2>&1 | head -40", "--- FAIL: TestSum (0.00s)\nFAIL\tapi/sum\t0.01s"),
)


def piped_loop(w: Any, n: int) -> set[str]:
    """Tests fail behind a pipe, which hides their exit code."""
    name = begin(w, n)
    command, wrong = _PIPED[n % len(_PIPED)]
    for turn in range(4):
        w.edits(name, f"fn part_{turn}_before() {{ todo }}", f"fn part_{turn}_after() {{ {turn} }}")
        w.runs(command, wrong)
    w.answers("It still does not pass. Shall I try another way?")
    return {"test-loop"}


def wrong_call(w: Any, n: int) -> set[str]:
    """Invalid tool calls, with the error message of each agent."""
    begin(w, n)
    if w.flavor == "claude":
        wrong = (
            "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
            (
                "<tool_use_error>InputValidationError: Edit failed due to the following issue: The required parameter"
                " `old_string` is missing</tool_use_error>"
            ),
            "<tool_use_error>Found 3 matches of the string to replace, but replace_all is false.</tool_use_error>",
        )[n % 3]
        w.call("Edit", {"file_path": f"/x/{n}.py", "new_string": "text"}, wrong, error=True)
    elif w.flavor == "codex":
        w.call(
            "apply_patch",
            {"input": "*** Begin Patch"},
            '{"output":"invalid patch: The last line must be \'*** End Patch\'","metadata":{"exit_code":1}}',
        )
    else:
        wrong = (
            "params must have required property 'file_path'",
            f"File not found: /home/me/{n}.py",
            'Tool "edit_files" not found in registry.',
        )[n % 3]
        w.call("read_file", {"absolute_path": f"/home/me/{n}.py"}, wrong, status="error")
    end(w, n)
    return {"tool-misuse"}


def reread_by_shell(w: Any, n: int) -> set[str]:
    name = begin(w, n)
    for turn in range(5):
        w.runs(f"cat {name}", "class Thing: pass\n")
        w.answers(f"I see. Next I look at part {turn}.")
    end(w, n)
    return {"reread"}


def thrown_away_on_request(w: Any, n: int) -> set[str]:
    name = begin(w, n)
    w.edits(name, f"color_{n} = 'some kind of red'", f"color_{n} = 'some kind of blue'")
    w.answers("It is blue now.")
    w.says("Let's drop this, put everything back as it was")
    w.runs("git checkout .", "Updated 1 path from the index\n")
    w.answers("Everything is as it was.")
    return {"reverted"}


def left_after_interrupt(w: Any, n: int) -> set[str]:
    name = begin(w, n)
    w.reads(name)
    w.runs("ls lib", "a.py\n")
    w.runs("make docs", "building\n")
    w.interrupted()
    return {"interrupt", "abandoned"}


_DIRECTORIES = (
    ("go test ./...", "pattern ./...: directory prefix . does not contain main module or its selected dependencies"),
    ("git add src/app.py", "fatal: pathspec 'src/app.py' did not match any files"),
    ("cargo build", "error: could not find `Cargo.toml` in `/home` or any parent directory: not found"),
)


def wrong_directory(w: Any, n: int) -> set[str]:
    begin(w, n)
    command, wrong = _DIRECTORIES[n % len(_DIRECTORIES)]
    w.runs(command, f"{wrong}\n", 1)
    w.runs(f"cd core && {command}", "ok\n")
    end(w, n)
    return {"error", "known-fix"}


_STATED = (
    "Always run the linter before you commit.",
    "From now on keep the changelog in the imperative.",
    "Never push to a branch of somebody else.",
    "Generated files are never part of a review.",
    "In future, ask before you add a dependency.",
)


def stated_rule(w: Any, n: int) -> set[str]:
    begin(w, n)
    w.edits(f"src/part_{n}.py", f"first_{n} = 'before the change'", f"first_{n} = 'after the change'")
    w.answers("Both parts are changed.")
    w.says(f"Thanks. {_STATED[n % len(_STATED)]}")
    w.answers("Understood.")
    end(w, n)
    return {"standing-rule"}
