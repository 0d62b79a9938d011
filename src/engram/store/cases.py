"""Cases: episodes and commits, found by the words of their problem. The words are derived and can be made again."""

from __future__ import annotations

from engram.store.engine import escape_like, run_for_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engram.store.engine import Engine, Row

_PUT_EPISODE = """
insert into cases (kind, project, capture, number, at) values ('episode', '', :capture, :number, :at)
on conflict (capture, number) where capture is not null do update set at = excluded.at, stale = 1
"""

_PUT_COMMIT = """
insert into cases (kind, project, hash, at) values ('commit', :project, :hash, :at)
on conflict (project, hash) where hash is not null do nothing
"""

_ADD_WORDS = {
    "sqlite": "insert into case_words (rowid, words) values (:id, :words)",
    "postgres": "insert into case_words (id, words) values (:id, array_to_tsvector(string_to_array(:words, ' ')))",
}
_DROP_WORDS = {
    "sqlite": "delete from case_words where rowid = :id",
    "postgres": "delete from case_words where id = :id",
}
_FIND_WORD = {
    "sqlite": "select rowid as id from case_words where case_words match :query limit :limit",
    "postgres": "select id from case_words where words @@ cast(:query as tsquery) limit :limit",
}

_PUT_ANCHOR = """
insert into case_anchors (case_id, kind, name, leaf, strength, span)
values (:case_id, :kind, :name, :leaf, :strength, :span)
on conflict (case_id, kind, name) do update set strength = excluded.strength, span = excluded.span
"""

_STALE = "select * from cases where stale = 1 order by id limit :limit"

# Cases of one file or symbol in a project, strongest and newest first.
_ANCHORED = """
select c.*, a.kind as anchor, a.name, a.leaf, a.strength, a.span
  from case_anchors a join cases c on c.id = a.case_id
 where a.leaf = :leaf and a.kind = :kind{project}
 order by a.strength desc, c.at desc limit :limit
"""


# The episodes with the decisions that replace those of an episode, newest first; a chain is followed two steps.
_SUPERSEDING = """
select distinct c.* from evidence_items old
  join evidence_items newer on newer.id = old.superseded_by
  left join evidence_items newest on newest.id = newer.superseded_by
  join cases c on (c.capture = newer.capture and c.number = newer.episode)
               or (c.capture = newest.capture and c.number = newest.episode)
 where old.capture = :capture and old.episode = :number
   and not (c.capture = :capture and c.number = :number)
 order by c.at desc
"""


_HAS_FILE = """
select 1 as one from case_anchors a join cases c on c.id = a.case_id
 where a.leaf = :leaf and a.kind = 'file' and a.strength >= 2 and c.project = :project limit 1
"""

_RELATED = """
select c.id from cases c join captures k on k.num = c.capture join sessions s on s.id = k.session_id
 where s.id = :session_id or (k.parent = :native_id and :native_id <> '')
    or s.native_id = (select o.parent from captures o where o.session_id = :session_id)
    or k.root = (select o.root from captures o where o.session_id = :session_id)
"""


def add_episodes(engine: Engine, rows: Sequence[Row]) -> None:
    """Add the cases of episodes; existing ones are indexed again."""
    engine.run_many(_PUT_EPISODE, rows)


def add_commits(engine: Engine, rows: Sequence[Row]) -> None:
    """Add the cases of commits."""
    engine.run_many(_PUT_COMMIT, rows)


def list_stale(engine: Engine, limit: int) -> list[Row]:
    """Return cases whose words must be indexed."""
    return engine.run(_STALE, limit=limit)


def save_words(engine: Engine, case_id: int, project: str, terms: Iterable[str], anchors: Sequence[Row]) -> None:
    """Save the project, words and anchors of a case, replacing older ones."""
    words = sorted({encode_term(term) for term in terms} - {""})
    engine.run(_DROP_WORDS[engine.dialect], id=case_id)
    engine.run(_ADD_WORDS[engine.dialect], id=case_id, words=" ".join(words))
    engine.run("delete from case_anchors where case_id = :id", id=case_id)
    engine.run_many(_PUT_ANCHOR, [{"case_id": case_id, **anchor} for anchor in anchors])
    sql = "update cases set stale = 0, length = :length, project = :project where id = :id"
    engine.run(sql, id=case_id, length=len(words), project=project)


