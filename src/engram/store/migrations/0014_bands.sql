-- Some models cost more in fast mode, or for a reply with a long context. The sums are kept apart by both: the speed the
-- agent names, and the highest limit of any vendor that the context of a reply exceeds.
alter table usage add column speed text not null default '';

drop table spent;
create table spent (
  capture integer not null references captures (num) on delete cascade,
  slot bigint not null,
  model text not null,
  basis text not null,
  speed text not null,
  band bigint not null,
  answers bigint not null,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_write bigint not null,
  cache_write_long bigint not null,
  reasoning bigint not null,
  cost double precision,
  priced bigint not null,     -- answers whose cost is known
  primary key (capture, slot, model, basis, speed, band)
);
insert into spent
select capture, slot, model, basis, speed, band, count(*), sum(input), sum(output), sum(cache_read), sum(cache_write),
       sum(cache_write_long), sum(reasoning), sum(cost), sum(case when cost is null then 0 else 1 end)
  from (select u.*, coalesce(at / 900000000, -1) as slot,
               case when input + cache_read + cache_write + cache_write_long > 512000 then 512000
                    when input + cache_read + cache_write + cache_write_long > 272000 then 272000
                    when input + cache_read + cache_write + cache_write_long > 256000 then 256000
                    when input + cache_read + cache_write + cache_write_long > 200000 then 200000
                    when input + cache_read + cache_write + cache_write_long > 128000 then 128000
                    when input + cache_read + cache_write + cache_write_long > 100000 then 100000
                    when input + cache_read + cache_write + cache_write_long > 32000 then 32000 else 0 end as band
          from usage u where counted = 1) replies
 group by 1, 2, 3, 4, 5, 6;
