-- Capture: what the agents' transcripts say, where we stand in each, what a session comes to.

create table captures (
  num integer /*pg: generated always as identity */ primary key,
  session_id text not null unique references sessions (id) on delete cascade,
  parent text,            -- the agent's id of the session it came from
  relation text,          -- subagent, fork
  title text,
  version text,           -- of the agent program
  entrypoint text,
  started_at bigint,      -- by the first time in file order
  last_at bigint,
  events bigint not null default 0,
  read_bytes bigint not null default 0,  -- of transcripts
  batches bigint not null default 0,
  root bigint,            -- the key of its first event: a fork repeats its parent's
  digest_due integer not null default 0
);
create index captures_by_parent on captures (parent) where parent is not null;
create index captures_by_root on captures (root);
create index captures_due on captures (num) where digest_due = 1;

create table cursors (
  host text not null,
  path text not null,     -- as it was before it was compressed
  flavor text not null,
  num bigint not null,    -- orders the files of one session
  place bigint not null,  -- how far we have read
  state text,             -- what the adapter needs to go on
  size bigint not null,
  changed_at bigint not null,
  inode bigint not null,
  head text not null,     -- hash of its first bytes
  tail text not null,     -- hash of the bytes before our place
  damaged bigint not null default 0,  -- bytes that could not be read
  ours text,              -- sessions in it that our own helpers ran: left out
  read_at bigint not null,
  vanished_at bigint,
  primary key (host, path)
);

create table digests (
  id integer /*pg: generated always as identity */ primary key,
  capture integer not null unique references captures (num) on delete cascade,
  version integer not null,   -- of the rules that made it
  made_at bigint not null,
  through bigint not null,    -- the last batch it knows
  facts text not null,
  state text,                 -- what it needs to go on with the next batch
  outcome text not null,
  confidence double precision not null,
  corrected text,             -- a person's word on the outcome
  corrected_by text,
  corrected_at bigint
);
create index digests_by_version on digests (version);

-- Raw is never dropped before its digest exists: a body may be marked as dropped only by naming the digest
-- that knows its batch, or by saying aloud that it is lost.
create table blobs (
  num integer /*pg: generated always as identity */ primary key,
  sha256 text not null,
  capture integer not null references captures (num) on delete cascade,
  batch bigint not null,
  raw_bytes bigint not null,
  stored_bytes bigint not null,
  made_at bigint not null,
  digest bigint references digests (id),
  digested_through bigint,
  evicting_at bigint,
  evicted_at bigint,
  lost integer not null default 0 check (lost in (0, 1)),
  check (evicting_at is null or lost = 1
         or (digest is not null and digested_through is not null and digested_through >= batch)),
  check (evicted_at is null or evicting_at is not null)
);
create index blobs_by_capture on blobs (capture, batch);
create index blobs_by_name on blobs (sha256);
create index blobs_kept on blobs (made_at) where evicting_at is null;
create index blobs_evicting on blobs (num) where evicting_at is not null and evicted_at is null;

create table events (
  id /*pg: bigint -- */ integer
    primary key,
  capture integer not null references captures (num) on delete cascade,
  key bigint not null,        -- hash of the agent's own id of it
  hash bigint not null,       -- of what it says
  seq bigint not null,        -- its place in the session
  at bigint,
  kind text not null,
  role text not null,
  name text,
  verdict text,
  exit_code bigint,
  call bigint,                -- joins a call and its result
  parent bigint,              -- the key of the event it follows
  blob integer not null references blobs (num),
  start integer not null,
  length integer not null
);
create unique index events_by_key on events (capture, key);

create table counters (
  name text primary key,
  counter bigint not null
);

create table usage (
  key /*pg: bigint -- */ integer
    primary key,              -- hash of flavor and answer: an answer is counted once, wherever it is repeated
  capture integer not null references captures (num) on delete cascade,
  began bigint not null,      -- when that session began: the earlier one keeps the answer
  model text not null,
  at bigint,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_write bigint not null,
  cache_write_long bigint not null,
  reasoning bigint not null,
  cost double precision,
  basis text not null,
  counted integer not null
);
create index usage_by_capture on usage (capture);
