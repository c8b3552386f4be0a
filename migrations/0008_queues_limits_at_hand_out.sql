-- Throttle tokens and concurrency places are taken when an item is handed out, so an item that waits for either is ready.
drop index queue_items_for_slot;
drop index queue_items_throttled;

-- An item may also wait for a time of its own, which is not stored apart from its turn: it waits for the later one.
update queue_items set state = 'pending', hold_reason = 'not_before'
where state = 'held' and hold_reason = 'throttle' and due_at > now();
update queue_items set state = 'ready', hold_reason = '', due_at = null
where state = 'held' and hold_reason in ('throttle', 'concurrency');
update queue_items set has_slot = false where has_slot and state <> 'leased';
update admission_groups g set in_use = (
  select count(*) from queue_items q
  where q.tenant_id = g.tenant_id and q.concurrency_group = g.group_id and q.state = 'leased' and q.has_slot)
where g.kind = 'concurrency';
-- Up to now a token was taken for every item that came in, also for those that still wait.
update admission_groups set until = null, tat_ms = least(tat_ms, extract(epoch from now()) * 1000)
where kind = 'throttle';

-- Finds the first items of each pair of groups in a pool, so that a group with many items hides no other.
create index queue_items_limited on queue_items
  (tenant_id, pool_id, recipient_id, throttle_group, concurrency_group, rank, id)
  where state = 'ready' and (throttle_group <> '' or concurrency_group <> '');
-- Finds what waits in one group.
create index queue_items_for_place on queue_items (tenant_id, concurrency_group, pool_id, rank, id)
  where state = 'ready' and concurrency_group <> '';
create index queue_items_for_token on queue_items (tenant_id, throttle_group, rank, id)
  where state = 'ready' and throttle_group <> '';

-- The token that completed an item: whoever repeats the completion is answered as the first time.
alter table queue_items add column done_token text not null default '';
