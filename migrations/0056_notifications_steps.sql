-- What happens before and between the messages of a workflow, in order.
alter table notification_workflows add column steps jsonb not null default '[]';

-- The way of one recipient through the steps of a workflow.
create table notification_runs (
  tenant_id      ulid not null,
  id             ulid not null,
  transaction_id ulid not null,
  workflow_key   text collate "C" not null,
  subscriber_id  ulid not null,
  topic_key      text collate "C" not null default '',
  context_keys   text[] not null default '{}',
  user_id        text not null default '',
  -- The channels that the trigger requested; null for all.
  channels       text[],
  lane           text not null check (lane in ('single', 'broadcast')),
  status         text not null
    check (status in ('waiting', 'running', 'collected', 'completed', 'stopped', 'cancelled')),
  reason         text not null default '',
  -- The step that it waits in; empty before the first one.
  step_key       text not null default '',
  wake_at        timestamptz,
  -- The inbox message that it waits for; empty for none.
  awaited_id     text collate "C" not null default '',
  -- New for every lease: writes with an older token have no effect.
  lease_token    text not null default '',
  lease_until    timestamptz,
  failures       integer not null default 0,
  -- The run that leads the digest that it was collected into.
  leader_run_id  text collate "C" not null default '',
  outcomes       jsonb not null default '[]',
  -- The triggers that its digest collected, for templates.
  digest         jsonb,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 85);
create index notification_runs_by_transaction on notification_runs (tenant_id, transaction_id, id);
create index notification_runs_waiting on notification_runs (lane, tenant_id, wake_at, id) where status = 'waiting';
create index notification_runs_running on notification_runs (lease_until) where status = 'running';
create index notification_runs_awaiting on notification_runs (tenant_id, awaited_id) where awaited_id <> '';
create index notification_runs_ended on notification_runs (updated_at)
  where status in ('completed', 'stopped', 'cancelled');

-- Open digests. A digest is deleted when its window ends.
create table notification_digests (
  tenant_id     ulid not null,
  id            ulid not null,
  workflow_key  text collate "C" not null,
  step_key      text not null,
  subscriber_id ulid not null,
  digest_key    text collate "C" not null,
  -- The run that continues when the window ends.
  run_id        ulid not null,
  closes_at     timestamptz not null,
  total_count   integer not null,
  kept_count    integer not null,
  kept_bytes    bigint not null,
  primary key (tenant_id, id),
  unique (tenant_id, workflow_key, step_key, subscriber_id, digest_key)
);
create index notification_digests_by_run on notification_digests (tenant_id, run_id);

-- The payloads of open digests, one for each run that was collected.
create table notification_digest_events (
  tenant_id      ulid not null,
  digest_id      ulid not null,
  run_id         ulid not null,
  transaction_id ulid not null,
  payload        jsonb not null,
  bytes          integer not null,
  at             timestamptz not null,
  primary key (tenant_id, digest_id, run_id)
);
create index notification_digest_events_by_run on notification_digest_events (tenant_id, run_id);

-- When runs of a subscriber passed a throttle within its window.
create table notification_throttles (
  tenant_id     ulid not null,
  workflow_key  text collate "C" not null,
  step_key      text not null,
  subscriber_id ulid not null,
  throttle_key  text collate "C" not null,
  passed_at     timestamptz[] not null,
  expires_at    timestamptz not null,
  primary key (tenant_id, workflow_key, step_key, subscriber_id, throttle_key)
);
create index notification_throttles_expired on notification_throttles (expires_at);
