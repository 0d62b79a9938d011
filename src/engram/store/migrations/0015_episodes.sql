-- What a session shows, cut into episodes: a request, what was decided, what was done and what came of it.
create table episodes (
  capture integer not null references captures (num) on delete cascade,
  number integer not null,    -- its place in the session, from 0
  started_at bigint,
  ended_at bigint,
  title text not null,
  result text not null,       -- fixed, done, partly, not done, abandoned
  facts text not null,        -- JSON
  primary key (capture, number)
);

-- What is asked for across sessions: decisions, rejected proposals, causes, open items.
create table evidence_items (
  id text primary key,        -- made of the session, the kind and the text: the same when the session is read again
  capture integer not null references captures (num) on delete cascade,
  episode integer not null,
  kind text not null,         -- decision, rejected, cause, open
  at bigint not null,
  text text not null,
  words text not null,        -- its content words, to find what a newer item is about
  facts text not null,        -- JSON
  superseded_by text references evidence_items (id) on delete set null
);
create index evidence_items_by_capture on evidence_items (capture, episode);
create index evidence_items_by_kind on evidence_items (kind, at);
