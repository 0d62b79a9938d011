-- The words of cases, made from the store at any time.
create virtual table case_words using fts5 (
  words, content='', contentless_delete=1, detail='none', tokenize="unicode61 remove_diacritics 0 tokenchars '_'"
);
insert into case_words (case_words, rank) values ('secure-delete', 1);
