-- Providers that channels are served by, in the order of their priority.
create table notification_integrations (
  tenant_id       ulid not null,
  id              ulid not null,
  channel         text not null check (channel in ('email', 'sms', 'push', 'chat', 'in_app')),
  name            text not null,
  provider_key    text not null,
  connection_id   text collate "C" not null default '',
  priority        integer not null default 100,
  active          boolean not null default true,
  condition       text not null default '',
  casing_override text not null default '',
  metadata        jsonb not null default '{}',
  removed_at      timestamptz,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  record_version  integer not null default 1,
  primary key (tenant_id, id)
);
create unique index notification_integrations_name on notification_integrations (tenant_id, channel, name)
  where removed_at is null;

create table notification_layouts (
  tenant_id      ulid not null,
  id             ulid not null,
  name           text not null,
  description    text not null default '',
  channel        text not null check (channel in ('email', 'sms', 'push', 'chat', 'inapp')),
  engine         text not null check (engine in ('handlebars', 'liquid')),
  body           text not null,
  text_body      text not null default '',
  is_default     boolean not null default false,
  version        integer not null default 1,
  variables      text[] not null default '{}',
  metadata       jsonb not null default '{}',
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (tenant_id, id),
  unique (tenant_id, channel, name)
);
create unique index notification_layouts_default on notification_layouts (tenant_id, channel) where is_default;

-- What each channel says for a workflow key, and its author's preferences: layer 1.
create table notification_workflows (
  tenant_id      ulid not null,
  workflow_key   text collate "C" not null,
  name           text not null default '',
  description    text not null default '',
  channels       jsonb not null default '{}',
  preferences    jsonb,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, workflow_key)
);

-- The author's preferences for one user of a workflow: layer 2.
create table notification_workflow_users (
  tenant_id      ulid not null,
  workflow_key   text collate "C" not null,
  user_id        text collate "C" not null,
  preferences    jsonb not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, workflow_key, user_id)
);

-- Subscribers' own preferences: layers 3 to 5.
create table notification_preferences (
  tenant_id      ulid not null,
  subscriber_id  ulid not null,
  id             ulid not null,
  layer          smallint not null check (layer between 3 and 5),
  workflow_key   text collate "C" not null default '',
  topic_key      text collate "C" not null default '',
  context_keys   text[] not null default '{}',
  -- Stands for the context keys, which may be longer than an index takes; empty for none.
  context_digest text collate "C" not null default '',
  preferences    jsonb not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, subscriber_id, id),
  unique (tenant_id, subscriber_id, layer, workflow_key, topic_key, context_digest)
);

-- What a trigger carries, kept apart from its deliveries for as long as they may be tried.
create table notification_payloads (
  tenant_id      ulid not null,
  transaction_id ulid not null,
  -- The payload and the overrides.
  body           jsonb not null,
  digest         bytea not null,
  created_at     timestamptz not null,
  expires_at     timestamptz not null,
  primary key (tenant_id, transaction_id)
);
create index notification_payloads_by_age on notification_payloads (expires_at);

create table notification_broadcasts (
  tenant_id      ulid not null,
  transaction_id ulid not null,
  workflow_key   text collate "C" not null,
  topic_key      text collate "C" not null,
  -- The database's snapshot in which membership counts.
  cutoff         text not null,
  -- What is sent to whom: channels asked for, user, payload's digest.
  manifest       jsonb not null,
  status         text not null check (status in ('accepted', 'expanding', 'completed', 'failed')),
  -- The last subscription that was expanded.
  position       text collate "C" not null default '',
  expanded       bigint not null default 0,
  total          bigint not null default 0,
  -- How often its next page could not be expanded, and when that is tried again.
  failures       integer not null default 0,
  next_page_at   timestamptz not null default now(),
  failure_code   text not null default '',
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (tenant_id, transaction_id)
);
create index notification_broadcasts_ended on notification_broadcasts (updated_at)
  where status in ('completed', 'failed');
create index notification_broadcasts_open on notification_broadcasts (next_page_at)
  where status in ('accepted', 'expanding');

