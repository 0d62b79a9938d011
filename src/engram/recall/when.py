"""Time expressions in a question, read against the asker's clock.

Every pattern is bounded, so reading is linear in the text. What could lie ahead is read as the last time it was: a
bare "in May" asked in March is last year's. Days are taken from the calendar, never by adding hours, so a window
begins and ends at the asker's midnight also where the clocks change.
"""

from __future__ import annotations

import re
from functools import cache

from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date, datetime
    from re import Match, Pattern

    _Make = Callable[[Match[str], datetime, str], "_Found | None"]
    _Place = tuple[Match[str], _Make]


@value
class Window:
    """A stretch of time somebody speaks of: from `since` up to, but without, `until`."""

    since: datetime | None
    until: datetime | None
    words: tuple[int, int]
    certain: bool = True


@value
class _Found:
    """One expression before the words around it are taken into account."""

    since: datetime
    until: datetime
    certain: bool = True
    dated: bool = False  # it names its year, so it may lie ahead
    weak: bool = False  # it may be another word: only one like "in" before it makes it a time


_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_NUMBER_OF = {name[:3]: number for number, name in enumerate(_MONTHS, 1)}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SEASONS = {"winter": 12, "spring": 3, "summer": 6, "autumn": 9, "fall": 9}
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_LOOSE = {"couple": (2, 2), "few": (2, 5), "several": (3, 8)}
_HOURS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
_FEASTS = {
    "christmas day": (12, 25, 1), "christmas eve": (12, 24, 1), "christmas": (12, 24, 3), "boxing day": (12, 26, 1),
    "new year's eve": (12, 31, 1), "new year's day": (1, 1, 1), "new year's": (12, 31, 2), "new year": (12, 31, 2),
    "halloween": (10, 31, 1), "valentine's day": (2, 14, 1),
}  # fmt: skip
_IN_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_IN_SECONDS = {"minute": 60, "hour": 3600}
_THIRDS = {"early": (1, 13), "mid": (9, 23), "late": (18, 32)}  # of a month; people are not exact
_PLACES = {"beginning": "early", "start": "early", "middle": "mid", "end": "late"}
_SINCE, _BEFORE, _UNTIL = ("since", "ever since"), ("before", "prior to"), ("until", "till", "up to", "by")
_WITHIN = ("in", "on", "during", "throughout", "over", "from", "between")
_FIRM = {*_SINCE, *_BEFORE, *_UNTIL, *_WITHIN, "after"} - {"over"}
_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
_LEAD = re.compile(
    rf"(?<![\w-])(?:(?P<lead>{'|'.join((*_SINCE, *_BEFORE, *_UNTIL, *_WITHIN))}|after|at|within|for|around)"
    r"|(?P<ahead>next|coming|upcoming|following|every|each|black|good))\s{1,3}(?:the\s{1,3})?$"
)
_JOINT = re.compile(r"\s{1,3}(?P<word>and|to|until|till|through|thru|[-–—])\s{1,3}(?:the\s{1,3})?|(?P<dash>[-–])")


def window(text: str, now: datetime) -> Window | None:
    """Return the time a text speaks of, as somebody asking at `now` means it."""
    vague = None
    for found in _Reading(text, now).windows():
        if found.certain:
            return found
        vague = vague or found
    return vague


