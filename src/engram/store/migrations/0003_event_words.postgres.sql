-- The full-text index of events; made from the bodies, and made again from them at any time.
create table event_words (
  id bigint primary key references events (id) on delete cascade,
  words tsvector not null
);
create index event_words_by_word on event_words using gin (words);
create table blob_contents (
  sha256 text primary key,
  content bytea not null
);
