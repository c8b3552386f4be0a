-- Items that wait for a recipient: how often one was sought in vain, why, in which snapshot of the pool, and when next.
-- All are null for an item that nobody has sought a recipient for since it became ready.
alter table queue_items
  add column assign_tries    integer,
  add column assign_reason   text,
  add column assign_snapshot text,
  add column assign_after    timestamptz;
