-- The rate limit of a key, besides that of its tenant; 0 for none.
alter table api_keys add column max_rps integer not null default 0;
