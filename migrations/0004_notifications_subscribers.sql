-- What the service needs to act for a tenant elsewhere. Credentials are sealed and never given out.
create table connector_connections (
  tenant_id          ulid not null,
  id                 ulid not null,
  name               text not null,
  provider_key       text not null,
  provider_config_id text not null default '',
  end_user           jsonb not null default '{}',
  status             text not null check (status in ('active', 'needs_reauth', 'revoked')),
  scopes             text[] not null default '{}',
  -- What is no secret, such as a host name.
  settings           jsonb not null default '{}',
  ciphertext         text not null,
  key_id             text not null,
  expires_at         timestamptz,
  last_refreshed_at  timestamptz,
  revoked_at         timestamptz,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  record_version     integer not null default 1,
  primary key (tenant_id, id)
);
create index connector_connections_by_key on connector_connections (key_id);

create table notification_subscribers (
  tenant_id      ulid not null,
  id             ulid not null,
  external_id    text collate "C" not null,
  first_name     text not null default '',
  last_name      text not null default '',
  email          text not null default '',
  phone          text not null default '',
  avatar         text not null default '',
  locale         text not null default '',
  timezone       text not null default '',
  data           jsonb not null default '{}',
  active         boolean not null default true,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id),
  unique (tenant_id, external_id)
);
create index notification_subscribers_by_email on notification_subscribers (tenant_id, lower(email), id) where email <> '';

create table notification_endpoints (
  tenant_id      ulid not null,
  id             ulid not null,
  subscriber_id  ulid not null,
  channel        text not null check (channel in ('email', 'sms', 'push', 'chat', 'in_app')),
  provider_key   text collate "C" not null,
  identity       text collate "C" not null,
  connection_id  text collate "C" not null default '',
  verified       boolean not null default false,
  metadata       jsonb not null default '{}',
  last_used_at   timestamptz not null,
  -- Set when the other side said that it is gone for good.
  suppressed_at  timestamptz,
  removed_at     timestamptz,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index notification_endpoints_identity on notification_endpoints (tenant_id, channel, provider_key, identity)
  where removed_at is null;
create index notification_endpoints_by_subscriber on notification_endpoints (tenant_id, subscriber_id, id);

create table notification_topics (
  tenant_id      ulid not null,
  id             ulid not null,
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
  tenant_id     ulid not null,
  topic_key     text collate "C" not null,
  id            ulid not null,
  subscriber_id ulid not null,
  context_keys  text[] not null default '{}',
  joined_xid    xid8 not null default pg_current_xact_id(),
  left_xid      xid8,
  created_at    timestamptz not null,
  left_at       timestamptz,
  primary key (tenant_id, topic_key, id)
);
create unique index notification_subscriptions_member on notification_subscriptions (tenant_id, topic_key, subscriber_id)
  where left_xid is null;
create index notification_subscriptions_by_subscriber on notification_subscriptions (tenant_id, subscriber_id, topic_key)
  where left_xid is null;
create index notification_subscriptions_left on notification_subscriptions (left_at) where left_at is not null;
