-- What Engram itself asked of models, and what that took.

create table model_calls (
  id integer /*pg: generated always as identity */ primary key,
  at bigint not null,
  host text not null,
  purpose text not null,      -- what it was asked for
  provider text not null,
  model text not null,        -- as it was asked for, or as it called itself
  input bigint not null,      -- tokens; while reserved, the most we expect
  output bigint not null,
  cache_read bigint not null default 0,
  cache_write bigint not null default 0,
  cost double precision,      -- US dollars; null without a known price
  basis text not null,        -- exact: as the other side counts; uncertain: our estimate
  seconds double precision,
  state text not null check (state in ('reserved', 'done', 'failed')),
  lapses_at bigint not null,  -- when a reservation no longer counts: its process is dead
  error text,
  reply text                  -- what could not be used, for inspection
);
create index model_calls_by_time on model_calls (at);
