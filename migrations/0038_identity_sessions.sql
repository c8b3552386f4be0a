-- Roles that a member has through groups of the identity provider, besides the member's own.
alter table members add column group_roles text[] not null default '{}';

-- An identity provider that signs people of a tenant in.
create table sso_connections (
  tenant_id      ulid not null,
  id             ulid not null,
  name           text not null,
  kind           text not null check (kind in ('oidc', 'saml')),
  status         text not null default 'active' check (status in ('active', 'disabled')),
  just_in_time   boolean not null default false,
  default_roles  text[] not null default '{}',
  email_domains  text[] not null default '{}',
  settings       jsonb not null,
  -- Sealed: the client secret of OIDC, the private key of SAML.
  ciphertext     text not null default '',
  key_id         text not null default '',
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
-- The sign-in pages know only the id.
create unique index sso_connections_by_id on sso_connections (id);
create index sso_connections_by_key on sso_connections (key_id) where key_id <> '';

-- The accounts at identity providers that belong to a member.
create table sso_accounts (
  tenant_id     ulid not null,
  connection_id ulid not null,
  subject       text not null,
  member_id     ulid not null,
  created_at    timestamptz not null,
  primary key (tenant_id, connection_id, subject)
);
create index sso_accounts_by_member on sso_accounts (tenant_id, member_id);

-- A sign-in that a browser has started. Its secrets are in the browser's cookie; only hashes are stored.
create table sso_attempts (
  tenant_id     ulid not null,
  id            ulid not null,
  connection_id ulid not null,
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
);
create unique index sso_attempts_by_state on sso_attempts (state_hash);
create unique index sso_attempts_by_ticket on sso_attempts (ticket_hash) where ticket_hash is not null;
create index sso_attempts_by_expiry on sso_attempts (expires_at);

-- A link that signs a browser in, once.
create table login_links (
  tenant_id  ulid not null,
  id         ulid not null,
  token_hash bytea not null,
  member_id  text not null default '',
  api_key_id text not null default '',
  return_to  text not null default '',
  created_by text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  primary key (tenant_id, id)
);
create unique index login_links_by_token on login_links (token_hash);
create index login_links_by_expiry on login_links (expires_at);

-- A browser in which somebody is signed in. The cookie is stored as SHA-256 only.
create table browser_sessions (
  tenant_id     ulid not null,
  id            ulid not null,
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
  check ((member_id = '') <> (api_key_id = ''))
);
create unique index browser_sessions_by_token on browser_sessions (token_hash);
create index browser_sessions_by_member on browser_sessions (tenant_id, member_id, id)
  where ended_at is null and member_id <> '';
create index browser_sessions_by_key on browser_sessions (tenant_id, api_key_id, id)
  where ended_at is null and api_key_id <> '';
create index browser_sessions_by_expiry on browser_sessions (expires_at) where ended_at is null;
create index browser_sessions_ended on browser_sessions (ended_at) where ended_at is not null;

-- The roles of a group of the identity provider.
create table group_roles (
  tenant_id      ulid not null,
  id             ulid not null,
  name           text not null,
  roles          text[] not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index group_roles_by_name on group_roles (tenant_id, lower(name));
