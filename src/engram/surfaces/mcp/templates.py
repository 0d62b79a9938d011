"""The kinds of pages, by the form of their address; what is on them is in `resources`."""

from __future__ import annotations

SCHEME = "engram://"

_ABOUT = (
    ("world/{project}", "World state", "the maintained overview of a project, by its directory"),
    ("era/{month}", "Era", "what a month came to, such as 2026-11"),
    ("article/{folder}/{name}", "Article", "a page of the wiki: folder is concepts, connections or qa"),
    ("daily/{day}", "Daily log", "what was flushed on a day, such as 2026-11-16"),
    ("session/{id}", "Session", "one run of an agent: what it was about, its log, what was said last"),
    ("gist/{id}", "Gist", "what a session came to"),
    ("digest/{id}", "Digest", "the computed facts of a session: files, commands, tests, outcome"),
)
TEMPLATES = [
    {"uriTemplate": SCHEME + form, "name": form.partition("/")[0], "title": title, "description": about,
     "mimeType": "text/markdown"}
    for form, title, about in _ABOUT
]  # fmt: skip
