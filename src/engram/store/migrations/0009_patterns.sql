-- Patterns: what keeps going wrong or right, what people made of it, where it was put, and whether it helped.

-- One thing that happened in a session, as often as it did; the session's signals are made anew with its digest.
create table signals (
  session_id text not null references sessions (id) on delete cascade,
  kind text not null,
  fingerprint text not null,    -- what it is, without paths, ids, numbers and hashes
  text text not null,           -- as a sentence
  quote text not null default '',  -- the line that tells it best, as it stands there
  fix text not null default '', -- what worked in the end
  evidence text not null,       -- ids of events, as JSON
  times bigint not null,
  project text not null default '',
  flavor text not null,
  at bigint not null,
  tokens bigint not null default 0,  -- what it cost
  seconds bigint not null default 0,
  primary key (session_id, kind, fingerprint)
);
create index signals_by_fingerprint on signals (kind, fingerprint, at);

-- Which pattern a fingerprint belongs to.
create table fingerprints (
  kind text not null,
  fingerprint text not null,
  pattern text not null,
  changed bigint not null default 1,  -- 1: its signals are not counted yet; 2: it is new as well
  vector /*pg: bytea, -- */ blob,
  primary key (kind, fingerprint)
);
create index fingerprints_by_pattern on fingerprints (pattern);
create index fingerprints_by_change on fingerprints (changed, kind);

-- Sessions that could not be looked through; after a few times they are left alone until they change.
create table undetected (
  session_id text primary key references sessions (id) on delete cascade,
  tries bigint not null,
  problem text not null,
  at bigint not null
);

create table patterns (
  id text primary key,          -- of its kind and first fingerprint
  kind text not null,
  state text not null,          -- candidate, approved, rejected, retired, merged; moved: undecided, found to be another
  merged_into text,             -- of one that is merged or moved
  title text not null,          -- the sentence it reads as
  seed text not null,           -- its first fingerprint
  signals bigint not null default 0,  -- rows it is counted from
  sessions bigint not null default 0,
  times bigint not null default 0,
  flavors text not null default '[]',
  projects text not null default '[]',
  tokens bigint not null default 0,
  seconds bigint not null default 0,
  confidence double precision not null default 0,
  first_at bigint not null,
  last_at bigint not null,
  version bigint not null default 0,  -- of its rule; 0: nobody wrote one
  proposed text not null default '',      -- a rule, by the rules or a model; only a person makes it one
  proposed_fix text not null default '',
  proposed_by text not null default '',   -- template, or model:… with its prompt
  recommended text              -- what an agent advises, as JSON; only a person decides
);
create index patterns_by_state on patterns (state, last_at);

-- The catalog: every version of every rule, by whom and why.
create table rules (
  pattern text not null references patterns (id) on delete cascade,
  version bigint not null,
  state text not null,          -- what the pattern became with it
  rule text not null,           -- what agents are told
  fix text not null default '',
  scope text not null,          -- global, project:…, flavor:…
  author text not null,
  reason text not null default '',
  evidence text not null default '[]',
  at bigint not null,
  primary key (pattern, version)
);

-- Where an approved rule was put, from when to when.
create table placements (
  id integer /*pg: generated always as identity primary key, -- */ primary key autoincrement,
  pattern text not null references patterns (id) on delete cascade,
  version bigint not null,
  flavor text not null,
  project text not null default '',  -- empty: wherever that agent works
  place text not null,          -- the file, or context
  host text not null,
  placed_at bigint not null,
  removed_at bigint
);
create index placements_by_pattern on placements (pattern, placed_at);
create index placements_standing on placements (place) where removed_at is null;

-- Files that hold rules of ours on a host, and what of each was made for them: taking them out leaves no trace.
create table placed (
  host text not null,
  path text not null,
  made text not null,           -- the file and the directories that were not there, as JSON
  at bigint not null,
  primary key (host, path)
);

-- Sessions that were told a rule in their context.
create table exposures (
  session_id text not null references sessions (id) on delete cascade,
  pattern text not null,
  version bigint not null,
  at bigint not null,
  primary key (session_id, pattern)
);
create index exposures_by_pattern on exposures (pattern, at);
