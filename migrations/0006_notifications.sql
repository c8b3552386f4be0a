create table notification_subscribers (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  external_id    text collate "C" not null,
  first_name     text not null default '',
  last_name      text not null default '',
  email          text not null default '',
  -- When the address was last changed: reports of providers about earlier messages are about another address.
  email_set_at   timestamptz,
  phone          text not null default '',
  phone_set_at   timestamptz,
  avatar         text not null default '',
  locale         text not null default '',
  timezone       text not null default '',
  data           jsonb not null default '{}',
  active         boolean not null default true,
  -- Subscriber tokens are signed and not stored. A token contains the number of earlier revocations, and is refused after the
  -- next one.
  token_revocations   integer not null default 0,
  -- The ids of subscriber tokens that were revoked alone. Those that have expired are removed with the next revocation.
  revoked_tokens text[] not null default '{}',
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id),
  unique (tenant_id, external_id)
);
create index notification_subscribers_by_email on notification_subscribers (tenant_id, lower(email), id) where email <> '';

create table notification_endpoints (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  subscriber_id  text collate "C" not null,
  channel        text not null check (channel in ('email', 'sms', 'push', 'chat', 'in_app')),
  provider_key   text collate "C" not null,
  identity       text collate "C" not null,
  connection_id  text collate "C" not null default '',
  verified       boolean not null default false,
  metadata       jsonb not null default '{}',
  last_used_at   timestamptz not null,
  removed_at     timestamptz,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index notification_endpoints_identity on notification_endpoints (tenant_id, channel, provider_key, identity)
  where removed_at is null;
create index notification_endpoints_by_subscriber on notification_endpoints (tenant_id, subscriber_id, id);

-- The form in which addresses are compared. The case of e-mail addresses has no meaning.
create function suppression_identity(channel text, identity text) returns text
  language sql immutable parallel safe
  return case when channel = 'email' then lower(identity collate "C") else identity end;

-- Addresses that nothing is sent to, whoever they belong to and wherever they are stored.
create table notification_suppressions (
  tenant_id    text collate "C" not null,
  id           text collate "C" not null,
  channel      text not null check (channel in ('email', 'sms', 'push', 'chat')),
  -- As suppression_identity returns it.
  identity     text collate "C" not null,
  reason       text not null check (reason in ('bounced', 'complained', 'unsubscribed', 'unreachable', 'manual')),
  note         text not null default '',
  -- The message after which it was suppressed, and its provider; empty if it was suppressed by hand.
  delivery_id  text collate "C" not null default '',
  provider_key text collate "C" not null default '',
  created_at   timestamptz not null,
  primary key (tenant_id, id)
);
create unique index notification_suppressions_identity on notification_suppressions (tenant_id, channel, identity);
-- Lists of one channel, in the order of their ids.
create index notification_suppressions_channel on notification_suppressions (tenant_id, channel, id);

create table notification_topics (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  key            text collate "C" not null,
  name           text not null default '',
  description    text not null default '',
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, key)
);

-- Who is in a topic, and who was: a broadcast goes to those who were members in its snapshot, whatever happens after.
create table notification_subscriptions (
  tenant_id     text collate "C" not null,
  topic_key     text collate "C" not null,
  id            text collate "C" not null,
  subscriber_id text collate "C" not null,
  context_keys  text[] not null default '{}',
  joined_stamp  bigint not null default current_stamp(),
  left_stamp    bigint,
  created_at    timestamptz not null,
  left_at       timestamptz,
  primary key (tenant_id, topic_key, id)
);
create unique index notification_subscriptions_member on notification_subscriptions (tenant_id, topic_key, subscriber_id)
  where left_stamp is null;
create index notification_subscriptions_by_subscriber on notification_subscriptions (tenant_id, subscriber_id, topic_key)
  where left_stamp is null;
create index notification_subscriptions_left on notification_subscriptions (left_at) where left_at is not null;

-- Imports of topic members.
create table notification_topic_imports (
  tenant_id     text collate "C" not null,
  id            text collate "C" not null,
  topic_key     text collate "C" not null,
  context_keys  text[] not null,
  -- The names that are still to be imported start at `processed`.
  names         jsonb not null,
  status        text not null check (status in ('running', 'completed', 'failed', 'cancelled')),
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
) with (autovacuum_vacuum_scale_factor = 0.05);
create index notification_topic_imports_ended on notification_topic_imports (updated_at) where status <> 'running';

