-- Lists of one channel, in the order of their ids.
create index notification_suppressions_channel on notification_suppressions (tenant_id, channel, id);
