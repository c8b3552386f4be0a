-- The accounts that a grant reaches while none of them is chosen: id, label and captured values, without secrets.
alter table connector_connections add column account_choices jsonb not null default '[]';
alter table connector_connections drop constraint connector_connections_status_check;
alter table connector_connections add constraint connector_connections_status_check
  check (status in ('active', 'needs_account', 'needs_reauth', 'revoked'));
