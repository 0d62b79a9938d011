-- Commands that set up, build, test, lint, run or release a project, by session: how often they passed and failed.
create table task_runs (
  capture integer not null references captures (num) on delete cascade,
  purpose text not null,      -- setup, build, test, lint, run, release
  directory text not null,    -- relative to that of the session
  command text not null,      -- as typed, without options that only change what is printed
  is_whole integer not null,  -- 1 if not limited to some files or tests
  passed integer not null,
  failed integer not null,
  unknown integer not null,   -- neither the output nor the status tells
  passed_at bigint not null,  -- the last time; 0 if never
  failed_at bigint not null,
  primary key (capture, purpose, directory, command)
);
