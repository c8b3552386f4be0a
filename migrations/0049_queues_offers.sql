-- An offered item is held with hold_reason 'offer': recipient_id is who may accept it, due_at when the offer expires.
-- The columns are null in pools without reservations, so such items take no more space.
alter table queue_items
  -- The number of the last offer; it fences acceptance. Null for none.
  add column offer_number integer,
  -- When the last offer was made.
  add column offered_at   timestamptz,
  -- The recipients that declined the item, or let its offer expire, since everyone was last considered.
  add column refused_by   text[] collate "C",
  add column refused_at   timestamptz;
create index queue_items_offered on queue_items (tenant_id, pool_id, recipient_id, id)
  where state = 'held' and hold_reason = 'offer';

-- Offers that ended. An open offer is in the row of its item.
create table queue_offers (
  tenant_id    ulid not null,
  item_id      ulid not null,
  number       integer not null,
  pool_id      ulid not null,
  recipient_id text collate "C" not null,
  -- accepted, declined, expired or withdrawn.
  outcome      text not null,
  offered_at   timestamptz not null,
  ended_at     timestamptz not null,
  -- The attempt that an accepted offer began.
  attempt      integer,
  reason_code  text not null default '',
  reason       text not null default '',
  -- Who accepted, declined or withdrew it; empty for the service itself.
  ended_by     text not null default '',
  primary key (tenant_id, item_id, number)
);
create index queue_offers_by_age on queue_offers using brin (ended_at);
