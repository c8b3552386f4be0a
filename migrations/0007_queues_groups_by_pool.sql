-- One entry for each pool instead of one for each group: new groups are put at its end, and not into the midst of an
-- index of all of them. A pool's groups are sorted when they are listed, or found in the order of the primary key.
-- Without the tenant, although it is asked for by both: an index that begins with it would be taken for looking up single
-- groups by plans that were made while there were few, and have them read all groups of the tenant later.
create index admission_groups_of_pool on admission_groups (pool_id);
drop index admission_groups_by_pool;
