-- States of inbox messages: seen, read and archived. A message that is read is also seen. The last change of a state is
-- kept with its transaction, so that streams send changes in the order of their commits.
alter table notification_inbox
  add column seen_at timestamptz,
  add column archived_at timestamptz,
  add column changed_at timestamptz,
  add column changed_xid xid8;

-- Messages that were read before this migration.
update notification_inbox set seen_at = read_at where read_at is not null;

-- Serves both counts, because a message that is unseen is also unread.
drop index notification_inbox_unread;
create index notification_inbox_unread on notification_inbox (tenant_id, subscriber_id)
  where read_at is null and archived_at is null;
-- Partial, so that a new message costs nothing more.
create index notification_inbox_changed on notification_inbox (tenant_id, subscriber_id, changed_xid, id)
  where changed_xid is not null;

-- Subscriber tokens are signed and not stored. A token contains the number of earlier revocations, and is refused after the
-- next one.
alter table notification_subscribers add column token_revocations integer not null default 0;
