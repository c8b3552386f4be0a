-- A session in which an end user connects an account on the hosted page.
create table connector_connect_sessions (
  tenant_id             ulid not null,
  id                    ulid not null,
  environment_id        ulid not null,
  environment_key       text not null,
  status                text not null
    check (status in ('pending', 'authorizing', 'completed', 'failed', 'expired', 'revoked')),
  allowed_provider_keys text[] not null,
  -- The config that the caller chose; empty for the provider's default.
  provider_config_id    text not null default '',
  end_user              jsonb not null,
  -- The connection to reconnect; empty for a new one.
  connection_id         text not null default '',
  connection_name       text not null default '',
  scopes                text[] not null default '{}',
  allowed_origins       text[] not null default '{}',
  success_redirect_uri  text not null default '',
  error_redirect_uri    text not null default '',
  require_completion    boolean not null default false,
  -- SHA-256 of the token, which opens the session once.
  token_hash            bytea not null,
  -- SHA-256 of the cookie of the browser that opened it.
  cookie_hash           bytea,
  -- Submissions of the end user. They are limited, so that nobody tries out credentials.
  attempts              integer not null default 0,
  -- The current authorization; its values are cleared when the session ends.
  provider_key          text not null default '',
  auth_mode             text not null default '',
  used_config_id        text not null default '',
  manifest_digest       text not null default '',
  state_hash            bytea,
  state_expires_at      timestamptz,
  -- Sealed: the code verifier and fields of the end user, and what awaits completion.
  ciphertext            text not null default '',
  -- SHA-256 of the code with which a backend completes the session.
  completion_hash       bytea,
  awaiting_completion   boolean not null default false,
  result_connection_id  text not null default '',
  error_code            text not null default '',
  error_detail          text not null default '',
  expires_at            timestamptz not null,
  ended_at              timestamptz,
  created_at            timestamptz not null,
  updated_at            timestamptz not null,
  record_version        integer not null default 1,
  primary key (tenant_id, id)
);

-- The hosted page knows only the id, and a callback only the state.
create unique index connector_connect_sessions_by_id on connector_connect_sessions (id);
create unique index connector_connect_sessions_by_state on connector_connect_sessions (state_hash)
  where state_hash is not null;
create index connector_connect_sessions_by_end_user on connector_connect_sessions (tenant_id, (end_user ->> 'id'), id);
create index connector_connect_sessions_open on connector_connect_sessions (expires_at)
  where status in ('pending', 'authorizing');
create index connector_connect_sessions_ended on connector_connect_sessions (ended_at) where ended_at is not null;
