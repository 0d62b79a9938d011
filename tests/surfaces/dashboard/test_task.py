"""Background tasks."""

from __future__ import annotations

import threading
import time

import pytest

from engram import Engram
from engram.errors import InvalidInput
from engram.surfaces.dashboard.background_task import BackgroundTask


def over(task: BackgroundTask) -> BackgroundTask:
    while task.is_under_way:
        time.sleep(0.01)
    return task


def test_a_task_is_never_under_way_twice(engram: Engram) -> None:
    may_end, begun = threading.Event(), []

    def work(_: Engram) -> str:
        begun.append(1)
        may_end.wait(60)
        return "done"

    task = BackgroundTask(work)
    task.start(engram)
    task.start(engram)
    assert task.is_under_way
    assert (task.result, task.ended_at) == (None, None)
    may_end.set()
    assert over(task).result == "done"
    assert begun == [1]
    task.start(engram)
    over(task)
    assert begun == [1, 1]


@pytest.mark.parametrize(
    ("problem", "code"), [(InvalidInput(field="x", reason="wrong."), "invalid_input"), (ValueError("x"), "internal")]
)
def test_a_task_that_fails_says_so_and_can_begin_again(engram: Engram, problem: Exception, code: str) -> None:
    def work(_: Engram) -> None:
        raise problem

    task = BackgroundTask(work)
    task.start(engram)
    found = over(task).problem
    assert found is not None
    assert found.code == code
    assert task.ended_at is not None