create table notification_deliveries (
  tenant_id                ulid not null,
  id                       ulid not null,
  transaction_id           ulid not null,
  broadcast_id             text collate "C" not null default '',
  workflow_key             text collate "C" not null,
  subscriber_id            ulid not null,
  topic_key                text collate "C" not null default '',
  context_keys             text[] not null default '{}',
  user_id                  text not null default '',
  channel                  text not null,
  endpoint_id              text collate "C" not null default '',
  integration_id           text collate "C" not null default '',
  provider_key             text not null default '',
  connection_id            text collate "C" not null default '',
  layout_id                text collate "C" not null default '',
  layout_version           integer not null default 0,
  status                   text not null check (status in ('queued', 'running', 'sent', 'failed', 'skipped')),
  -- Which queue it waits in: single sends never wait behind a broadcast.
  lane                     text not null default 'single' check (lane in ('single', 'broadcast')),
  provider_message_id      text not null default '',
  failure_phase            text not null default '',
  failure_code             text not null default '',
  failure_detail           text not null default '',
  retryable                boolean not null default false,
  preference_reason_code   text not null,
  preference_winning_layer smallint,
  resolver_version         text not null,
  execution_attempt        integer not null default 0,
  provider_attempt         integer not null default 0,
  max_attempts             integer not null default 8,
  next_attempt_at          timestamptz,
  lease_token              text not null default '',
  lease_until              timestamptz,
  observation_state        text not null default 'not_expected',
  reconciliation_required  boolean not null default false,
  dead_letter_id           text collate "C" not null default '',
  queued_at                timestamptz not null,
  started_at               timestamptz,
  sent_at                  timestamptz,
  completed_at             timestamptz,
  primary key (tenant_id, id)
) with (fillfactor = 85);
create unique index notification_deliveries_once on notification_deliveries (tenant_id, transaction_id, subscriber_id,
  channel, endpoint_id);
create index notification_deliveries_by_subscriber on notification_deliveries (tenant_id, subscriber_id, id);
create index notification_deliveries_by_broadcast on notification_deliveries (tenant_id, broadcast_id, id)
  where broadcast_id <> '';
create index notification_deliveries_queued on notification_deliveries (lane, tenant_id, next_attempt_at, id)
  where status = 'queued';
create index notification_deliveries_running on notification_deliveries (lease_until) where status = 'running';
create index notification_deliveries_by_message on notification_deliveries (tenant_id, integration_id, provider_message_id)
  where provider_message_id <> '';

create table notification_dead_letters (
  tenant_id          ulid not null,
  id                 ulid not null,
  kind               text not null check (kind in ('delivery', 'fanout_page')),
  delivery_id        text collate "C" not null default '',
  broadcast_id       text collate "C" not null default '',
  transaction_id     ulid not null,
  subscriber_id      text collate "C" not null default '',
  channel            text not null default '',
  failure_phase      text not null,
  failure_code       text not null,
  failure_detail     text not null default '',
  attempts           integer not null,
  first_failed_at    timestamptz not null,
  last_failed_at     timestamptz not null,
  payload_digest     bytea not null,
  payload_expires_at timestamptz not null,
  status             text not null check (status in ('open', 'redriving', 'redriven', 'discarded', 'expired')),
  redrive_count      integer not null default 0,
  max_redrives       integer not null default 5,
  redriven_by        text not null default '',
  redrive_reason     text not null default '',
  primary key (tenant_id, id)
);
create index notification_dead_letters_by_age on notification_dead_letters (last_failed_at);
create index notification_dead_letters_by_status on notification_dead_letters (tenant_id, status, id);
create index notification_dead_letters_expiring on notification_dead_letters (payload_expires_at) where status = 'open';
create index notification_dead_letters_of_pages on notification_dead_letters (tenant_id, broadcast_id)
  where kind = 'fanout_page';

create table notification_observations (
  tenant_id         ulid not null,
  delivery_id       ulid not null,
  sequence          integer not null,
  kind              text not null,
  category          text not null check (category in ('delivery', 'engagement')),
  occurred_at       timestamptz not null,
  received_at       timestamptz not null,
  adapter_key       text not null,
  adapter_version   text not null,
  connection_id     text collate "C" not null default '',
  verification      text not null check (verification in ('signature', 'poll', 'sdk')),
  provider_event_id text not null,
  severity          text not null default '',
  machine_generated boolean not null default false,
  evidence_digest   bytea not null,
  attributes        jsonb not null default '{}',
  primary key (tenant_id, delivery_id, sequence),
  unique (tenant_id, adapter_key, provider_event_id)
);

-- What in_app deliveries put before a subscriber; a message has the id of its delivery.
create table notification_inbox (
  tenant_id     ulid not null,
  subscriber_id ulid not null,
  id            ulid not null,
  workflow_key  text collate "C" not null,
  title         text not null default '',
  body          text not null,
  data          jsonb not null default '{}',
  xid           xid8 not null default pg_current_xact_id(),
  read_at       timestamptz,
  created_at    timestamptz not null,
  primary key (tenant_id, subscriber_id, id)
);
create index notification_inbox_unread on notification_inbox (tenant_id, subscriber_id) where read_at is null;

-- What the development provider would have sent; a message has the id of its delivery.
create table notification_outbox (
  tenant_id    ulid not null,
  id           ulid not null,
  workflow_key text collate "C" not null,
  channel      text not null,
  recipient    text not null,
  subject      text not null default '',
  title        text not null default '',
  body         text not null,
  html         text not null default '',
  data         jsonb not null default '{}',
  created_at   timestamptz not null,
  primary key (tenant_id, id)
);
