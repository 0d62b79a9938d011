-- What a problem may be answered with: the episodes of sessions, and the commits of the projects at work.

-- Commits by their messages; no diffs.
create table commits (
  project text not null,
  hash text not null,
  at bigint not null,
  author text not null,
  subject text not null,
  body text not null,
  files text not null,         -- JSON list
  reverted_by text,            -- hash of the commit that reverts it
  primary key (project, hash)
);
create index commits_by_time on commits (project, at);

-- How far the history of each checkout was read.
create table commit_cursors (
  host text not null,
  path text not null,
  head text not null,
  read_at bigint not null,
  primary key (host, path)
);

-- One episode or commit, found by the words of its problem and shown by its resolution.
create table cases (
  id integer /*pg: generated always as identity */ primary key,
  kind text not null,          -- episode, commit
  project text not null,
  capture integer references captures (num) on delete cascade,
  number integer,              -- of the episode in its session
  hash text,                   -- of the commit
  at bigint not null,
  length integer not null default 0,  -- number of different words
  stale integer not null default 1    -- its words must be indexed again
);
create unique index cases_by_episode on cases (capture, number) where capture is not null;
create unique index cases_by_commit on cases (project, hash) where hash is not null;
create index cases_by_project on cases (project, at);
create index cases_by_staleness on cases (stale) where stale = 1;
insert into cases (kind, project, capture, number, at)
select 'episode', '', capture, number, coalesce(ended_at, started_at, 0) from episodes;

-- The files and symbols that a case is about.
create table case_anchors (
  case_id integer not null references cases (id) on delete cascade,
  kind text not null,          -- file, symbol
  name text not null,          -- a path with slashes, or an identifier
  leaf text not null,          -- the file's name or the identifier, in lower case
  strength integer not null,   -- 3: what was settled names it; 2: changed
  span text,                   -- hash of the symbol's code when this was recorded
  primary key (case_id, kind, name)
);
create index case_anchors_by_leaf on case_anchors (leaf);

-- Texts that hooks gave to agents unasked, or would have given ("shown" is 0), and what people say of them.
create table pushes (
  id integer /*pg: generated always as identity */ primary key,
  at bigint not null,
  session_id text not null references sessions (id) on delete cascade,
  project text not null,
  moment text not null,        -- prompt, read, edit, command, failure
  reason text not null,        -- what it was matched by
  content text not null,
  tokens integer not null,
  shown integer not null,
  verdict text,                -- useful, wrong, never
  judged_at bigint
);
create index pushes_by_session on pushes (session_id, at);
create index pushes_by_time on pushes (at);
create table push_sources (
  push integer not null references pushes (id) on delete cascade,
  source text not null,        -- of a case or an error
  primary key (push, source)
);
create index push_sources_by_source on push_sources (source);