-- Subscribers' own preferences: layers 3 to 5.
create table notification_preferences (
  tenant_id      text collate "C" not null,
  subscriber_id  text collate "C" not null,
  id             text collate "C" not null,
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

-- The providers of each channel, used in the order of their priority.
create table notification_integrations (
  tenant_id       text collate "C" not null,
  id              text collate "C" not null,
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
  tenant_id   text collate "C" not null,
  id          text collate "C" not null,
  name        text not null,
  description text not null default '',
  channel     text not null check (channel in ('email', 'sms', 'push', 'chat', 'inapp')),
  engine      text not null check (engine in ('handlebars', 'liquid')),
  body        text not null,
  text_body   text not null default '',
  is_default  boolean not null default false,
  version     integer not null default 1,
  variables   text[] not null default '{}',
  metadata    jsonb not null default '{}',
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (tenant_id, id),
  unique (tenant_id, channel, name)
);
create unique index notification_layouts_default on notification_layouts (tenant_id, channel) where is_default;

-- Pieces of templates that workflows, layouts and other partials include.
create table notification_partials (
  tenant_id      text collate "C" not null,
  key            text collate "C" not null,
  description    text not null,
  engine         text not null check (engine in ('handlebars', 'liquid')),
  body           text not null,
  -- The partials that it includes.
  includes       text[] not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, key)
);

-- The templates of each channel for a workflow key, and the author's preferences: layer 1.
create table notification_workflows (
  tenant_id      text collate "C" not null,
  workflow_key   text collate "C" not null,
  name           text not null default '',
  description    text not null default '',
  channels       jsonb not null default '{}',
  -- The steps before and between the messages, in order.
  steps          jsonb not null default '[]',
  preferences    jsonb,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, workflow_key)
);

-- The author's preferences for one user of a workflow: layer 2.
create table notification_workflow_users (
  tenant_id      text collate "C" not null,
  workflow_key   text collate "C" not null,
  user_id        text collate "C" not null,
  preferences    jsonb not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, workflow_key, user_id)
);

