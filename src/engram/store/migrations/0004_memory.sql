-- Memory: what was said, the passages made of it, and the index both are found by.

create table exchanges (
  id integer /*pg: generated always as identity primary key, -- */ primary key autoincrement,
  session_id text not null references sessions (id) on delete cascade,
  role text not null,
  content text not null,
  at bigint not null,        -- when it was said
  stored_at bigint not null,
  origin text not null,      -- user, assistant, tool, import: how far it can be trusted
  key bigint unique,         -- hash of an imported one, so that it is imported once
  event bigint unique,       -- the captured event it is
  gist bigint                -- the version of its session's gist that covers it
);
create index exchanges_by_session on exchanges (session_id, at, id);
create index exchanges_ungisted on exchanges (session_id) where gist is null;

alter table captures add column exchanged integer not null default 0;  -- its messages are exchanges
create index captures_unexchanged on captures (num) where exchanged = 0;

-- Sessions a person deleted: their transcripts are not taken in again.
create table deleted_sessions (
  flavor text not null,
  native_id text not null,
  at bigint not null,
  primary key (flavor, native_id)
);

-- Pieces of what is made of sessions (gists, eras, digests …) as they are searched.
create table passages (
  id integer /*pg: generated always as identity primary key, -- */ primary key autoincrement,
  kind text not null,
  key text not null,
  part integer not null,
  session_id text references sessions (id) on delete cascade,
  project text not null default '',
  at bigint not null,
  content text not null,
  unique (kind, key, part)
);
create index passages_by_session on passages (session_id);

-- What the index does not know yet, or knows wrongly.
create table unindexed (
  id integer /*pg: generated always as identity primary key, -- */ primary key autoincrement,
  kind text not null,        -- exchange, passage
  source bigint not null
);

-- The index, made from exchanges and passages and made again from them at any time. A doc is the number of one of
-- them in it; a segment holds a range of docs, column by column as little-endian arrays.
create table segments (
  id integer /*pg: generated always as identity primary key, -- */ primary key autoincrement,
  first bigint not null,
  count bigint not null,
  changed bigint not null default 0,  -- rises when docs of it die
  sources /*pg: bytea not null, -- */ blob not null,
  kinds /*pg: bytea not null, -- */ blob not null,
  sessions /*pg: bytea not null, -- */ blob not null,
  turns /*pg: bytea not null, -- */ blob not null,
  times /*pg: bytea not null, -- */ blob not null,
  lengths /*pg: bytea not null, -- */ blob not null,
  dead /*pg: bytea not null -- */ blob not null
);

create table postings (
  segment bigint not null,
  term text /*pg: collate "C" */ not null,
  docs /*pg: bytea not null, -- */ blob not null,
  counts /*pg: bytea not null, -- */ blob not null,
  primary key (segment, term)
) /*pg: ; -- */ without rowid;

create table spaces (
  id integer /*pg: generated always as identity primary key, -- */ primary key autoincrement,
  model text not null unique,
  dim integer not null,
  made_at bigint not null
);

create table vectors (
  id integer /*pg: generated always as identity primary key, -- */ primary key autoincrement,
  space integer not null references spaces (id) on delete cascade,
  segment bigint not null,
  through bigint not null,   -- the docs of the segment below this one have their vectors, in this row or before
  docs /*pg: bytea not null, -- */ blob not null,
  codes /*pg: bytea not null -- */ blob not null
);
create index vectors_by_segment on vectors (space, segment, through);
