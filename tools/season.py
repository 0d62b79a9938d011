"""A made-up history: transcripts of three agents in three projects of a harbour town, ingested like real ones.

The tests of the dashboard and the screenshots of the README (tools/pictures.py) use it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from engram import Engram, Held
from engram.clock import Clock
from tests.patterns import writers
from tests.patterns.writers import Claude, Codex, Writer

HARBOUR, LIGHTHOUSE, FERRY = "/home/mara/harbour", "/home/mara/lighthouse", "/home/mara/ferry"
WEEK = 7  # days between two dreams
Act = Callable[["Telling"], None]


class Gemini(writers.Gemini):
    """Gemini CLI as it writes since 2026: a directory for each project, with the path of the project in it."""

    def place(self, home: Path) -> Path:
        folder = home / ".gemini" / "tmp" / Path(self.project).name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".project_root").write_text(self.project)
        return folder / "chats" / super().place(home).name


AGENTS: tuple[type[Writer], ...] = (Claude, Claude, Codex, Gemini)


class Past(Clock):
    """A clock that runs behind by a fixed time."""

    def __init__(self, behind: timedelta) -> None:
        self._behind = int(behind.total_seconds() * 1_000_000)

    def now(self) -> int:
        return super().now() - self._behind


class Telling:
    """Writes one session in the format of any agent; `learnt` means that it follows the rules."""

    def __init__(self, writer: Writer, dice: random.Random, learnt: bool = False) -> None:
        self.writer, self.dice, self.learnt = writer, dice, learnt

    def test(self, command: str, wrong: str, right: str) -> None:
        """Run the tests: with the wrong command first, unless the session follows the rules."""
        if not self.learnt or self.dice.random() < 0.1:
            self.run(wrong, f"ModuleNotFoundError: No module named '{Path(self.writer.project).name}'", 1)
        self.run(command, right)

    def ask(self, words: str) -> None:
        self.writer.says(words)  # type: ignore[attr-defined]

    def answer(self, words: str) -> None:
        self.writer.answers(words, self.dice.randrange(800, 9_000))  # type: ignore[attr-defined]

    def run(self, command: str, output: str = "", code: int = 0) -> None:
        self.writer.runs(command, output, code)  # type: ignore[attr-defined]

    def edit(self, path: str, old: str, new: str) -> None:
        self.writer.edits(path, old, new)  # type: ignore[attr-defined]

    def read(self, path: str, content: str) -> None:
        self.writer.reads(path, content)  # type: ignore[attr-defined]


def fares(tell: Telling) -> None:
    """Fix prices that are floats."""
    tell.ask("A family ticket with 3 children costs 35.10000000000001. Find out why, and fix it for good.")
    tell.read("src/prices.py", "def family(children):\n    return 20.0 + children * 5.05\n")
    if not tell.learnt:
        tell.run("pytest tests/test_prices.py", "ModuleNotFoundError: No module named 'harbour'", 1)
    tell.run("uv run pytest tests/test_prices.py", "FAILED test_family - assert 35.10000000000001 == 35.1\n1 failed", 1)
    tell.answer(
        "The cause: **prices are floats**, and the discount is added three times.\n\n"
        "- `Decimal` would do\n- integer cents are simpler"
    )
    tell.ask("We decided: integer cents everywhere, because the tills send cents. No Decimal.")
    tell.edit(
        "src/prices.py",
        "def family(children):\n    return 20.0 + children * 5.05\n",
        'def family(children: int) -> int:\n    """Return the price in cents."""\n    return 2000 + children * 505\n',
    )
    tell.run("uv run pytest tests/test_prices.py", "4 passed in 0.21s")
    tell.run('git commit -qam "Prices are integer cents"')
    tell.answer("Fixed: prices are integer cents from the till to the invoice. All 4 tests pass, and it is committed.")


def refunds(tell: Telling) -> None:
    """Add refunds, corrected on the way."""
    tell.ask("Add refunds: a ticket given back within a day is paid back less a fee of 10 percent.")
    tell.edit(
        "src/refunds.py",
        "def refund(price):\n    return price * 0.9\n",
        "def refund(cents: int) -> int:\n    return cents - -(-cents // 10)\n",
    )
    if not tell.learnt:
        tell.run("pytest tests/test_refunds.py", "ModuleNotFoundError: No module named 'harbour'", 1)
        tell.answer("Refunds are in, but pytest does not find the package.")
        tell.ask("No, don't call pytest directly here. Use `uv run pytest`, always.")
    tell.run("uv run pytest tests/test_refunds.py", "3 passed in 0.18s")
    tell.answer("Done: refunds work in integer cents and the fee is rounded up. 3 tests pass.")


def beacon(tell: Telling) -> None:
    """Deploy to the wrong host first."""
    tell.ask("Deploy the sensor service of the lighthouse to staging.")
    tell.run("ssh quay-1 systemctl restart sensors", "ssh: connect to host quay-1: Connection refused", 255)
    tell.answer("quay-1 refuses the connection. Shall I retry?")
    tell.ask("quay-1 is retired. Staging is quay-2, and only the user `deploy` may log in.")
    tell.run("ssh deploy@quay-2 systemctl restart sensors")
    tell.answer("Deployed: the sensor service runs on quay-2.")


def timetable(tell: Telling) -> None:
    """Fix the timetable on the day the clocks change."""
    tell.ask("The 02:30 ferry is missing on the day the clocks change. Passengers complain.")
    tell.read(
        "ferry/timetable.py", "def departures(day):\n    return [day.replace(hour=h, minute=30) for h in range(24)]\n"
    )
    tell.run("npm test", "Error: test timed out, browser never started", 1)
    tell.run("CI=1 npm test", "12 passing")
    tell.edit("ferry/timetable.py", "day.replace(hour=h, minute=30)", "local(day, h, 30)")
    tell.answer(
        "Departures are made in UTC now and shown in local time:\n\n"
        "| day | before | after |\n|---|---|---|\n| 29 March | 23 | 23 |\n| 25 October | 24 | 25 |"
    )
    tell.ask("Good. Is the night of 25 October right, with two half past twos?")
    tell.answer("Yes: the first is summer time, the second winter time; the board says which.")


def lamp(tell: Telling) -> None:
    """Make uploads retry."""
    tell.ask("Uploads from the lamp room break off on slow links. Make them retry without sending twice.")
    tell.edit(
        "src/upload.py",
        "send(part)",
        "for pause in (1, 5, 30):\n    if send(part, key=part.digest):\n        break\n    sleep(pause)",
    )
    tell.test("uv run pytest -q", "pytest -q", "27 passed in 3.02s")
    tell.run('git commit -qam "Uploads are repeated, never doubled"')
    tell.answer(
        "Each part carries its digest, so the server drops what it has already. Three tries: 1, 5 and 30 seconds."
    )


def gulls(tell: Telling) -> None:
    """Try something and give up."""
    tell.ask("Can the camera count the gulls on the pier?")
    tell.run("npm test", "Error: test timed out, browser never started", 1)
    tell.answer("With the model we have: 40 % are missed at dusk. I would not ship that.")
    tell.ask("Stop here then. We buy a counter.")


# The prompt, the file, its old and new content, and the final answer.
CHORES: dict[str, tuple[tuple[str, str, str, str, str], ...]] = {
    HARBOUR: (
        ("Berths can be booked twice when two clerks press save at once.", "src/berths.py",
         "if free(berth):\n    book(berth)", "with locked(berth):\n    if free(berth):\n        book(berth)",
         "The second clerk is told who was faster. Decided: a row lock, not a retry."),
        ("Invoices say the wrong month on the first of each month.", "src/invoice.py", "date.today()",
         "date.today() - timedelta(days=1)", "The invoice is for the month that ended. A test holds it on 1 March."),
        ("Make the list of moorings load faster; it takes four seconds.", "src/moorings.py",
         "[boat.owner for boat in boats]", "list(boats.join(owners))",
         "It was 312 queries, one for each boat. Now it is one: 4.1 s became 90 ms."),
        ("Let captains log in with a passkey besides the password.", "src/login.py", "check(password)",
         "check(passkey) or check(password)", "Passkeys work in Chrome and Firefox. The password stays for now."),
        ("Export the tolls of a quarter as CSV.", "src/tolls.py", "rows", "csv.writer(out).writerows(rows)",
         "The export is there, with a header and decimal commas, as the town wants it."),
    ),
    LIGHTHOUSE: (
        ("The fog sensor reports -40 degrees in summer.", "src/fog.py", "raw / 10", "signed(raw) / 10",
         "The cause: the value is signed. It reads 18.5 degrees now."),
        ("Alarms go out twice when the link comes back.", "src/alarm.py", "send(alarm)",
         "send(alarm, once=alarm.id)", "Each alarm has an id, and the receiver drops what it knows. 11 tests pass."),
        ("Move the lamp schedule from cron into the service.", "src/schedule.py", "os.system(line)",
         "scheduler.at(sunset, lamp.on)", "Cron is gone. The schedule follows the sunset and survives a restart."),
        ("Log lines of the sensors fill the disk in a week.", "src/log.py", "open(path, 'a')",
         "RotatingFileHandler(path, maxBytes=5_000_000)", "Ten files of 5 MB at most. Decided: no log service."),
        ("Draw the range of the light on the chart of the bay.", "src/chart.py", "circle(x, y, 18)",
         "arc(x, y, miles(18), hidden=cliffs)", "The arc stops at the cliffs. The picture is in docs/chart.png."),
    ),
    FERRY: (
        ("Bicycles are not counted against the capacity of the ferry.", "ferry/capacity.py", "len(people)",
         "len(people) + 2 * len(bicycles)", "A bicycle counts for two, as the crew asked. It is in the rules now."),
        ("Translate the ticket machine into Danish.", "ferry/words.py", "LANGUAGES = ('en',)",
         "LANGUAGES = ('en', 'da')", "All 214 phrases are there; 9 are marked for somebody who speaks it."),
        ("The board shows yesterday's delays until noon.", "ferry/delays.py", "cache(hours=12)", "cache(minutes=2)",
         "The cache was meant for the timetable, not for delays. Two minutes are enough."),
        ("Passengers want a message when the last ferry is cancelled.", "ferry/cancel.py", "log(trip)",
         "log(trip)\ntell(trip.passengers)", "Messages go out within a minute. Nobody is told twice."),
        ("Why does the deck plan overlap on phones?", "ferry/deck.css", "width: 900px", "width: min(900px, 100%)",
         "A fixed width. It fits a phone now; I checked 360 and 390 pixels."),
    ),
}  # fmt: skip


def chore(tell: Telling) -> None:
    """Do one of the small tasks of a project."""
    asked, path, old, new, ended = tell.dice.choice(CHORES[tell.writer.project])
    tell.ask(asked)
    tell.read(path, f"{old}\n")
    tell.edit(path, old, new)
    if tell.writer.project == FERRY:
        tell.run("CI=1 npm test", "38 passing")
    else:
        tell.test("uv run pytest -q", "pytest -q", f"{tell.dice.randrange(20, 90)} passed in 1.2s")
    tell.run(f'git commit -qam "{asked[:40].rstrip(".?")}"')
    tell.answer(ended)


STORIES: tuple[tuple[str, Act], ...] = (
    (HARBOUR, fares), (HARBOUR, refunds), (LIGHTHOUSE, beacon), (FERRY, timetable), (LIGHTHOUSE, lamp), (FERRY, gulls),
)  # fmt: skip
CHORE: tuple[tuple[str, Act], ...] = tuple((project, chore) for project in CHORES)


def write(
    person: Path, until: datetime, days: int, seed: int = 7, stories: tuple[tuple[str, Act], ...] = STORIES,
    learnt: bool = False,
) -> None:  # fmt: skip
    """Write the transcripts of the days before a moment into a user's home directory."""
    dice = random.Random(seed)  # noqa: S311  a story, not a secret
    for back in range(days, 0, -1):
        day = until - timedelta(days=back)
        busy = 0 if day.weekday() == 6 else dice.choice((0, 1, 1, 2, 3))
        for number in range(busy):
            project, story = dice.choice(stories)
            agent = dice.choice(AGENTS)
            start = day.replace(hour=8, minute=0, second=0) + timedelta(minutes=dice.randrange(600))
            story(Telling(agent(person, f"{seed}-{day:%j}-{number}", project, start), dice, learnt))