-- Payloads of triggers, stored apart from their deliveries for as long as those may be tried.
create table notification_payloads (
  tenant_id      text collate "C" not null,
  transaction_id text collate "C" not null,
  -- The payload and the overrides.
  body           jsonb not null,
  digest         bytea not null,
  created_at     timestamptz not null,
  -- Set when the trigger is cancelled: nothing more is sent for it.
  cancelled_at   timestamptz,
  expires_at     timestamptz not null,
  primary key (tenant_id, transaction_id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index notification_payloads_by_age on notification_payloads (expires_at);

create table notification_broadcasts (
  tenant_id      text collate "C" not null,
  transaction_id text collate "C" not null,
  workflow_key   text collate "C" not null,
  topic_key      text collate "C" not null,
  -- The database's snapshot in which membership counts.
  cutoff         text not null,
  -- The requested channels, the user and the digest of the payload.
  manifest       jsonb not null,
  status         text not null
    check (status in ('accepted', 'expanding', 'completed', 'failed', 'cancelling', 'cancelled')),
  -- The last subscription that was expanded.
  position       text collate "C" not null default '',
  expanded       bigint not null default 0,
  total          bigint not null default 0,
  -- How often its next page could not be expanded, and when that is tried again.
  failures       integer not null default 0,
  next_page_at   timestamptz not null default now(),
  failure_code   text not null default '',
  cancelled_by   text not null default '',
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (tenant_id, transaction_id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index notification_broadcasts_open on notification_broadcasts (next_page_at)
  where status in ('accepted', 'expanding', 'cancelling');
create index notification_broadcasts_ended on notification_broadcasts (updated_at)
  where status in ('completed', 'failed', 'cancelled');

-- Runs of workflows with steps, one per recipient.
create table notification_runs (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  transaction_id text collate "C" not null,
  workflow_key   text collate "C" not null,
  subscriber_id  text collate "C" not null,
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
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.01);
create index notification_runs_by_transaction on notification_runs (tenant_id, transaction_id, id);
create index notification_runs_waiting on notification_runs (lane, tenant_id, wake_at, id) where status = 'waiting';
create index notification_runs_running on notification_runs (lease_until) where status = 'running';
create index notification_runs_awaiting on notification_runs (tenant_id, awaited_id) where awaited_id <> '';
create index notification_runs_ended on notification_runs (updated_at)
  where status in ('completed', 'stopped', 'cancelled');

-- Open digests. A digest is deleted when its window ends.
create table notification_digests (
  tenant_id     text collate "C" not null,
  id            text collate "C" not null,
  workflow_key  text collate "C" not null,
  step_key      text not null,
  subscriber_id text collate "C" not null,
  digest_key    text collate "C" not null,
  -- The run that continues when the window ends.
  run_id        text collate "C" not null,
  closes_at     timestamptz not null,
  total_count   integer not null,
  kept_count    integer not null,
  kept_bytes    bigint not null,
  primary key (tenant_id, id),
  unique (tenant_id, workflow_key, step_key, subscriber_id, digest_key)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index notification_digests_by_run on notification_digests (tenant_id, run_id);

-- The payloads of open digests, one for each run that was collected.
create table notification_digest_events (
  tenant_id      text collate "C" not null,
  digest_id      text collate "C" not null,
  run_id         text collate "C" not null,
  transaction_id text collate "C" not null,
  payload        jsonb not null,
  bytes          integer not null,
  at             timestamptz not null,
  primary key (tenant_id, digest_id, run_id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index notification_digest_events_by_run on notification_digest_events (tenant_id, run_id);

-- When runs of a subscriber passed a throttle within its window.
create table notification_throttles (
  tenant_id     text collate "C" not null,
  workflow_key  text collate "C" not null,
  step_key      text not null,
  subscriber_id text collate "C" not null,
  throttle_key  text collate "C" not null,
  passed_at     timestamptz[] not null,
  expires_at    timestamptz not null,
  primary key (tenant_id, workflow_key, step_key, subscriber_id, throttle_key)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index notification_throttles_expired on notification_throttles (expires_at);

create table notification_deliveries (
  tenant_id                text collate "C" not null,
  id                       text collate "C" not null,
  transaction_id           text collate "C" not null,
  broadcast_id             text collate "C" not null default '',
  workflow_key             text collate "C" not null,
  subscriber_id            text collate "C" not null,
  topic_key                text collate "C" not null default '',
  context_keys             text[] not null default '{}',
  -- The run and the step that created it; empty if its workflow has no steps.
  run_id                   text collate "C" not null default '',
  step_key                 text collate "C" not null default '',
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
  -- Counts the redrives after a definite failure. Each of them sends under an idempotency key of its own.
  key_generation           integer not null default 0,
  next_attempt_at          timestamptz,
  lease_token              text not null default '',
  lease_until              timestamptz,
  -- Whether the attempt under way may have reached a provider. False from the lease until the moment before it is sent.
  -- True by default, because a trigger sends its own deliveries right after it stored them.
  handed_over              boolean not null default true,
  observation_state        text not null default 'not_expected',
  reconciliation_required  boolean not null default false,
  dead_letter_id           text collate "C" not null default '',
  queued_at                timestamptz not null,
  started_at               timestamptz,
  -- When an attempt failed for the first time.
  first_failed_at          timestamptz,
  sent_at                  timestamptz,
  completed_at             timestamptz,
  primary key (tenant_id, id)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.01);
create index notification_deliveries_by_subscriber on notification_deliveries (tenant_id, subscriber_id, id);
create index notification_deliveries_by_broadcast on notification_deliveries (tenant_id, broadcast_id, id)
  where broadcast_id <> '';
create index notification_deliveries_queued on notification_deliveries (lane, tenant_id, next_attempt_at, id)
  where status = 'queued';
create index notification_deliveries_running on notification_deliveries (lease_until) where status = 'running';
create index notification_deliveries_by_message on notification_deliveries (tenant_id, integration_id, provider_message_id)
  where provider_message_id <> '';
-- Several steps of a workflow may send to the same address.
create unique index notification_deliveries_once_per_step on notification_deliveries (tenant_id, transaction_id,
  subscriber_id, channel, endpoint_id, step_key);

create table notification_dead_letters (
  tenant_id          text collate "C" not null,
  id                 text collate "C" not null,
  kind               text not null check (kind in ('delivery', 'fanout_page')),
  delivery_id        text collate "C" not null default '',
  broadcast_id       text collate "C" not null default '',
  transaction_id     text collate "C" not null,
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
) with (autovacuum_vacuum_scale_factor = 0.05);
create index notification_dead_letters_by_age on notification_dead_letters (last_failed_at);
create index notification_dead_letters_by_status on notification_dead_letters (tenant_id, status, id);
create index notification_dead_letters_expiring on notification_dead_letters (payload_expires_at) where status = 'open';
create index notification_dead_letters_of_pages on notification_dead_letters (tenant_id, broadcast_id)
  where kind = 'fanout_page';

create table notification_observations (
  tenant_id         text collate "C" not null,
  delivery_id       text collate "C" not null,
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
) with (autovacuum_vacuum_scale_factor = 0.05);
-- Finds observations after their retention.
create index notification_observations_by_age on notification_observations (received_at);

-- Messages of in_app deliveries. A message has the id of its delivery.
create table notification_inbox (
  tenant_id     text collate "C" not null,
  subscriber_id text collate "C" not null,
  id            text collate "C" not null,
  workflow_key  text collate "C" not null,
  title         text not null default '',
  body          text not null,
  data          jsonb not null default '{}',
  stamp         bigint not null default current_stamp(),
  -- States of inbox messages: seen, read and archived. A message that is read is also seen. The last change of a state is
  -- kept with its transaction, so that streams send changes in the order of their commits.
  seen_at       timestamptz,
  read_at       timestamptz,
  archived_at   timestamptz,
  changed_at    timestamptz,
  changed_stamp bigint,
  created_at    timestamptz not null,
  primary key (tenant_id, subscriber_id, id)
);
-- Serves the counts of unread and of unseen messages, because a message that is unseen is also unread.
create index notification_inbox_unread on notification_inbox (tenant_id, subscriber_id)
  where read_at is null and archived_at is null;
-- Partial, so that a new message costs nothing more.
create index notification_inbox_changed on notification_inbox (tenant_id, subscriber_id, changed_stamp, id)
  where changed_stamp is not null;

-- Messages that the development provider would have sent. A message has the id of its delivery.
create table notification_outbox (
  tenant_id    text collate "C" not null,
  id           text collate "C" not null,
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
) with (autovacuum_vacuum_scale_factor = 0.05);
