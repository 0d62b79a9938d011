-- Live coordination: who is here, what they hold, what they tell each other, what is known.

create table sessions (
  id text /*pg: collate "C" */ primary key,
  flavor text not null,
  native_id text,
  session_type text not null,
  summary text not null,
  status text not null default 'active' check (status in ('active', 'completed')),
  project text not null default '',
  cwd text,
  branch text,
  host text,
  pid bigint,
  pid_start text,
  model text,
  started_at bigint not null,
  last_heartbeat bigint not null,
  completed_at bigint,
  completion_summary text,
  metadata text
);
create unique index sessions_native on sessions (flavor, native_id) where native_id is not null;
create index sessions_by_heartbeat on sessions (status, last_heartbeat);
create index sessions_by_project on sessions (project, status, last_heartbeat);
create index sessions_by_completion on sessions (completed_at) where completed_at is not null;
create index sessions_completed_by_project on sessions (project, completed_at) where completed_at is not null;
create index sessions_by_process on sessions (pid) where status = 'active' and pid is not null;

create table session_logs (
  id integer /*pg: generated always as identity */ primary key,
  session_id text not null references sessions (id) on delete cascade,
  logged_at bigint not null,
  entry text not null,
  origin text unique  -- where an imported entry came from, so that it is imported once
);
create index session_logs_by_session on session_logs (session_id, id);

create table locks (
  -- SQLite keeps an `integer primary key` in the row itself; PostgreSQL reads `bigint` and a comment.
  token /*pg: bigint -- */ integer
    primary key,
  session_id text not null references sessions (id) on delete cascade,
  kind text not null,
  name text not null,
  base text /*pg: collate "C" */ not null,
  pattern text not null,
  mode text not null check (mode in ('exclusive', 'shared', 'announce')),
  project text not null default '',
  note text,
  locked_at bigint not null,
  lasts bigint not null,       -- microseconds a sign of life keeps it
  expires_at bigint not null,  -- on the steady clock of the store, not the wall clock
  unique (session_id, kind, pattern)
);
create index locks_by_base on locks (base);

create table waiters (
  session_id text not null references sessions (id) on delete cascade,
  base text /*pg: collate "C" */ not null,
  kind text not null,
  pattern text not null,
  since bigint not null,
  expires_at bigint not null,
  primary key (session_id, kind, pattern)
);
create index waiters_by_base on waiters (base);

-- Tokens never fall, not even after a power cut that lost the latest commits: grants stay below a
-- ceiling that was made durable, and a new boot starts above it.
create table tokens (
  name text primary key,
  boot text not null,
  counter bigint not null,
  ceiling bigint not null
);

-- What must be added to a boot's steady clock to make all boots one rising time.
create table boots (
  boot text primary key,
  ahead bigint not null
);

create table messages (
  id integer /*pg: generated always as identity */ primary key,
  sender text,
  recipient text references sessions (id) on delete cascade,  -- null: whoever comes next
  project text not null default '',
  kind text not null,
  body text not null,
  sent_at bigint not null,
  delivered_at bigint
);
create index messages_unread on messages (recipient, id) where delivered_at is null;
create index messages_for_next on messages (project, id) where recipient is null;

create table documents (
  kind text not null,
  key text not null,
  version integer not null,
  content text not null,
  sources text,
  made_by text,
  made_at bigint not null,
  primary key (kind, key, version)
);

create table activity (
  id integer /*pg: generated always as identity */ primary key,
  at bigint not null,
  kind text not null,
  session_id text,
  project text not null default '',
  subject text not null,
  detail text
);
create index activity_by_kind on activity (kind, id);