def lived(engram: Engram, person: Path, days: int, until: datetime | None = None) -> None:
    """Write a history, ingest it and dream: summaries, wiki and patterns follow."""
    write(person, until or datetime.now(UTC), days)
    engram.ingest([str(person)])
    engram.dream(force=True)
    set_world_states(engram)


def lived_long(home: Path, person: Path, weeks: int, rules: int = 2) -> None:
    """Write a history of many weeks with a dream in each; halfway the first patterns become rules, which then help."""
    now = datetime.now(UTC)
    for week in range(weeks):
        behind = timedelta(days=WEEK * (weeks - 1 - week))
        write(person, now - behind, WEEK, seed=week, stories=(*STORIES, *CHORE, *CHORE), learnt=week * 2 > weeks)
        with Engram(home, clock=Past(behind), embedder="static") as engram:
            engram.ingest([str(person)])
            engram.dream(force=week % 4 == 3)
            if week * 2 in (weeks, weeks + 1):
                approve(engram, rules)
    with Engram(home, embedder="static") as engram:
        set_world_states(engram)


def approve(engram: Engram, many: int) -> None:
    """Approve the most frequent patterns."""
    for pattern in engram.list_patterns(state="candidate")[:many]:
        engram.approve_pattern(pattern.id, reason="seen again and again", author="mara")


