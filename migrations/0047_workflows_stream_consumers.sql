-- When a consumer is checked for whether it still acknowledges; null if the pins of its stream do not limit that.
alter table workflow_stream_consumers add column check_at timestamptz;
create index workflow_stream_consumers_check on workflow_stream_consumers (check_at) where check_at is not null;
