-- Windows of usage are divided at changes of plans, which are found by their time.
create index billing_segments_started on billing_segments (starts_at);
create index billing_segments_ended on billing_segments (ends_at);
