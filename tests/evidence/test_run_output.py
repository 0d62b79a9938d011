"""Whether tests passed is read from the runner's own summary and the status together."""

from __future__ import annotations

import pytest

from engram.evidence.run_output import has_build_failed, has_check_passed, judge_run, read_verdict

PASSED = [
    "=================== 12 passed, 1 skipped in 0.42s ===================",
    "3 passed in 0.12s",
    "Ran 4 tests in 0.010s\n\nOK",
    "Tests:       9 passed, 9 total",
    " Test Files  3 passed (3)\n      Tests  20 passed (20)",
    "  14 passing (32ms)",
    " 12 pass\n 0 fail\nRan 12 tests across 3 files. [120.00ms]",
    "ok | 5 passed | 0 failed (12ms)",
    "ℹ tests 3\nℹ pass 3\nℹ fail 0",
    "ok  \texample.com/app\t0.012s\nok  \texample.com/app/x\t(cached)",
    "DONE 24 tests in 1.2s",
    "test result: ok. 7 passed; 0 failed; 0 ignored",
    "     Summary [   0.05s] 7 tests run: 7 passed, 0 skipped",
    "8 examples, 0 failures",
    "6 runs, 10 assertions, 0 failures, 0 errors, 0 skips",
    "OK (12 tests, 30 assertions)",
    "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0",
    "BUILD SUCCESSFUL in 3s",
    "Passed!  - Failed:     0, Passed:    10, Skipped:     0",
    "100% tests passed, 0 tests failed out of 14",
    "Executed 3 tests, with 0 failures (0 unexpected) in 0.01 seconds",
]
FAILED = [
    "=================== 1 failed, 12 passed in 0.42s ===================",
    "1 failed, 2 passed in 0.12s",
    "FAILED tests/test_x.py::test_y - AssertionError",
    "FAILED (failures=1)",
    "Tests:       1 failed, 8 passed, 9 total",
    "      Tests  1 failed | 19 passed (20)",
    "  2 failing",
    " 11 pass\n 1 fail",
    "FAILED | 4 passed | 1 failed (12ms)",
    "ℹ pass 2\nℹ fail 1",
    "ok  \texample.com/app\t0.012s\nFAIL\texample.com/app/x\t0.1s\nFAIL",
    "--- FAIL: TestX (0.00s)",
    "DONE 24 tests, 1 failure in 1.2s",
    "test result: FAILED. 6 passed; 1 failed",
    "8 examples, 1 failure",
    "6 runs, 10 assertions, 1 failures, 0 errors, 0 skips",
    "FAILURES!\nTests: 12, Assertions: 30, Failures: 1.",
    "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0",
    "BUILD FAILED in 3s",
    "Failed!  - Failed:     1, Passed:     9, Skipped:     0",
    "93% tests passed, 1 tests failed out of 14",
    "Executed 3 tests, with 1 failure (0 unexpected) in 0.01 seconds",
]


@pytest.mark.parametrize("output", PASSED)
def test_a_summary_of_a_pass(output: str) -> None:
    assert read_verdict(f"collecting\n{output}\n") is True


@pytest.mark.parametrize("output", FAILED)
def test_a_summary_of_a_failure(output: str) -> None:
    assert read_verdict(f"collecting\n{output}\n") is False


def test_a_failure_in_a_log_line_is_no_failure_of_the_run() -> None:
    output = "INFO worker: 2 failed, retrying\nretry: job failed 3 times\nok  \texample.com/app\t0.2s"
    assert judge_run(output, "hidden", 0, failed=False) is True
    assert judge_run("step 1 FAILED as expected\nall good", "known", 0, failed=False) is True


@pytest.mark.parametrize(
    ("output", "status", "code", "verdict"),
    [
        ("", "known", 0, True),
        ("boom", "known", 1, False),
        ("boom", "hidden", 0, None),
        ("boom", "hidden", 1, None),
        ("boom", "zero", 1, None),
        ("", "zero", 0, True),
        ("FAIL\n", "hidden", 0, False),
        ("3 passed in 0.1s", "zero", 1, True),
        ("3 passed in 0.1s", "known", 1, False),
        ("bash: pytest: command not found", "known", 127, None),
        ("…", "known", 124, None),
        ("cd: nowhere: No such file or directory", "known", 1, None),
    ],
)
def test_summary_and_status_together(output: str, status: str, code: int, verdict: bool | None) -> None:
    assert judge_run(output, status, code, failed=code != 0) is verdict


def test_a_compiler_s_error_is_seen_behind_a_pipe() -> None:
    assert has_build_failed("app/main.go:12:3: undefined: x")
    assert has_build_failed("src/a.ts(3,5): error TS2304: Cannot find name 'x'.")
    assert not has_build_failed("downloaded module errors v1.2.3\nno problems")


@pytest.mark.parametrize(
    "output", ["", "0 issues.", "All checks passed!", "Success: no issues found in 9 source files"]
)
def test_a_linter_that_says_it_found_nothing_has_passed(output: str) -> None:
    assert has_check_passed(output)


@pytest.mark.parametrize("output", ["1 issues:\n* gofmt: 1", "Found 3 errors", "config/segment.go"])
def test_a_linter_that_names_something_has_not_passed(output: str) -> None:
    assert not has_check_passed(output)
