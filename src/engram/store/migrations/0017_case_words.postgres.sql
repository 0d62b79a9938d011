-- The words of cases, made from the store at any time.
create table case_words (
  id bigint primary key references cases (id) on delete cascade,
  words tsvector not null
);
create index case_words_by_word on case_words using gin (words);
