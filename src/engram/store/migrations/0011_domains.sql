-- What a repository belongs to, as somebody's map says: the key is a path, or the last parts of one, in small letters.
create table domains (
  repo text primary key,
  domain text not null
);
alter table sessions add column domain text not null default '';
