-- What an imported digest says, as JSON with its outcome: it stands, and what is computed later only adds to it.
alter table digests add column given text;
update digests set given = '{"outcome": "' || outcome || '", "confidence": ' || cast(confidence as text) || ', '
  || substr(facts, 2) where version = 0;
