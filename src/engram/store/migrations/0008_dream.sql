-- The dream cycle: what its steps have not seen yet, its passes, and what they changed.

-- News for a step: it grows where the thing itself is written, in the same transaction, and is settled by whoever
-- dealt with it, if nothing came meanwhile.
create table news (
  step text not null,           -- find, flush, integrate, detect, reflect, lint, rot, scrub
  key text not null,            -- the session or document that is new or changed
  changes bigint not null default 1,
  at bigint not null,           -- since when it waits
  primary key (step, key)
);

-- Sessions that have a gist, by when they took place: eras need no more to know what they are made of.
create table gisted (
  session_id text primary key references sessions (id) on delete cascade,
  version bigint not null,      -- of the gist
  project text not null default '',
  trust text not null default 'import',
  first_at bigint,              -- null: it covers nothing that was said
  last_at bigint
);

create table passes (
  id integer /*pg: generated always as identity primary key, -- */ primary key autoincrement,
  began_at bigint not null,
  ended_at bigint,              -- null: it is under way, or died
  host text not null,
  pid bigint not null,
  why text not null,            -- what made it begin: asked, forced, loop, worker
  drives text not null,         -- as they were sensed at the start
  readout text,                 -- as they stood at the end, with what every step came to
  undone_at bigint
);

-- Documents and pages a pass wrote, with what they were before: what undoing it goes by.
create table pass_changes (
  id integer /*pg: generated always as identity primary key, -- */ primary key autoincrement,
  pass bigint not null references passes (id) on delete cascade,
  kind text not null,           -- a kind of document, page, entry
  key text not null,
  version bigint not null default 0,  -- the one it wrote
  before bigint not null default 0    -- the one before it; 0: there was none
);
create index pass_changes_by_pass on pass_changes (pass);

-- Work only one may do at a time, wherever they run.
create table leases (
  name text primary key,
  holder text not null,         -- a random word, so that a process knows its own
  host text not null,
  pid bigint not null,
  started text not null,        -- what tells that process from another of the same number
  taken_at bigint not null,
  until bigint not null         -- on the steady clock
);

-- What was found and shown: memory nobody asks for is told from memory that works.
create table recalled (
  kind text not null,           -- exchange, or a kind of passage
  key text not null,
  times bigint not null default 0,
  last_at bigint not null,
  primary key (kind, key)
);

-- What was told to a session unasked, so that its coming back is known.
create table told (
  session_id text not null references sessions (id) on delete cascade,
  hash text not null,
  content text not null,
  at bigint not null,
  through bigint not null default 0,  -- the last exchange of the session that was compared with it
  primary key (session_id, hash)
);
create index told_by_time on told (at);

-- What tells duplicates and near-duplicates: a few hashes of the words of each gist, article and daily entry.
create table likenesses (
  kind text not null,
  key text not null,
  exact text not null,          -- hash of all its words; empty: it has to be compared again
  at bigint not null,           -- since when it is known
  primary key (kind, key)
);
create index likenesses_by_exact on likenesses (exact);

-- Hashes that texts with most words in common share; what repeats another word for word has none.
create table likeness_bands (
  band text not null,
  kind text not null,
  key text not null,
  primary key (band, kind, key)
);
create index likeness_bands_by_key on likeness_bands (kind, key);

create table rot (
  what text not null,           -- duplicate, near-duplicate, loop, contradiction, stale, replaced
  kind text not null,
  key text not null,
  other text not null,          -- what it repeats
  at bigint not null,
  primary key (what, kind, key, other)
);
create index rot_by_other on rot (kind, other);

insert into gisted (session_id, version, project, trust, first_at, last_at)
  select d.key, d.version,
         /*pg: coalesce(d.sources::json ->> 'project', ''), -- */ coalesce(json_extract(d.sources, '$.project'), ''),
         /*pg: coalesce(d.sources::json ->> 'trust', 'import'), -- */ coalesce(json_extract(d.sources, '$.trust'), 'import'),
         /*pg: (d.sources::json ->> 'first_at')::bigint, -- */ json_extract(d.sources, '$.first_at'),
         /*pg: (d.sources::json ->> 'last_at')::bigint -- */ json_extract(d.sources, '$.last_at')
    from documents d join sessions s on s.id = d.key
   where d.kind = 'gist' and d.content <> '' and d.sources is not null
     and d.version = (select max(version) from documents where kind = 'gist' and key = d.key);

-- What there is already is news to steps that never ran.
insert into news (step, key, at)
  select 'flush', e.session_id, max(e.stored_at) from exchanges e left join flushes f on f.session_id = e.session_id
   where e.id > coalesce(f.through, 0) group by e.session_id;
insert into news (step, key, at) select 'detect', c.session_id, d.made_at from digests d join captures c on c.num = d.capture;
insert into news (step, key, at) select 'reflect', c.session_id, d.made_at from digests d join captures c on c.num = d.capture;
insert into news (step, key, at)
  select 'rot', kind || '	' || key, max(at) from passages where kind in ('gist', 'article', 'daily') group by kind, key;
