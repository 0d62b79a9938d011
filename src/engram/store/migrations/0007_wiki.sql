-- How far the conversation of each session has become entries of daily logs, and the entries.

create table flushes (
  session_id text primary key references sessions (id) on delete cascade,
  through bigint not null default 0,  -- the last exchange that was taken, by its number
  tries integer not null default 0,   -- how often what comes next was tried in vain
  next_at bigint not null default 0,  -- not to be tried again before
  problem text
);

create table entries (
  id text primary key,                -- of session and exchanges: the same conversation makes the same entry
  session_id text not null references sessions (id) on delete cascade,
  day text not null,                  -- of the log it belongs in
  at bigint not null,                 -- when the last of it was said
  first bigint not null,
  last bigint not null,
  content text not null,
  made_by text not null,
  written_at bigint                   -- when the log held it; null: not yet
);
create index entries_by_session on entries (session_id, last);
create index entries_by_day on entries (day, at);
create index entries_unwritten on entries (at) where written_at is null;
