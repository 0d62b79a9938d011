"""The rules: each takes the story of a race and yields its violations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

from benchmarks.race.clock import ENDLESS, LONGEST, SECOND, SHORTEST, SLACK
from benchmarks.race.course import WISHES, truth
from benchmarks.race.story import GONE, Call, Hold, Story, holds


def check(story: Story) -> list[str]:
    """Return the violations of all rules."""
    rules = (
        crashes, clocks, double_grants, false_warnings, tokens, until, snapshots, deaths, told_once, gates, refusals,
    )  # fmt: skip
    return [f"{rule.__name__}: {breach}" for rule in rules for breach in rule(story)]


def crashes(story: Story) -> Iterator[str]:
    """No racer fails unexpectedly."""
    yield from (f"racer {life.name}: {life.crash}" for life in story.lives if life.crash)


def clocks(story: Story) -> Iterator[str]:
    """The clocks agree: they differ by less than half the duration of the shortest lock."""
    if story.clocks_apart() > SHORTEST * 60 * SECOND / 2:
        yield f"the racers' clocks are {story.clocks_apart() / 1e6} ms apart"


def double_grants(story: Story) -> Iterator[str]:
    """Two racers never hold locks that exclude each other, and overlapping locks are reported."""
    # No later grant returned before this, so locks that had certainly ended by then can be dropped.
    horizon = list(accumulate((hold.granted for hold in reversed(story.holds)), min))[::-1]
    standing: list[Hold] = []
    for hold, earliest in zip(story.holds, horizon, strict=True):
        standing = [old for old in standing if min(old.let_go, old.life.killed[0]) > earliest]
        for old in standing:
            if old.life is not hold.life and old.truth & hold.truth and _stands(story, old, hold):
                if old.excludes(hold):
                    yield f"{_name(hold)} was granted while {_name(old)} was held"
                elif old.token not in hold.overlaps:
                    yield f"{_name(hold)} was not warned of {_name(old)}"
        standing.append(hold)


def _stands(story: Story, old: Hold, new: Hold) -> bool:
    """Return whether an older lock certainly existed when a newer one was granted."""
    takeover = story.overtaken.get(old.token)
    if takeover and takeover.token < new.token and story.taken_between(takeover)[0] <= new.granted:
        return False  # another racer had taken it over; that takeover is checked separately
    return old.surely_until(new) > new.granted


def false_warnings(story: Story) -> Iterator[str]:
    """No overlap is reported that does not exist."""
    for hold in story.holds:
        for token in hold.overlaps:
            old = story.of_token.get(token)
            if old and not old.truth & hold.truth:
                yield f"{_name(hold)} was warned of {_name(old)}, which does not overlap"
            elif old and old.released < hold.asked:
                yield f"{_name(hold)} was warned of {_name(old)}, which had been released"


def tokens(story: Story) -> Iterator[str]:
    """No token is granted twice, and a request made after a grant gets a higher token."""
    seen = Counter(hold.token for life in story.lives for hold in holds(life))
    yield from (f"token {token} was granted {times} times" for token, times in seen.items() if times > 1)
    by_grant = sorted(story.holds, key=lambda hold: hold.granted)
    highest, known = -1, 0
    for hold in sorted(story.holds, key=lambda hold: hold.asked):
        while by_grant[known].granted < hold.asked:
            highest = max(highest, by_grant[known].token)
            known += 1
        if hold.token <= highest:
            yield f"{_name(hold)} was granted after token {highest}"


def until(story: Story) -> Iterator[str]:
    """The reported expiry of a lock is right."""
    for hold in story.holds:
        if not hold.asked + hold.life.lasts - SLACK <= hold.until <= hold.granted + hold.life.lasts + SLACK:
            yield f"{_name(hold)} was reported to last until {hold.until}, granted at {hold.granted}"
    for takeover in story.takeovers:
        old, latest = story.of_token.get(takeover.old_token), story.taken_between(takeover)[1]
        taker = story.of_session.get(takeover.taker)
        early = old.life.early(taker) if old and taker else 0
        if old and takeover.reason != GONE and latest < old.until - early - SLACK:
            yield f"{_name(old)} was taken {(old.until - latest) / SECOND:.3f} s before its end"


def snapshots(story: Story) -> Iterator[str]:
    """The lock table never contains two locks that exclude each other."""
    guilty = set()
    for tokens_then in story.snapshots:
        live = [story.of_token[token] for token in tokens_then if token in story.of_token]
        for n, hold in enumerate(live):
            for other in live[:n]:
                if hold.life is not other.life and hold.truth & other.truth and hold.excludes(other):
                    guilty.add((hold.token, other.token))
    yield from (f"tokens {first} and {second} were in the table together" for first, second in sorted(guilty))


def deaths(story: Story) -> Iterator[str]:
    """Only killed racers lose locks because their process is gone, and all their locks are lost for that reason."""
    for takeover in story.takeovers:
        life = story.of_session[takeover.holder]
        if takeover.reason == GONE and life.killed[0] > story.taken_between(takeover)[1]:
            yield f"{life.name} lost token {takeover.old_token} as gone while it was running"
    for hold in story.holds:
        if hold.life.killed[0] < ENDLESS and hold.let_go == ENDLESS and hold.mode != "announce":
            passed = story.overtaken.get(hold.token)
            if passed is None or (passed.reason != GONE and hold.life.lasts > LONGEST * 60 * SECOND):
                yield f"{_name(hold)} outlived its holder: {passed}"


def told_once(story: Story) -> Iterator[str]:
    """Every session that lost a lock is notified once, unless it was killed."""
    reported = Counter(
        (life.session, token)
        for life in story.lives for call in life.calls for token in call.facts.get("told", ())
    )  # fmt: skip
    for takeover in story.takeovers:
        life = story.of_session[takeover.holder]
        times = reported.pop((takeover.holder, takeover.old_token), 0)
        if times > 1 or (times == 0 and life.killed[0] == ENDLESS):
            yield f"{life.name} was notified {times} times of losing token {takeover.old_token}"
    yield from (
        f"{session} was notified of losing token {token}, which was not taken over" for session, token in reported
    )


def gates(story: Story) -> Iterator[str]:
    """A token that was taken over is refused everywhere; any other token is accepted everywhere."""
    for life in story.lives:
        for call in life.calls:
            token = call.facts.get("token")
            if token is None or not call.outcome:
                continue
            takeover = story.overtaken.get(token)
            if call.outcome == "ok" and takeover and story.taken_between(takeover)[1] < call.start:
                yield f"{life.name} passed {call.op} with token {token}, which {takeover.taker} had taken over"
            if call.outcome == "stale" and not takeover:
                yield f"{life.name} was refused at {call.op} with token {token}, which was not taken over"
            if call.outcome == "held" and call.facts["mode"] == "exclusive":
                yield f"{life.name} holds token {token} but was refused at {call.op}"
            if (call.op, call.outcome) == ("release", "ok") and token not in call.facts["tokens"]:
                yield f"{life.name} released token {token} and nothing was freed"


def refusals(story: Story) -> Iterator[str]:
    """No request is refused because of a lock that does not conflict, has ended, or belonged to a killed racer."""
    for life in story.lives:
        for call in life.calls:
            if (call.op, call.outcome) == ("lock", "held"):
                wanted = frozenset().union(*(truth(WISHES[index].covers) for index in call.facts["wishes"]))
                for old in (story.of_token[token] for token in call.facts["tokens"] if token in story.of_token):
                    problem = _no_reason(story, call, wanted, old)
                    if problem:
                        yield f"{life.name} was refused {sorted(wanted)} for {_name(old)}, which {problem}"


def _no_reason(story: Story, call: Call, wanted: frozenset[str], old: Hold) -> str:
    takeover = story.overtaken.get(old.token)
    if not old.truth & wanted:
        return "does not overlap"
    if (
        old.mode == "announce"
        or (old.mode, call.facts["mode"]) == ("shared", "shared")
        or call.facts["mode"] == "announce"
    ):
        return "does not exclude it"
    if old.released < call.start or (takeover and story.taken_between(takeover)[1] < call.start):
        return "had ended"
    if old.life.killed[1] < call.start:
        return "belonged to a killed racer"
    apart = story.clocks_apart() + SLACK
    if max(old.granted, old.life.possible_sign(call.end)) + old.life.lasts + apart < call.start:
        return "had expired"
    return ""


def _name(hold: Hold) -> str:
    return f"token {hold.token} ({hold.mode}, {hold.life.name}, {len(hold.truth)} of {min(hold.truth)})"
