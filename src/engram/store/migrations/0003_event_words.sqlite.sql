-- The full-text index of events; made from the bodies, and made again from them at any time.
create virtual table event_words using fts5 (
  words, content='', contentless_delete=1, detail='full', tokenize="unicode61 remove_diacritics 2 tokenchars '_'"
);
insert into event_words (event_words, rank) values ('secure-delete', 1);
