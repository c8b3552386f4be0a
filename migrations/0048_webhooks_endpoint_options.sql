alter table webhook_endpoints
  -- Whether events are sent one after the other, in the order of the log.
  add column ordered boolean not null default false,
  -- The delays between attempts, in seconds; the default schedule when empty.
  add column retry_delays_s integer[] not null default '{}',
  -- A JSON template of the body; null for the event itself.
  add column transform jsonb;

-- Headers that are sent with every message, sealed. The id is the endpoint's.
create table webhook_headers (
  tenant_id  ulid not null,
  id         ulid not null,
  names      text[] not null,
  ciphertext text not null,
  key_id     text not null,
  primary key (tenant_id, id)
);
create index webhook_headers_by_key on webhook_headers (key_id);

-- The order of the deliveries of ordered endpoints. Other deliveries have none.
create sequence webhook_delivery_order;
alter table webhook_deliveries add column sequence bigint;
create index webhook_deliveries_ordered on webhook_deliveries (tenant_id, endpoint_id, sequence)
  where status = 'pending' and sequence is not null;
