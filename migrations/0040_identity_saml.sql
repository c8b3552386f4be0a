-- Ids of SAML messages that were accepted. Each is accepted once, on whichever node, until it expires.
create table saml_messages_seen (
  tenant_id     ulid not null,
  connection_id ulid not null,
  message_id    text not null,
  expires_at    timestamptz not null,
  primary key (tenant_id, connection_id, message_id)
);
create index saml_messages_seen_by_expiry on saml_messages_seen (expires_at);
