-- Only for statements that compare the end of leases. For others, the planner would read all leases if it expects few.
drop index queue_items_leased;
create index queue_items_leased on queue_items (lease_until) where state = 'leased' and lease_until is not null;