def set_world_states(engram: Engram) -> None:
    """Set the world states."""
    engram.set_world_state(
        "# Harbour town\n\nTickets (**harbour**) go live on Monday. The lighthouse deploys to quay-2 only.\n\n"
        "- prices are integer cents\n- staging is `quay-2`, user `deploy`",
        updated_by="mara",
    )  # fmt: skip
    engram.set_world_state("The timetable of the ferry is frozen until Friday.", updated_by="mara", project=FERRY)


def working(engram: Engram) -> dict[str, str]:
    """Start three agents, one of them waiting for a lock of another."""
    agents = (
        ("claude", HARBOUR, "Put season tickets into src/prices.py", "claude-opus-4-5"),
        ("codex", HARBOUR, "Round the refund fee for season tickets", "gpt-5-codex"),
        ("gemini", FERRY, "Winter timetable: check the night of the clock change", "gemini-3-pro"),
    )
    ids = {
        flavor: engram.register(flavor, summary, project=project, model=model, flavor=flavor)
        for flavor, project, summary, model in agents
    }
    engram.log(ids["claude"], "Prices for adults are in; children next.")
    engram.lock_resource(ids["claude"], f"{HARBOUR}/src/prices.py", note="season tickets")
    engram.lock_resource(ids["gemini"], f"{FERRY}/ferry/timetable.py", note="checking, not changing much")
    with suppress(Held):  # refused, and notified when it is free
        engram.lock_resource(ids["codex"], f"{HARBOUR}/src/prices.py", note="the fee")
    engram.send(ids["claude"], ids["codex"], "I am done with prices.py in ten minutes; the fee is yours then.")
    return ids
