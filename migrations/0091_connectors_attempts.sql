-- The last attempts to connect an account and to renew its tokens, newest first, without secrets.
alter table connector_connections add column attempts jsonb not null default '[]';
