"""The canonical name of a resource.

A path is resolved through links and `..`, then mapped from its worktree to the main checkout, so that
every worktree means the same file. Case is ignored where the file system ignores it.
"""

from __future__ import annotations

import os

from engram.errors import InvalidInput
from engram.platform import text
from engram.sessions import overlap, projects
from engram.types import Resource

_folding: dict[str, bool] = {}  # by directory; never changes
_CACHE_LIMIT = 1000
_MOST_WILDCARDS = 32  # maximum per segment, to keep the comparison of two globs fast


def parse_resource(name: str, cwd: str | None, project: str = "") -> Resource:
    """Parse a resource as a user writes it, relative to a directory."""
    name = text.validate_name("resource", name)
    if is_name(name, cwd):
        return Resource(kind="name", name=name, base=f"{name} in {project}", pattern=f"{name} in {project}")
    return _parse_path(name.removeprefix("file://"), cwd)


def is_name(name: str, cwd: str | None) -> bool:
    """Return whether this is a bare name like `db:migrations`; `C:\\x`, `./db:x` and `a/b:c` are paths."""
    scheme, colon, remainder = name.partition(":")
    bare = len(scheme) > 1 and scheme[0].isalpha() and not {"/", "\\"} & {*scheme, *remainder[:1]}
    return bool(colon) and bare and not os.path.exists(os.path.join(cwd or "/", name))


def folds_case(directory: str) -> bool:
    """Return whether the file system ignores case in this directory."""
    if directory not in _folding:
        if len(_folding) > _CACHE_LIMIT:
            _folding.clear()
        _folding[directory] = _detect_case_folding(directory)
    return _folding[directory]


def _detect_case_folding(directory: str) -> bool:
    for path in _list_ancestors(directory):
        parent, name = os.path.split(path)
        swapped = name.swapcase()
        if swapped != name and os.path.lexists(path):
            try:
                same = os.path.samefile(path, os.path.join(parent, swapped))
                # `README` may be a link to `readme`: two names in the listing are two files.
                return same and not {name, swapped} <= set(os.listdir(parent))
            except OSError:
                return False
    return False


def _parse_path(path: str, cwd: str | None) -> Resource:
    full_path = os.path.expanduser(path)
    if not os.path.isabs(full_path):
        if not cwd:
            raise InvalidInput(
                field="resource",
                reason=f"{path!r} is relative, but the session has no directory. Pass an absolute path.",
            )
        full_path = os.path.join(cwd, full_path)
    if overlap.is_glob(full_path) and not os.path.lexists(full_path):
        return _parse_glob(full_path)
    real = os.path.realpath(full_path)
    kind = "directory" if path.endswith(("/", os.sep)) or _may_hold_files(real) else "file"
    base = _to_main_checkout(real)
    return Resource(kind=kind, name=base, base=base, pattern=_escape_wildcards(base))


def _may_hold_files(real: str) -> bool:
    """Return whether this is or may become a directory: it exists as one, or is new and has no extension."""
    return os.path.isdir(real) or not (os.path.lexists(real) or "." in os.path.basename(real))


def _parse_glob(full_path: str) -> Resource:
    fixed: list[str] = []
    parts = full_path.split(os.sep)
    while parts and not overlap.is_glob(parts[0]):
        fixed.append(parts.pop(0))
    base = _to_main_checkout(os.path.realpath(os.sep.join(fixed) or os.sep))
    segments = [part for part in parts if part not in ("", ".")]
    if full_path.endswith(os.sep):  # a trailing slash means a directory and everything in it
        segments.append(overlap.ANY_DEPTH)
    if ".." in segments:
        raise InvalidInput(field="resource", reason="A glob cannot have '..' after a wildcard.")
    if any(part.count("*") + part.count("?") > _MOST_WILDCARDS for part in segments):
        raise InvalidInput(
            field="resource", reason=f"A glob can have at most {_MOST_WILDCARDS} wildcards per path segment."
        )
    if folds_case(base):
        segments = [part.casefold() for part in segments]
    # `a**b` does not cross directories: only a segment that is exactly `**` does.
    segments = [part if part == overlap.ANY_DEPTH else _collapse_stars(part) for part in segments]
    pattern = "/".join([_escape_wildcards(base).rstrip("/"), *segments])
    return Resource(kind="glob", name="/".join([base.rstrip("/"), *segments]), base=base, pattern=pattern)


def _collapse_stars(part: str) -> str:
    while "**" in part:
        part = part.replace("**", "*")
    return part


def _to_main_checkout(real: str) -> str:
    """Map a resolved path from its worktree to the main checkout, in normalized case."""
    location = projects.find_git_location(real if os.path.isdir(real) else os.path.dirname(real))
    if location.checkout != location.project:
        real = os.path.normpath(os.path.join(location.project, os.path.relpath(real, location.checkout)))
    shared = real.replace(os.sep, "/")
    return _fold_case(shared) if folds_case(os.path.dirname(real)) else shared


def _fold_case(path: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFC", path).casefold()


def _escape_wildcards(path: str) -> str:
    """Escape `*` and `?` in the name of an existing file."""
    return path.replace("*", "\ue02a").replace("?", "\ue03f")


def _list_ancestors(path: str) -> list[str]:
    ancestors = [path]
    while os.path.dirname(path) != path:
        path = os.path.dirname(path)
        ancestors.append(path)
    return ancestors
