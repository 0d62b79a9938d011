"""The one canonical name of a resource.

A path is resolved through links and `..`, then moved from its worktree to the main checkout, so that
every worktree means the same file. Where the file system ignores case, so do we.
"""

from __future__ import annotations

import os

from engram import text
from engram.coordination import overlap, projects
from engram.errors import InvalidInput
from engram.model import Resource

_folding: dict[str, bool] = {}  # what a directory once said of itself does not change
_REMEMBERED = 1000
_WILDEST = 32  # wildcards in a segment; comparing two wild ones must not keep other writers waiting


def canonical(given: str, cwd: str | None, project: str = "") -> Resource:
    """Return what a user's word for a resource means, seen from a directory."""
    given = text.name("resource", given)
    if is_name(given, cwd):
        return Resource(kind="name", name=given, base=f"{given} in {project}", pattern=f"{given} in {project}")
    return _path(given.removeprefix("file://"), cwd)


def is_name(given: str, cwd: str | None) -> bool:
    """Tell whether this is a bare name like `db:migrations`; `C:\\x`, `./db:x` and `a/b:c` are paths."""
    scheme, colon, rest = given.partition(":")
    bare = len(scheme) > 1 and scheme[0].isalpha() and not {"/", "\\"} & {*scheme, *rest[:1]}
    return bool(colon) and bare and not os.path.exists(os.path.join(cwd or "/", given))


def folds_case(directory: str) -> bool:
    """Tell whether the file system takes `A` and `a` for the same name here."""
    if directory not in _folding:
        if len(_folding) > _REMEMBERED:
            _folding.clear()
        _folding[directory] = _folds_case(directory)
    return _folding[directory]


def _folds_case(directory: str) -> bool:
    for part in _upwards(directory):
        above, name = os.path.split(part)
        swapped = name.swapcase()
        if swapped != name and os.path.lexists(part):
            try:
                same = os.path.samefile(part, os.path.join(above, swapped))
                # `README` may be a link to `readme`: two names in the listing are two names.
                return same and not {name, swapped} <= set(os.listdir(above))
            except OSError:
                return False
    return False


def _path(given: str, cwd: str | None) -> Resource:
    full = os.path.expanduser(given)
    if not os.path.isabs(full):
        if not cwd:
            raise InvalidInput(field="resource", reason=f"{given!r} is relative, and the session has no directory.")
        full = os.path.join(cwd, full)
    if overlap.is_glob(full) and not os.path.lexists(full):
        return _glob(full)
    real = os.path.realpath(full)
    kind = "directory" if given.endswith(("/", os.sep)) or _may_hold_files(real) else "file"
    base = _shared(real)
    return Resource(kind=kind, name=base, base=base, pattern=_literal(base))


def _may_hold_files(real: str) -> bool:
    """Tell whether files may lie below: what does not exist yet and bears no extension may become a directory."""
    return os.path.isdir(real) or not (os.path.lexists(real) or "." in os.path.basename(real))


def _glob(full: str) -> Resource:
    fixed: list[str] = []
    parts = full.split(os.sep)
    while parts and not overlap.is_glob(parts[0]):
        fixed.append(parts.pop(0))
    base = _shared(os.path.realpath(os.sep.join(fixed) or os.sep))
    rest = [part for part in parts if part not in ("", ".")]
    if full.endswith(os.sep):  # directories are meant, and a directory is all that lies in it
        rest.append(overlap.ANY_DEPTH)
    if ".." in rest:
        raise InvalidInput(field="resource", reason="a glob must not hold '..' behind a wildcard.")
    if any(part.count("*") + part.count("?") > _WILDEST for part in rest):
        raise InvalidInput(field="resource", reason=f"a glob takes {_WILDEST} wildcards between two slashes at most.")
    if folds_case(base):
        rest = [part.casefold() for part in rest]
    # `a**b` crosses no directory: only a segment that is `**` alone does.
    rest = [part if part == overlap.ANY_DEPTH else _single_stars(part) for part in rest]
    pattern = "/".join([_literal(base).rstrip("/"), *rest])
    return Resource(kind="glob", name="/".join([base.rstrip("/"), *rest]), base=base, pattern=pattern)


def _single_stars(part: str) -> str:
    while "**" in part:
        part = part.replace("**", "*")
    return part


def _shared(real: str) -> str:
    """Move a resolved path from its worktree to the main checkout, in one spelling."""
    where = projects.place(real if os.path.isdir(real) else os.path.dirname(real))
    if where.checkout != where.project:
        real = os.path.normpath(os.path.join(where.project, os.path.relpath(real, where.checkout)))
    shared = real.replace(os.sep, "/")
    return _folded(shared) if folds_case(os.path.dirname(real)) else shared


def _folded(path: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFC", path).casefold()


def _literal(path: str) -> str:
    """Keep `*` and `?` in the name of an existing file from acting as wildcards."""
    return path.replace("*", "\ue02a").replace("?", "\ue03f")


def _upwards(path: str) -> list[str]:
    found = [path]
    while os.path.dirname(path) != path:
        path = os.path.dirname(path)
        found.append(path)
    return found