class _Reading:
    """A text being read at a certain time."""

    def __init__(self, text: str, now: datetime) -> None:
        low = text.lower()
        if len(low) != len(text):  # some letters become two; each must stay at its place
            low = "".join(each.lower() if len(each.lower()) == 1 else each for each in text)
        self.said = _CODE.sub(lambda code: "\0" * len(code[0]), low)
        self.text, self.now = text, now

    def windows(self) -> Iterator[Window]:
        """Yield every time that is spoken of, in order."""
        places = list(self.places())
        taken = -1
        for number, (match, make) in enumerate(places):
            one = self.made(make, match, self.now) if number > taken else None
            if one is None:
                continue
            lead = _LEAD.search(self.said, max(match.start() - 24, 0), match.start())
            start = lead.start() if lead else match.start()
            if both := self.joined(one, lead, places[number : number + 2]):
                taken = number + 1
                yield Window(both.since, both.until, (start, places[taken][0].end()), both.certain)
            elif read := _led(one, lead, self.now):
                loose = lead and lead["lead"] in ("by", "around")
                yield Window(*read, words=(start, match.end()), certain=one.certain and not loose)

    def places(self) -> Iterator[_Place]:
        """Yield the expressions in order; of those that overlap, the first and longest."""
        every = [(match, make) for pattern, make in _rules() for match in pattern.finditer(self.said)]
        every.sort(key=lambda each: (each[0].start(), -each[0].end()))
        end = 0
        for match, make in every:
            if match.start() >= end:
                end = match.end()
                yield match, make

    def made(self, make: _Make, match: Match[str], now: datetime) -> _Found | None:
        """Read one expression."""
        try:
            return make(match, now, self.text)
        except (ValueError, OverflowError, OSError):  # 30 February, 9999 years ago
            return None

    def joined(self, one: _Found, lead: Match[str] | None, places: list[_Place]) -> _Found | None:
        """Return the stretch from one expression to the next, where words join them."""
        if len(places) < 2 or not self.joins(lead, places):
            return None
        (match, make), (then, make_then) = places
        two = self.made(make_then, then, self.now)
        if two is None or (lead is None and (one.weak or two.weak)):
            return None
        if one.since.timestamp() >= two.until.timestamp():  # from November to February
            one = self.made(make, match, two.since) or one
        ordered = one.since.timestamp() < two.until.timestamp()
        return _Found(one.since, two.until, one.certain and two.certain) if ordered else None

    def joins(self, lead: Match[str] | None, places: list[_Place]) -> bool:
        """Tell whether the words between two expressions make one of them."""
        joint = _JOINT.fullmatch(self.said, places[0][0].end(), places[1][0].start())
        word = lead["lead"] if lead else None
        if joint is None or (lead and word not in _WITHIN):
            return False
        if word == "between" or joint["word"] == "and":
            return word == "between" and joint["word"] == "and"
        return word == "from" or joint["word"] not in ("-", "–", "—")


def _led(one: _Found, lead: Match[str] | None, now: datetime) -> tuple[datetime | None, datetime | None] | None:
    """Return what an expression means with the word before it."""
    word = lead["lead"] if lead else None
    since = one.until if word == "after" else one.since
    if (lead and not word) or (one.weak and word not in _FIRM):
        return None
    if word in (*_BEFORE, *_UNTIL):
        return None, one.since if word in _BEFORE else one.until
    if not one.dated and since.timestamp() > now.timestamp():
        return None
    return since, None if word in (*_SINCE, "after") else one.until


# ---- The calendar


