-- When the grant of a connection ends, and when its tenant is told to have it granted again.
alter table connector_connections
  -- Null if the grant does not end by itself, or if the provider does not say when.
  add column grant_expires_at timestamptz,
  -- Null if nothing has to be told, or if it was told already.
  add column reauth_notice_at timestamptz;

create index connector_connections_notice on connector_connections (reauth_notice_at) where reauth_notice_at is not null;
