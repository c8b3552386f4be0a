-- An identity provider that signs people of a tenant in.
create table sso_connections (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  name           text not null,
  kind           text not null check (kind in ('oidc', 'saml')),
  status         text not null default 'active' check (status in ('active', 'disabled')),
  just_in_time   boolean not null default false,
  default_roles  text[] not null default '{}',
  email_domains  text[] not null default '{}',
  -- Those of the email domains that have the TXT record of the connection.
  verified_domains text[] not null default '{}',
  domains_checked_at timestamptz,
  -- Whether members with an address of a verified domain can sign in only with this connection.
  enforced       boolean not null default false,
  -- When somebody first signed in with the current settings.
  first_sign_in_at timestamptz,
  settings       jsonb not null,
  -- Sealed: the client secret of OIDC, the private key of SAML.
  ciphertext     text not null default '',
  key_id         text not null default '',
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create index sso_connections_by_key on sso_connections (key_id) where key_id <> '';

-- The accounts at identity providers that belong to a member.
create table sso_accounts (
  tenant_id     text collate "C" not null,
  connection_id text collate "C" not null,
  subject       text not null,
  member_id     text collate "C" not null,
  -- The groups of the last sign-in with the account.
  groups        text[] not null default '{}',
  created_at    timestamptz not null,
  primary key (tenant_id, connection_id, subject)
);
create index sso_accounts_by_member on sso_accounts (tenant_id, member_id);

-- A sign-in that a browser has started. Its secrets are in the browser's cookie; only hashes are stored.
create table sso_attempts (
  tenant_id     text collate "C" not null,
  id            text collate "C" not null,
  connection_id text collate "C" not null,
  -- SHA-256 of the state of OIDC, or of the request id of SAML.
  state_hash    bytea not null,
  cookie_hash   bytea not null,
  return_to     text not null default '',
  -- Set when a SAML response was verified: the person, and SHA-256 of the ticket that finishes the sign-in.
  identity      jsonb,
  ticket_hash   bytea,
  expires_at    timestamptz not null,
  created_at    timestamptz not null,
  primary key (tenant_id, id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create unique index sso_attempts_by_state on sso_attempts (tenant_id, state_hash);
create unique index sso_attempts_by_ticket on sso_attempts (tenant_id, ticket_hash) where ticket_hash is not null;
create index sso_attempts_by_expiry on sso_attempts (expires_at);

-- Ids of SAML messages that were accepted. Each is accepted once, on whichever node, until it expires.
create table saml_messages_seen (
  tenant_id     text collate "C" not null,
  connection_id text collate "C" not null,
  message_id    text not null,
  expires_at    timestamptz not null,
  primary key (tenant_id, connection_id, message_id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index saml_messages_seen_by_expiry on saml_messages_seen (expires_at);

-- A link that signs a browser in, once.
create table login_links (
  tenant_id  text collate "C" not null,
  id         text collate "C" not null,
  token_hash bytea not null,
  member_id  text not null default '',
  api_key_id text not null default '',
  return_to  text not null default '',
  created_by text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  primary key (tenant_id, id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create unique index login_links_by_token on login_links (tenant_id, token_hash);
create index login_links_by_expiry on login_links (expires_at);

-- A browser in which somebody is signed in. The cookie is stored as SHA-256 only.
create table browser_sessions (
  tenant_id     text collate "C" not null,
  id            text collate "C" not null,
  token_hash    bytea not null,
  -- Either a member or an API key.
  member_id     text not null default '',
  api_key_id    text not null default '',
  method        text not null check (method in ('link', 'oidc', 'saml')),
  connection_id text not null default '',
  -- Groups that the identity provider named, which may have roles.
  groups        text[] not null default '{}',
  -- The name id and session index of SAML, for the sign-out.
  provider_data jsonb not null default '{}',
  user_agent    text not null default '',
  address       text not null default '',
  created_at    timestamptz not null,
  last_seen_at  timestamptz not null,
  expires_at    timestamptz not null,
  ended_at      timestamptz,
  end_reason    text not null default '',
  primary key (tenant_id, id),
  constraint browser_sessions_check check ((member_id = '') <> (api_key_id = ''))
) with (autovacuum_vacuum_scale_factor = 0.05);
create unique index browser_sessions_by_token on browser_sessions (tenant_id, token_hash);
create index browser_sessions_by_member on browser_sessions (tenant_id, member_id, id)
  where ended_at is null and member_id <> '';
create index browser_sessions_by_key on browser_sessions (tenant_id, api_key_id, id)
  where ended_at is null and api_key_id <> '';
create index browser_sessions_by_expiry on browser_sessions (expires_at) where ended_at is null;
create index browser_sessions_ended on browser_sessions (ended_at) where ended_at is not null;

-- The roles of a group of the identity provider.
create table group_roles (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  name           text not null,
  roles          text[] not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index group_roles_by_name on group_roles (tenant_id, lower(name));

-- A person that a directory provisions. Each is a member of the tenant.
create table scim_users (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  member_id      text collate "C" not null,
  user_name      text not null,
  external_id    text not null default '',
  active         boolean not null default true,
  -- The attributes as the directory sent them, with the names of the schema.
  attributes     jsonb not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index scim_users_by_name on scim_users (tenant_id, lower(user_name));
create unique index scim_users_by_member on scim_users (tenant_id, member_id);
create index scim_users_by_external_id on scim_users (tenant_id, external_id) where external_id <> '';

-- A group that a directory provisions.
create table scim_groups (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  display_name   text not null,
  external_id    text not null default '',
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index scim_groups_by_name on scim_groups (tenant_id, lower(display_name));
create index scim_groups_by_external_id on scim_groups (tenant_id, external_id) where external_id <> '';

create table scim_group_members (
  tenant_id text collate "C" not null,
  group_id  text collate "C" not null,
  user_id   text collate "C" not null,
  primary key (tenant_id, group_id, user_id)
);
create index scim_group_members_by_user on scim_group_members (tenant_id, user_id);
