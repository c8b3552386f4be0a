alter table queue_items
  -- Whether other items wait for this one. Null for almost all items.
  add column blocks boolean,
  -- How an item that waits for others proceeds. Null for an item that waits for none.
  add column resume json;

-- The unfinished items that an item waits for. When such an item ends, its rows get the outcome in the same transaction.
-- Then the sweep deletes them, and releases or cancels the items that wait.
create table queue_dependencies (
  tenant_id ulid not null,
  -- The item that waits.
  item_id   ulid not null,
  -- The item that must end first.
  on_id     ulid not null,
  outcome   text check (outcome in ('completed', 'failed')),
  primary key (tenant_id, item_id, on_id)
);
create index queue_dependencies_on on queue_dependencies (tenant_id, on_id);
create index queue_dependencies_settled on queue_dependencies (tenant_id, item_id) where outcome is not null;
