-- When a paused queue is resumed by itself; null for never.
alter table queue_states add column resume_at timestamptz;
create index queue_states_due on queue_states (resume_at) where resume_at is not null;
