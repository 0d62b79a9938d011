"""Domains: a user's map of repositories to areas of work."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from engram.store.engine import Engine

_PUT = """
insert into domains (repo, domain) values (:repo, :domain)
on conflict (repo) do update set domain = excluded.domain
"""

# The longest matching key is the most specific.
DOMAIN_OF_PROJECT = """
(select d.domain from domains d where d.repo in (:path, :tail, :name) order by length(d.repo) desc limit 1)
"""

_ATTRIBUTE = "update sessions set domain = :domain where project = :project and domain <> :domain"


def save_all(engine: Engine, domains: Mapping[str, str]) -> None:
    """Save a map of repositories to domains and update the domains of existing sessions."""
    engine.run_many(_PUT, [{"repo": _normalize_repo(repo), "domain": domain} for repo, domain in domains.items()])
    for row in engine.run("select distinct project from sessions where project <> ''"):
        domain = find_domain(engine, row["project"])
        if domain:
            engine.run(_ATTRIBUTE, project=row["project"], domain=domain)


def find_domain(engine: Engine, project: str) -> str:
    """Return the domain of a project, or "" if no map names it."""
    return engine.run(f"select {DOMAIN_OF_PROJECT} as domain", **build_project_keys(project))[0]["domain"] or ""


def list_projects(engine: Engine, domain: str) -> set[str]:
    """Return the projects of a domain."""
    rows = engine.run("select distinct project from sessions where domain = :domain", domain=domain)
    return {row["project"] for row in rows}


def build_project_keys(project: str | None) -> dict[str, str]:
    """Return the names a project may have in a map: its path, owner/name, or name."""
    path = _normalize_repo(project or "")
    parts = path.split("/")
    return {"path": path, "tail": "/".join(parts[-2:]), "name": parts[-1]}


def _normalize_repo(repo: str) -> str:
    return repo.strip().replace("\\", "/").rstrip("/").removesuffix(".git").casefold()
