"""Measure whether hooks give an agent the decision that settles its problem, and stay silent otherwise.

Three parts. `tasks` runs the measuring program that comes with the tasks: a bug report names only symptoms, the
decision lies in an earlier chat or commit. `silence` asks stores about what they do not know: the bug reports in a
store of other chats, and prompts of one LongMemEval history in the store of another. `prompts` replays every prompt of
a real history against what was known before it and prints what would be given, to be read by a person.

python3 dev.py bench answers [--only tasks|silence|prompts] [--stores N] [--home DIR] [--data DIR]
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engram import Engram
from engram.search import push
from tests.capture.transcripts import Claude

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
BUDGET = 350
_SHORTEST = 12  # characters of a prompt that hooks look at


@dataclass
class Silence:
    """How many prompts that a store cannot answer got an answer."""

    name: str
    asked: int = 0
    answered: list[tuple[str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"  {self.name:58} {len(self.answered):4} of {self.asked:5} ({len(self.answered) / max(self.asked, 1):.1%})"
        )


def main() -> int:
    """Print the parts whose data is present."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("tasks", "silence", "prompts"), help="measure one part")
    parser.add_argument("--stores", type=int, default=6, help="LongMemEval histories to swap")
    parser.add_argument("--home", type=Path, help="Engram home whose prompts are replayed")
    parser.add_argument("--data", type=Path, default=DATA, help="directory of the data sets")
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"The data sets are not at {options.data}.")
        return 1
    if options.only in (None, "tasks"):
        print(run_tasks(options.data))
    if options.only in (None, "silence"):
        print("prompts that nothing in the store answers")
        for silence in measure_silence(options.data, options.stores):
            print(silence)
    if options.only in (None, "prompts") and options.home:
        replay_prompts(options.home)
    return 0


def run_tasks(data: Path, most: int = 100) -> str:
    """Return what the tasks' own program prints; it builds stores, and asks the hooks and `engram recall`.

    At most so many tasks of each source are asked.
    """
    content = json.loads((data / "answers" / "decisions_dev.json").read_text())
    by_source: dict[str, list[Any]] = {}
    for task in content["tasks"]:
        by_source.setdefault(task["source"], []).append(task)
    content["tasks"] = [task for tasks in by_source.values() for task in tasks[:most]]
    with tempfile.TemporaryDirectory() as folder:
        chosen = Path(folder) / "tasks.json"
        chosen.write_text(json.dumps(content))
        command = [sys.executable, str(data / "answers" / "measure.py"), str(chosen), sys.executable]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # it fails below its own aims
    return done.stdout or done.stderr


def measure_silence(data: Path, stores: int) -> list[Silence]:
    """Ask stores about what they do not know."""
    tasks = json.loads((data / "answers" / "decisions_dev.json").read_text())
    reports = sorted({task["bug_report"] for task in tasks["tasks"]})
    measured = [_ask("bug reports, to a store of other chats", [item["turns"] for item in tasks["decoys"]], reports)]
    with gzip.open(data / "recall" / "longmemeval_s_dev.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    random.Random(3).shuffle(rows)
    for number, row in enumerate(rows[:stores]):
        following = rows[number + 1]
        prompts = [
            turn["content"] for chat in following["haystack_sessions"] for turn in chat if turn["role"] == "user"
        ]
        chats = [
            [{"role": turn["role"], "text": turn["content"]} for turn in chat] for chat in row["haystack_sessions"]
        ]
        questions = [other["question"] for other in rows if other is not row]
        measured.append(
            _ask(f"history {number}: other questions, prompts of another history", chats, prompts + questions)
        )
    return measured


def _ask(name: str, chats: list[list[dict[str, Any]]], prompts: list[str]) -> Silence:
    """Store chats as transcripts of one project, and return which prompts get something."""
    silence = Silence(name)
    with tempfile.TemporaryDirectory() as folder:
        for chat in chats:
            transcript = Claude(Path(folder), cwd=f"{folder}/app")
            for turn in chat:
                (transcript.says if turn["role"] == "user" else transcript.answers)(turn["text"])
        with Engram(f"{folder}/engram") as engram:
            engram.ingest([f"{folder}/.claude"])
            session = {"id": "", "native_id": "", "project": engram.list_sessions()[0].session.project}
            for prompt in prompts:
                if len(prompt) >= _SHORTEST:
                    silence.asked += 1
                    given = push.choose_for_prompt(engram, session, prompt, BUDGET)
                    silence.answered += [(prompt, given.text)] if given.text else []
    return silence


def replay_prompts(home: Path) -> None:
    """Print what every prompt of a home would have been given, from what was known before it."""
    with Engram(home) as engram:
        prompts = engram.engine.run(
            "select x.content, x.at, s.* from exchanges x join sessions s on s.id = x.session_id"
            " where x.role = 'user' and s.project <> '' order by x.at"
        )
        given = 0
        for row in prompts:
            later = [case["id"] for case in _list_cases(engram) if case["began"] >= row["at"]]
            answer = push.choose_for_prompt(engram, row, row["content"], BUDGET, frozenset(later))
            if answer.text:
                given += 1
                print(f"--- {row['content'][:300]}\n({answer.reason})\n{answer.text}\n")
    print(f"{given} of {len(prompts)} prompts were given something")


def _list_cases(engram: Engram) -> list[dict[str, Any]]:
    return engram.engine.run(
        "select c.id, coalesce(e.started_at, c.at) as began from cases c"
        " left join episodes e on e.capture = c.capture and e.number = c.number"
    )


if __name__ == "__main__":
    sys.exit(main())
