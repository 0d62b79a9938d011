"""The URI templates of resources; `resources` renders their content."""

from __future__ import annotations

SCHEME = "engram://"

_ABOUT = (
    ("world/{project}", "World state", "overview of a project, by its directory"),
    ("era/{month}", "Era", "summary of a month, such as 2026-11"),
    ("article/{folder}/{name}", "Article", "wiki page; folder is concepts, connections or qa"),
    ("daily/{day}", "Daily log", "log entries of a day, such as 2026-11-16"),
    ("session/{id}", "Session", "one run of an agent: its task, log and last messages"),
    ("gist/{id}", "Gist", "summary of a session"),
    ("digest/{id}", "Digest", "facts of a session: files, commands, tests, outcome"),
)
TEMPLATES = [
    {"uriTemplate": SCHEME + form, "name": form.partition("/")[0], "title": title, "description": about,
     "mimeType": "text/markdown"}
    for form, title, about in _ABOUT
]  # fmt: skip
