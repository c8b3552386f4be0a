-- An import can be cancelled before it has added all members.
alter table notification_topic_imports drop constraint notification_topic_imports_status_check;
alter table notification_topic_imports add constraint notification_topic_imports_status_check
  check (status in ('running', 'completed', 'failed', 'cancelled'));
