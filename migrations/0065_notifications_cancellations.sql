-- An import can be cancelled before it has added all members.
alter table notification_topic_imports drop constraint notification_topic_imports_status_check;
alter table notification_topic_imports add constraint notification_topic_imports_status_check
  check (status in ('running', 'completed', 'failed', 'cancelled'));

-- The ids of subscriber tokens that were revoked alone. Those that have expired are removed with the next revocation.
alter table notification_subscribers add column revoked_tokens text[] not null default '{}';
