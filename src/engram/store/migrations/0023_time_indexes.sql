-- What is new is found by its time, however much is stored.
create index episodes_by_start on episodes (started_at);
create index episodes_by_end on episodes (ended_at);
create index passed_checks_by_time on passed_checks (at);
create index session_errors_by_project on session_errors (project, at);
drop index session_errors_not_fixed;
create index session_errors_not_fixed on session_errors (project, at) where fix = '' and fixed_in is null;