def encode_term(term: str) -> str:
    """Return a term as one word for both databases: joining characters become underscores."""
    return "".join(character if character.isalnum() else "_" for character in term).strip("_")[:64]


def find_word(engine: Engine, term: str, limit: int) -> list[int]:
    """Return the ids of cases that have a word."""
    word = encode_term(term)
    query = f'"{word}"' if engine.dialect == "sqlite" else f"'{word}'"
    return [row["id"] for row in engine.run(_FIND_WORD[engine.dialect], query=query, limit=limit)] if word else []


def list_sizes(engine: Engine, project: str | None) -> dict[int, int]:
    """Return the number of words of every case, or of those of one project, by id."""
    sql = "select id, length from cases" if project is None else "select id, length from cases where project = :project"
    rows = engine.run(sql, **({} if project is None else {"project": project}))
    return {row["id"]: row["length"] for row in rows}


def fetch(engine: Engine, ids: Sequence[int]) -> dict[int, Row]:
    """Return cases by id."""
    return {row["id"]: row for row in run_for_ids(engine, "select * from cases where id in ({slots})", ids)}


def list_related(engine: Engine, session_id: str, native_id: str) -> list[int]:
    """Return the cases of a session, of its subagents and forks, and of the session it comes from."""
    return [row["id"] for row in engine.run(_RELATED, session_id=session_id, native_id=native_id)]


def list_superseding(engine: Engine, capture: int, number: int) -> list[Row]:
    """Return the cases whose decisions replace those of an episode, newest first."""
    return engine.run(_SUPERSEDING, capture=capture, number=number)


def is_anchored(engine: Engine, project: str, leaf: str) -> bool:
    """Return whether a case of a project changed a file of this name or settled something about it."""
    return bool(engine.run(_HAS_FILE, project=project, leaf=leaf))


def list_anchored(engine: Engine, project: str | None, kind: str, leaf: str, limit: int) -> list[Row]:
    """Return the cases, of a project or of all, that are about a file or a symbol, strongest and newest first."""
    wanted = {} if project is None else {"project": project}
    sql = _ANCHORED.format(project=" and c.project = :project" if wanted else "")
    return engine.run(sql, kind=kind, leaf=leaf, limit=limit, **wanted)


def knows_directory(engine: Engine, project: str, directory: str) -> bool:
    """Return whether a project's cases name files in a directory, given by the last parts of its path."""
    like = escape_like(directory)
    sql = (
        "select 1 as one from cases c join case_anchors a on a.case_id = c.id where c.project = :project"
        " and a.kind = 'file' and (a.name like :start escape '!' or a.name like :inner escape '!') limit 1"
    )
    return bool(engine.run(sql, project=project, start=f"{like}/%", inner=f"%/{like}/%"))


def list_anchors(engine: Engine, case_id: int) -> list[Row]:
    """Return the files and symbols that a case is about."""
    return engine.run("select * from case_anchors where case_id = :id order by strength desc, name", id=case_id)


def drop_words_of_capture(engine: Engine, capture: int) -> None:
    """Remove the words of a session's cases, before the session is deleted."""
    rows = engine.run("select id from cases where capture = :capture", capture=capture)
    engine.run_many(_DROP_WORDS[engine.dialect], rows)


def delete_after(engine: Engine, capture: int, number: int) -> None:
    """Remove the cases of a session's episodes after one."""
    rows = engine.run(
        "select id from cases where capture = :capture and number > :number", capture=capture, number=number
    )
    engine.run_many(_DROP_WORDS[engine.dialect], rows)
    engine.run("delete from cases where capture = :capture and number > :number", capture=capture, number=number)


def delete_commits(engine: Engine, project: str) -> None:
    """Remove the cases of a project's commits."""
    rows = engine.run("select id from cases where project = :project and kind = 'commit'", project=project)
    engine.run_many(_DROP_WORDS[engine.dialect], rows)
    engine.run("delete from cases where project = :project and kind = 'commit'", project=project)


def scrub_words(engine: Engine) -> None:
    """Rewrite the index of words without those of removed cases, which FTS5 only marks as deleted."""
    if engine.dialect == "sqlite":
        engine.run("insert into case_words (case_words) values ('optimize')")


def mark_all_stale(engine: Engine) -> None:
    """Have the words of every case indexed again."""
    engine.run("update cases set stale = 1")
