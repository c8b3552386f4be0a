-- The last reported progress of an unfinished item. Null for an item without one.
alter table queue_items add column progress json;
-- The result that its worker reported with the completion. Null for an item without one.
alter table routing_history add column result json;
