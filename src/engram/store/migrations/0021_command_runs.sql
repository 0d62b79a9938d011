-- Commands that failed here, so that an agent is told before it runs one again.
alter table session_errors add column program text not null default '';  -- the program that failed, with its wrapper
alter table session_errors add column culprit text not null default '';  -- the shape of its command
alter table session_errors add column project text not null default '';  -- of its session
update session_errors set project = coalesce(
  (select s.project from captures c join sessions s on s.id = c.session_id where c.num = session_errors.capture), '');
create index session_errors_replaced on session_errors (project, program)
 where verified = 1 and fix_kind = 'command replaced';

-- How often each shape of command ran in a session, and failed.
create table command_runs (
  capture integer not null references captures (num) on delete cascade,
  shape text not null,        -- program, subcommands and options of one command
  runs integer not null,
  failed integer not null,
  passed_at bigint not null,  -- the last time; 0 if never
  failed_at bigint not null,
  primary key (capture, shape)
);
create index command_runs_by_shape on command_runs (shape);

-- Commands that a person refused, with the reason they gave.
create table refused_commands (
  capture integer not null references captures (num) on delete cascade,
  project text not null,
  program text not null,
  shape text not null,
  command text not null,
  reason text not null,
  at bigint not null,
  primary key (capture, command)
);
create index refused_commands_by_program on refused_commands (project, program);
