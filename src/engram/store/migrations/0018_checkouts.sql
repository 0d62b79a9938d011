-- Which repository a directory is a checkout of, so that the clones of a repository are one project.
create table checkouts (
  host text not null,             -- empty in a store of one machine
  path text not null,             -- the root of the main checkout, or a directory that is gone
  remote text not null,           -- host/owner/name in lower case; empty if it has none
  roots text,                     -- its first commits; null: not read yet, empty: they cannot be read
  project text not null,          -- the project of its sessions
  added_at bigint not null,
  looked_at bigint not null default 0,  -- when it was last compared with the other checkouts
  primary key (host, path, remote)
);
create index checkouts_by_remote on checkouts (remote);
create index checkouts_by_project on checkouts (project);
create index checkouts_by_path on checkouts (path);
