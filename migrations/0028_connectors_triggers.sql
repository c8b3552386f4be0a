-- Subscriptions to what happens in connected accounts, the events that they received, and their delivery to targets.
create table connector_trigger_subscriptions (
  tenant_id             ulid not null,
  id                    ulid not null,
  environment_id        ulid not null,
  -- The key of the environment. It never changes.
  environment_key       text not null,
  name                  text not null,
  trigger_key           text not null,
  provider_key          text not null,
  connection_id         ulid not null,
  kind                  text not null check (kind in ('webhook', 'poll')),
  input                 json not null,
  condition             text not null,
  -- {"kind": "workflow" | "route" | "record", …}
  target                json not null,
  paused                boolean not null default false,
  -- The provider ended the registration and no other could be made.
  expired               boolean not null default false,
  -- What fails: the registration or the polls, and the delivery of events.
  intake_error          text not null default '',
  delivery_error        text not null default '',
  status                text not null generated always as (case
    when paused then 'paused'
    when expired then 'expired'
    when intake_error <> '' or delivery_error <> '' then 'failing'
    else 'active' end) stored,
  ready_at              timestamptz,
  last_event_at         timestamptz,
  -- The secret of the caller and the secret part of the callback URL, sealed; empty if there is neither.
  ciphertext            text not null default '',
  key_id                text not null default '',
  -- The shard whose owner polls; the same for all subscriptions of a connection.
  shard                 smallint not null,
  -- When the next poll is due; null for webhooks and while paused. A claimed poll is due when the claim expires.
  poll_due_at           timestamptz,
  poll_claim            text not null default '',
  poll_failures         integer not null default 0,
  -- The start of the last complete scan: the next one looks back from here.
  scanned_at            timestamptz,
  -- An unfinished scan: {"startedAtMs", "pages", "items", "next"}; null between scans.
  scan                  json,
  -- How long a seen key is kept after the last scan that found it.
  ledger_s              integer not null default 0,
  created_at            timestamptz not null,
  updated_at            timestamptz not null,
  record_version        integer not null default 1,
  primary key (tenant_id, id)
) with (fillfactor = 70);
create index connector_trigger_subscriptions_connection on connector_trigger_subscriptions (tenant_id, connection_id, id);
create index connector_trigger_subscriptions_due on connector_trigger_subscriptions (shard, poll_due_at)
  where poll_due_at is not null;
create index connector_trigger_subscriptions_key on connector_trigger_subscriptions (key_id) where ciphertext <> '';

-- Webhooks at providers. A row outlives its subscription until the provider has removed the webhook.
create table connector_trigger_registrations (
  tenant_id       ulid not null,
  id              ulid not null,
  subscription_id ulid not null,
  trigger_key     text not null,
  connection_id   ulid not null,
  input           json not null,
  state           text not null check (state in ('pending', 'active', 'removing')),
  external_id     text not null default '',
  -- The secret that deliveries are signed with, and the secret part of the callback URL, sealed.
  ciphertext      text not null,
  key_id          text not null,
  expires_at      timestamptz,
  shard           smallint not null,
  -- When it is registered, renewed or removed next; null if never. A claimed row is due when the claim expires.
  due_at          timestamptz,
  claim           text not null default '',
  failures        integer not null default 0,
  last_error      text not null default '',
  created_at      timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 70);
create index connector_trigger_registrations_subscription on connector_trigger_registrations (tenant_id, subscription_id);
create index connector_trigger_registrations_due on connector_trigger_registrations (shard, due_at) where due_at is not null;
create index connector_trigger_registrations_key on connector_trigger_registrations (key_id);

-- The keys of received events and polled items. Whatever is in here is never received again.
create table connector_trigger_seen (
  tenant_id       ulid not null,
  subscription_id ulid not null,
  -- A digest of the provider's key.
  key             bytea not null,
  event_id        ulid not null,
  seen_at         timestamptz not null,
  primary key (tenant_id, subscription_id, key)
) with (fillfactor = 80);
create index connector_trigger_seen_at on connector_trigger_seen (seen_at);

-- Received events, in a partition per day, dropped after their retention.
create table connector_trigger_events (
  tenant_id       ulid not null,
  id              ulid not null,
  subscription_id ulid not null,
  environment_key text not null,
  type            text not null,
  dedup_key       text not null,
  payload         json not null,
  status          text not null check (status in ('pending', 'delivered', 'ignored', 'recorded', 'dead')),
  attempts        integer not null default 0,
  last_error      text not null default '',
  result          json,
  replays         integer not null default 0,
  received_at     timestamptz not null,
  ended_at        timestamptz
) partition by range (received_at);
create table connector_trigger_events_default partition of connector_trigger_events default;
create index on connector_trigger_events (tenant_id, id);
create index on connector_trigger_events (tenant_id, subscription_id, id);

-- Events that have to be delivered to the target of their subscription.
create table connector_trigger_deliveries (
  tenant_id       ulid not null,
  event_id        ulid not null,
  subscription_id ulid not null,
  received_at     timestamptz not null,
  -- The number of replays before: a part of the idempotency key.
  replay          integer not null default 0,
  due_at          timestamptz not null,
  claim           text not null default '',
  attempts        integer not null default 0,
  first_claimed_at timestamptz,
  primary key (tenant_id, event_id)
) with (fillfactor = 70);
create index connector_trigger_deliveries_due on connector_trigger_deliveries (tenant_id, due_at);
