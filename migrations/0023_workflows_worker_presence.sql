-- Until then a worker counts as present, even if it does not poll again. The default serves nodes of the previous version.
alter table workflow_workers add column present_until timestamptz not null default now() + interval '1 minute';
