-- Errors of sessions and what ended them, to be found by their signature when a command fails again.
create table session_errors (
  id text primary key,        -- made of the session, the event and the signature: the same when it is read again
  capture integer not null references captures (num) on delete cascade,
  episode integer not null,
  at bigint not null,
  signature text not null,    -- the message without paths, numbers, ids and times
  shape text not null,        -- programs, subcommands and options of the command; '' if it was another tool
  line text not null,         -- the message
  fix text not null,          -- '' if nothing in the session fixed it
  fix_kind text not null,     -- command replaced, files changed, retried, setup
  verified integer not null,  -- 1 if the same thing passed afterwards
  fixed_in text,              -- the later session that fixed it, or in which it passed
  facts text not null         -- JSON: cause, names, command that failed, command that passed, times, events
);
create index session_errors_by_capture on session_errors (capture, episode);
create index session_errors_by_signature on session_errors (signature, at);
create index session_errors_not_fixed on session_errors (at) where fix = '' and fixed_in is null;

-- Tests, builds and linters that passed, the last run of each: they close errors of earlier sessions.
create table passed_checks (
  capture integer not null references captures (num) on delete cascade,
  command text not null,
  at bigint not null,
  primary key (capture, command)
);
