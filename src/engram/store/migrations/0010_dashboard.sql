-- The events of a session in order, a stretch at a time.
create index events_in_order on events (capture, seq, id);

-- How much was said on each day of a year, without reading what.
create index exchanges_by_time on exchanges (role, at, session_id);

-- What the answers of a quarter of an hour come to, so that nobody adds up every answer again. Every time zone is a
-- number of quarters away from UTC. The slot of answers that have no time is -1.
create table spent (
  capture integer not null references captures (num) on delete cascade,
  slot bigint not null,
  model text not null,
  basis text not null,
  answers bigint not null,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_write bigint not null,
  cache_write_long bigint not null,
  reasoning bigint not null,
  cost double precision,
  priced bigint not null,     -- answers whose cost is known
  primary key (capture, slot, model, basis)
);
insert into spent
select capture, coalesce(at / 900000000, -1), model, basis, count(*), sum(input), sum(output), sum(cache_read),
       sum(cache_write), sum(cache_write_long), sum(reasoning), sum(cost), sum(case when cost is null then 0 else 1 end)
  from usage where counted = 1 group by 1, 2, 3, 4;
drop index usage_by_capture;
create index usage_by_time on usage (capture, at);
