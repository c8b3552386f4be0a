-- Bulk work on notifications: cancellation of broadcasts, and imports of topic members.

alter table notification_broadcasts drop constraint notification_broadcasts_status_check;
alter table notification_broadcasts add constraint notification_broadcasts_status_check
  check (status in ('accepted', 'expanding', 'completed', 'failed', 'cancelling', 'cancelled'));
alter table notification_broadcasts add column cancelled_by text not null default '';

drop index notification_broadcasts_open;
create index notification_broadcasts_open on notification_broadcasts (next_page_at)
  where status in ('accepted', 'expanding', 'cancelling');
drop index notification_broadcasts_ended;
create index notification_broadcasts_ended on notification_broadcasts (updated_at)
  where status in ('completed', 'failed', 'cancelled');

create table notification_topic_imports (
  tenant_id     ulid not null,
  id            ulid not null,
  topic_key     text collate "C" not null,
  context_keys  text[] not null,
  -- The names that are still to be imported start at `processed`.
  names         jsonb not null,
  status        text not null check (status in ('running', 'completed', 'failed')),
  total         integer not null,
  processed     integer not null default 0,
  added         integer not null default 0,
  changed       integer not null default 0,
  unchanged     integer not null default 0,
  unknown       integer not null default 0,
  unknown_names text[] not null default '{}',
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  primary key (tenant_id, id)
);
create index notification_topic_imports_ended on notification_topic_imports (updated_at) where status <> 'running';
