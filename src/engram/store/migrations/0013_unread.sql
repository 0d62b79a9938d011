-- Files that could not be read: why, and which adapters tried, so that newer ones try again.
alter table cursors add column unread text;                        -- the reason; null if the file was read
alter table cursors add column readers text not null default '';   -- versions of the adapters that read it or tried to
