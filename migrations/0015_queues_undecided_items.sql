-- An item whose rules were not applied when it came in has the delivery 'undecided': nobody can lease it before that.
-- Finds these items, however many others wait.
create index queue_items_undecided on queue_items (tenant_id, pool_id, rank, id)
  where state = 'ready' and delivery = 'undecided';
