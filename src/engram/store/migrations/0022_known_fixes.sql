-- Detection reads every session once more: it finds known fixes and stated rules now.
insert into news (step, key, at)
select 'detect', c.session_id, d.made_at from digests d join captures c on c.num = d.capture where true
on conflict (step, key) do nothing;
