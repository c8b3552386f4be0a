alter table workflow_dead_letters
  -- Copies of what the last run says, because the run is deleted earlier than a letter that failed again.
  add column environment_key text not null default '',
  add column definition_key text not null default '',
  add column version integer not null default 0,
  add column error_message text not null default '',
  add column first_failed_at timestamptz not null default now(),
  -- Why it was quarantined or discarded, and who changed it last.
  add column reason text not null default '',
  add column changed_by text not null default '';
-- For the retention.
create index workflow_dead_letters_failed on workflow_dead_letters (failed_at);
-- For the count of open letters of all tenants.
create index workflow_dead_letters_unreplayed on workflow_dead_letters (failed_at) where state = 'open';