def _at(now: datetime, day: date, hour: int = 0) -> datetime:
    """Return an hour of a day on the asker's clock; 24 and more are in the next day."""
    day, hour = _later(day, hour // 24), hour % 24
    start = now.replace(hour=hour, minute=0, second=0, microsecond=0, fold=0)
    return start.replace(year=day.year, month=day.month, day=day.day)


def _later(day: date, days: int) -> date:
    return day.fromordinal(day.toordinal() + days)


def _months_on(day: date, months: int) -> date:
    """Return the same day of another month, or that month's last."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return day.replace(year=year, month=month + 1, day=min(day.day, _length(day, year, month + 1)))


def _length(day: date, year: int, month: int) -> int:
    following = day.replace(year=year + month // 12, month=month % 12 + 1, day=1)
    return _later(following, -1).day


def _days(now: datetime, first: date, end: date, certain: bool = True, **facts: bool) -> _Found:
    return _Found(_at(now, first), _at(now, end), certain, **facts)


def _date(now: datetime, year: int | None, month: int, day: int = 1) -> date:
    """Return a day of a year, or the latest that is not ahead; most years have no leap day."""
    today = now.date()
    if year is not None:
        return today.replace(year=year, month=month, day=day)
    for each in range(today.year, today.year - 9, -1):
        if day <= _length(today, each, month) and (found := today.replace(year=each, month=month, day=day)) <= today:
            return found
    raise ValueError("no such day")


def _ended(now: datetime, first: date, end: date) -> date:
    """Return the first day of what is over: "last May" is not the one that still lasts."""
    return first if end <= now.date() else _months_on(first, -12)


def _ago_of(now: datetime, seconds: float) -> datetime:
    return now.fromtimestamp(now.timestamp() - seconds, now.tzinfo)


# ---- What the words say


def _count(word: str) -> tuple[int, int]:
    """Return the least and the most a number word stands for."""
    number = int(word) if word.isdigit() else _NUMBERS.index(word) + 1 if word in _NUMBERS else 1
    return next((bounds for loose, bounds in _LOOSE.items() if loose in word), (number, number))


def _back(day: date, count: int, unit: str) -> date:
    if unit in ("day", "week"):
        return _later(day, -count * (7 if unit == "week" else 1))
    return _months_on(day, -count * _IN_MONTHS[unit])


def _ago(match: Match[str], now: datetime, _: str) -> _Found:
    low, high = sorted((_count(match["low"])[0], _count(match["high"] or match["low"])[1]))
    unit = match["unit"]
    if seconds := _IN_SECONDS.get(unit):
        return _Found(_ago_of(now, (high + 0.5) * seconds), _ago_of(now, max(low - 0.5, 0) * seconds), certain=False)
    loose = bool(match["about"] or match["high"] or any(word in match["low"] for word in _LOOSE))
    slack = max(1, high // 4) if match["about"] or "couple" in match["low"] else 0
    around = {"day": 0, "week": 3, "month": 15, "year": 182}[unit]
    first = _later(_back(now.date(), high + slack, unit), -around)
    end = _later(_back(now.date(), max(low - slack, 0), unit), around + 1)
    return _days(now, first, min(end, _later(now.date(), 1)), not loose)


def _rolling(match: Match[str], now: datetime, _: str) -> _Found:
    """Read "the last three weeks": up to now."""
    word, unit = match.groupdict().get("low") or "one", match["unit"]
    certain, count = not any(loose in word for loose in _LOOSE), _count(word)[1]
    seconds = _IN_SECONDS.get(unit)
    since = _ago_of(now, count * seconds) if seconds else _at(now, _back(now.date(), count, unit))
    return _Found(since, _at(now, _later(now.date(), 1)), certain)


def _period(match: Match[str], now: datetime, _: str) -> _Found:
    """Read "last week", "this quarter", "the month before last"."""
    today, back = now.date(), {"this": 0, "before": 2}.get(match["which"], 1)
    if match["unit"] == "week":
        first = _later(today, -today.weekday() - 7 * back)
        return _days(now, first, _later(first, 7))
    months = _IN_MONTHS[match["unit"]]
    first = _months_on(today.replace(month=(today.month - 1) // months * months + 1, day=1), -months * back)
    return _days(now, first, _months_on(first, months))


def _weekend(match: Match[str], now: datetime, _: str) -> _Found:
    today, which = now.date(), match["which"]
    lasts = today.weekday() >= 5
    saturday = _later(today, -((today.weekday() - 5) % 7))
    if lasts and which not in ("this", "the"):
        saturday = _later(saturday, -7)
    return _days(now, saturday, _later(saturday, 2), certain=lasts or which != "this")


def _day_word(match: Match[str], now: datetime, _: str) -> _Found:
    back = 2 if "before" in match[0] else 1 if match[0].startswith(("yesterday", "last")) else 0
    return _part_of(now, _later(now.date(), -back), match["part"] or ("night" if "night" in match[0] else None))


def _part_of(now: datetime, day: date, part: str | None) -> _Found:
    """Return a day or a part of it; a part that is yet to come stands for the whole day."""
    if part and _at(now, day, _HOURS[part][0]).timestamp() <= now.timestamp():
        begin, end = _HOURS[part]
        return _Found(_at(now, day, begin), _at(now, day, end))
    return _days(now, day, _later(day, 1), certain=not part)


def _weekday(match: Match[str], now: datetime, text: str) -> _Found | None:
    """Read "Monday", "last Tuesday night", "Friday last week": the latest before today."""
    given, today, name = match.groupdict(), now.date(), match["weekday"]
    if name in ("mon", "wed", "sat", "sun") and text[match.start("weekday")].islower():
        return None
    back = today.weekday() - [each[:3] for each in _DAYS].index(name[:3])
    back = back + 7 if given.get("week") else back % 7 or (0 if given["which"] == "this" else 7)
    found = _part_of(now, _later(today, -back), given.get("part"))
    return _Found(found.since, found.until, found.certain, weak=not (name in _DAYS or given["which"]))


def _year_of(match: Match[str], now: datetime) -> int | None:
    """Return the year that is named, also as "last year"."""
    if match["year"]:
        return int(match["year"])
    return now.year - (match["of"] == "last") if match["of"] else None


def _third(match: Match[str]) -> str | None:
    word = (match["third"] or "").removeprefix("the").split(maxsplit=1)[:1]
    return _PLACES.get(word[0], word[0]) if word else None


def _month(match: Match[str], now: datetime, text: str) -> _Found | None:
    """Read "May", "last May", "late May 2024", "May of last year"."""
    name, year, third, which = match["month"], _year_of(match, now), _third(match), match["which"]
    if which == "this" and name in ("may", "march") and text[match.start("month")].islower():
        return None
    first = _date(now, year, _NUMBER_OF[name[:3]])
    if which == "last":
        first = _ended(now, first, _months_on(first, 1))
    bare = not (third or which or year)
    weak = bare and (name not in _MONTHS or name in ("march", "april", "may", "june", "august"))
    begun, end = first, _months_on(first, 1)
    if third:
        begin, stop = _THIRDS[third]
        begun, end = _later(first, begin - 1), min(_later(first, stop - 1), end)
        if not year and begun > now.date():
            begun, end = _months_on(begun, -12), _months_on(end, -12)
    return _days(now, begun, end, not third, dated=bool(match["year"]), weak=weak)


def _month_day(match: Match[str], now: datetime, text: str) -> _Found:
    """Read "May 3rd", "3 May 2024", "May 3-7"."""
    year, month = _year_of(match, now), match["month"]
    first = _date(now, year, _NUMBER_OF[month[:3]], int(match["day"]))
    last = int(match.groupdict().get("last") or 0)
    end = _later(first.replace(day=last) if last > first.day else first, 1)
    ordinal = match["nth"] and (match.start("day") > match.start("month") or " of" in match[0])
    verb = month in ("may", "march") and text[match.start("month")].islower()
    return _days(now, first, end, dated=bool(match["year"]), weak=bool(verb and not year and not ordinal))


def _iso(match: Match[str], now: datetime, _: str) -> _Found:
    day = _date(now, int(match["year"]), int(match["month"]), int(match["day"] or 1))
    return _days(now, day, _later(day, 1) if match["day"] else _months_on(day, 1), dated=True)


def _slashed(match: Match[str], now: datetime, _: str) -> _Found:
    """Read 05/03/2024: the month first, unless there is no such month."""
    one, two, year = int(match["one"]), int(match["two"]), int(match["year"])
    month, day = (two, one) if one > 12 else (one, two)
    first = _date(now, year + 2000 * (year < 100), month, day)
    return _days(now, first, _later(first, 1), certain=max(one, two) > 12 or one == two, dated=True)


def _year(match: Match[str], now: datetime, _: str) -> _Found:
    third = _third(match) or "all"
    begin, months = {"early": (0, 4), "mid": (4, 5), "late": (8, 4), "all": (0, 12)}[third]
    first = _months_on(_date(now, int(match["year"]), 1), begin)
    return _days(now, first, _months_on(first, months), third == "all", dated=True, weak=third == "all")


def _quarter(match: Match[str], now: datetime, _: str) -> _Found:
    year = int(match["year"] or match["sooner"] or 0) or None
    first = _date(now, year, int(match["quarter"]) * 3 - 2)
    return _days(now, first, _months_on(first, 3), certain=bool(year), dated=bool(year))


def _season(match: Match[str], now: datetime, text: str) -> _Found | None:
    """Read "last summer", "in the spring", "winter of 2023"; nobody means the same days."""
    year, name, which = _year_of(match, now), match["season"], match["which"]
    if not (year or which) and text.startswith("Spring", match.start("season")):
        return None  # that is the framework
    first = _date(now, year, _SEASONS[name])
    if which == "last":
        first = _ended(now, first, _months_on(first, 3))
    # The winter of a year is the one it begins with or the one it ends with.
    begun = _months_on(first, -12) if year and name == "winter" else first
    return _days(now, begun, _months_on(first, 3), False, dated=bool(match["year"]), weak=not (year or which))


def _feast(match: Match[str], now: datetime, _: str) -> _Found:
    """Read "last Christmas", "New Year 2024"."""
    name, year = match["feast"].replace("’", "'"), _year_of(match, now)
    month, day, length = _FEASTS[name]
    if year and name in ("new year", "new year's"):
        year -= 1
    first = _date(now, year, month, day)
    if match["which"] == "last":
        first = _ended(now, first, _later(first, length))
    return _days(now, first, _later(first, length), length == 1, dated=bool(match["year"]))


def _vague(match: Match[str], now: datetime, _: str) -> _Found:
    days = 14 if match[0].startswith("the") else 30
    return _days(now, _later(now.date(), -days), _later(now.date(), 1), certain=False)


# ---- What the words look like

_S = r"\s{1,3}"
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
_DAY = r"(?P<day>[0-9]{1,2})(?P<nth>st|nd|rd|th)?"
_CENTURY = "(?:19|20)[0-9]{2}"
_YEAR = rf"(?P<year>{_CENTURY})(?![\w%]|[-./,:][0-9])"
_OF = rf"(?:,?{_S}(?:of{_S})?(?:(?P<of>last|this){_S}year\b|{_YEAR}))?"
_WEEKDAY = rf"(?P<weekday>{'|'.join(_DAYS)})"
_COUNT = rf"(?:[0-9]{{1,4}}|{'|'.join(_NUMBERS)}|(?:a{_S})?(?:couple(?:{_S}of)?|few)|several|an?)"
_UNIT = r"(?P<unit>minute|hour|day|week|month|year)s?\b"
_PART = rf"(?:{_S}(?P<part>morning|afternoon|evening|night))?\b"
_THIRD = rf"(?P<third>early|mid|late|(?:the{_S})?(?:beginning|start|middle|end){_S}of)(?:{_S}|-)"
_ABOUT = rf"(?P<about>(?:about|around|roughly|approximately|nearly|almost|some|over|more\sthan){_S}|~)?"
_TO = rf"(?:\s?(?:-|–|to|or)\s?(?P<high>{_COUNT}))?"
_ALONE, _ENDS = r"(?<![\w./:#-])", r"(?![\w/-]|[.:,]\w)"  # no part of a path, a version or a larger number
_NO_DATE = rf"(?!,?{_S}(?:the{_S})?(?:[0-9]{{1,2}}(?:st|nd|rd|th)?{_S}(?:of{_S})?)?(?:{'|'.join(_MONTHS)})\b)"
_NO_VERB = rf"(?!{_S}(?:under|into|in|on|apart|back|through|short|down|off|over|behind|out|for)\b)"
_NO_MEASURE = rf"(?!{_S}(?:bytes|lines|ms|seconds|tokens|words|files|rows|people|users|times|items|[kmg]b|px|k?m)\b)"
_ISO_DAY = r"(?P<mark>[-/])(?P<month>[0-9]{1,2})(?:(?P=mark)(?P<day>[0-9]{1,2})(?:t[0-9:.]{2,15}z?)?)?"
_LONG = r"(?P<unit>week|month|quarter|year)\b"
_FEAST = "|".join(_FEASTS).replace("'", "['’]")
_PATTERNS: list[tuple[str, _Make]] = [
    (rf"{_ALONE}(?<!half\s){_ABOUT}(?P<low>{_COUNT}){_TO}{_S}{_UNIT}{_S}(?:ago|back)\b", _ago),
    (rf"\b(?:the{_S})?(?:last|past|previous){_S}(?P<low>{_COUNT}){_S}{_UNIT}", _rolling),
    (rf"\b(?:the{_S}(?:last|past)|past){_S}{_LONG}(?!{_S}of\b)", _rolling),
    (rf"\b(?:earlier{_S})?(?P<which>this|last|previous){_S}{_LONG}", _period),
    (rf"\b(?:the{_S})?{_LONG}{_S}(?P<which>before){_S}last\b", _period),
    (rf"\b(?P<which>this|last|past|previous|the){_S}weekend\b", _weekend),
    (rf"\b(?:(?:the{_S})?day{_S}before{_S}yesterday|yesterday|(?:earlier{_S})?today){_PART}(?!\()", _day_word),
    (rf"\b(?:this{_S}(?P<part>morning|afternoon|evening)|last{_S}night|tonight|night{_S}before{_S}last)\b", _day_word),
    (
        rf"{_ALONE}(?:(?P<which>last|this|past){_S})?{_WEEKDAY}{_PART}(?!-){_NO_DATE}(?:{_S}(?:of{_S})?(?P<week>last{_S}week\b))?",
        _weekday,
    ),
    (rf"\b(?P<week>last{_S}week){_S}(?:on{_S})?{_WEEKDAY}{_PART}", _weekday),
    (rf"{_ALONE}(?:(?P<which>last|this){_S})?(?P<weekday>mon|tues?|wed|thu|thurs?|fri|sat|sun)\b(?![-'’])", _weekday),
    (rf"\b(?:{_THIRD}|(?P<which>last|this){_S})?{_MONTH}(?![-'’]|{_S}[0-9]{{1,2}}(?:st|nd|rd|th)?\b){_OF}", _month),
    (rf"\b{_MONTH}{_S}{_DAY}(?:\s?[-–]\s?(?P<last>[0-9]{{1,2}}))?(?![\w:]|[-./,:][0-9]){_OF}", _month_day),
    (rf"{_ALONE}(?:the{_S})?{_DAY}{_S}(?:of{_S})?{_MONTH}{_OF}", _month_day),
    (rf"{_ALONE}(?P<year>{_CENTURY}){_ISO_DAY}{_ENDS}", _iso),
    (rf"{_ALONE}(?P<one>[0-9]{{1,2}})/(?P<two>[0-9]{{1,2}})/(?P<year>{_CENTURY}|[0-9]{{2}}){_ENDS}", _slashed),
    (rf"(?:\b{_THIRD}|{_ALONE}){_YEAR}{_NO_MEASURE}", _year),
    (rf"{_ALONE}(?:(?P<sooner>{_CENTURY})[ -]?)?q(?P<quarter>[1-4])(?![\w.])(?:,?{_S}(?:of{_S})?{_YEAR})?", _quarter),
    (rf"\b(?:(?P<which>last|this|over{_S}the){_S})?(?P<season>{'|'.join(_SEASONS)})\b{_NO_VERB}{_OF}", _season),
    (rf"\b(?:(?P<which>last|this){_S})?(?P<feast>{_FEAST})(?!\w){_OF}", _feast),
    (rf"\b(?:recently|lately|the{_S}other{_S}day)\b", _vague),
]


@cache
def _rules() -> list[tuple[Pattern[str], _Make]]:
    """Return every pattern with what reads it, compiled when first asked for."""
    return [(re.compile(pattern), make) for pattern, make in _PATTERNS]
