-- The counts of a deleted pool are closed. A node that does not know yet that the pool was deleted cannot queue items in it.
alter table queue_depths add column closed boolean not null default false;
alter table queue_depths add constraint queue_depths_closed check (not closed or depth <= 0);
