"""Domains: which part of the work a repository belongs to, as somebody's map says."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from engram.store.engine import Engine

_PUT = """
insert into domains (repo, domain) values (:repo, :domain)
on conflict (repo) do update set domain = excluded.domain
"""

# Of the keys a project may stand under, the longest says most.
OF_PROJECT = """
(select d.domain from domains d where d.repo in (:path, :tail, :name) order by length(d.repo) desc limit 1)
"""

_ATTRIBUTE = "update sessions set domain = :domain where project = :project and domain <> :domain"


def put_all(engine: Engine, domains: Mapping[str, str]) -> None:
    """Keep a map of repositories to domains, and let the sessions that are here know theirs."""
    engine.run_many(_PUT, [{"repo": _folded(repo), "domain": domain} for repo, domain in domains.items()])
    for row in engine.run("select distinct project from sessions where project <> ''"):
        domain = of_project(engine, row["project"])
        if domain:
            engine.run(_ATTRIBUTE, project=row["project"], domain=domain)


def of_project(engine: Engine, project: str) -> str:
    """Return the domain of a project; empty if no map names it."""
    return engine.run(f"select {OF_PROJECT} as domain", **names(project))[0]["domain"] or ""


def projects(engine: Engine, domain: str) -> set[str]:
    """Return the projects of a domain."""
    rows = engine.run("select distinct project from sessions where domain = :domain", domain=domain)
    return {row["project"] for row in rows}


def names(project: str | None) -> dict[str, str]:
    """Return what a project may be called in a map: by its path, by owner and name, by its name."""
    path = _folded(project or "")
    parts = path.split("/")
    return {"path": path, "tail": "/".join(parts[-2:]), "name": parts[-1]}


def _folded(repo: str) -> str:
    return repo.strip().replace("\\", "/").rstrip("/").removesuffix(".git").casefold()
