"""Words for months, days, seasons, holidays and amounts of time. Pure."""

from __future__ import annotations

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
NUMBER_OF = {name[:3]: number for number, name in enumerate(MONTHS, 1)}
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS = {"winter": 12, "spring": 3, "summer": 6, "autumn": 9, "fall": 9}
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
LOOSE = {"couple": (2, 2), "few": (2, 5), "several": (3, 8)}
HOURS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
FEASTS = {
    "christmas day": (12, 25, 1), "christmas eve": (12, 24, 1), "christmas": (12, 24, 3), "boxing day": (12, 26, 1),
    "new year's eve": (12, 31, 1), "new year's day": (1, 1, 1), "new year's": (12, 31, 2), "new year": (12, 31, 2),
    "halloween": (10, 31, 1), "valentine's day": (2, 14, 1),
}  # fmt: skip
IN_MONTHS = {"month": 1, "quarter": 3, "year": 12}
IN_SECONDS = {"minute": 60, "hour": 3600}
THIRDS = {"early": (1, 13), "mid": (9, 23), "late": (18, 32)}  # days of a month: people are not exact
PLACES = {"beginning": "early", "start": "early", "middle": "mid", "end": "late"}
