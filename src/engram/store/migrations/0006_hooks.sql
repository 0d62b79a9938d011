-- What hooks must know from one event of a session to the next.

-- Events that were answered: an agent that reads another's hook files tells of each more than once.
create table answered (
  flavor text not null,
  native_id text not null,
  event text not null,
  turn text not null,
  at bigint not null,
  primary key (flavor, native_id, event, turn)
);
create index answered_by_time on answered (at);

-- Files as a session saw them: those it read, and those others held when its command began.
create table sightings (
  session_id text not null references sessions (id) on delete cascade,
  kind text not null check (kind in ('read', 'held')),
  path text not null,
  size bigint not null,
  changed_at bigint not null,
  hash text not null,
  at bigint not null,
  primary key (session_id, kind, path)
);
create index sightings_by_time on sightings (at);

-- Locks taken because a file is being edited, not because somebody asked: they end with the turn.
alter table locks add column by_edit integer not null default 0;
