-- What sessions noted before it could be recalled: log entries, completions and the world state.

insert into passages (kind, key, part, session_id, project, at, content)
select 'log', cast(id as text), 0, session_id, '', logged_at, entry from session_logs order by id;

insert into passages (kind, key, part, session_id, project, at, content)
select 'completion', id, 0, id, '', completed_at, completion_summary from sessions
 where completion_summary is not null and completed_at is not null order by id;

insert into passages (kind, key, part, session_id, project, at, content)
select d.kind, d.key, 0, null, d.key, d.made_at, d.content from documents d
 where d.kind = 'world' and d.content <> '' and d.version = (select max(version) from documents where kind = d.kind and key = d.key);

insert into unindexed (kind, source)
select 'passage', id from passages where kind in ('log', 'completion', 'world') order by id;
