-- The form in which addresses are compared. The case of e-mail addresses has no meaning.
create function suppression_identity(channel text, identity text) returns text
  language sql immutable parallel safe
  return case when channel = 'email' then lower(identity collate "C") else identity end;

-- Addresses that nothing is sent to, whoever they belong to and wherever they are stored.
create table notification_suppressions (
  tenant_id    ulid not null,
  id           ulid not null,
  channel      text not null check (channel in ('email', 'sms', 'push', 'chat')),
  -- As suppression_identity returns it.
  identity     text collate "C" not null,
  reason       text not null check (reason in ('bounced', 'complained', 'unsubscribed', 'unreachable', 'manual')),
  note         text not null default '',
  -- The message after which it was suppressed, and its provider; empty if it was suppressed by hand.
  delivery_id  text collate "C" not null default '',
  provider_key text collate "C" not null default '',
  created_at   timestamptz not null,
  primary key (tenant_id, id)
);
create unique index notification_suppressions_identity on notification_suppressions (tenant_id, channel, identity);

-- Suppressions were marks on endpoints and profiles. Their reasons are not known any more.
insert into notification_suppressions (tenant_id, id, channel, identity, reason, created_at)
select distinct on (tenant_id, channel, suppression_identity(channel, identity))
  tenant_id, '0' || substr(upper(md5(concat_ws('|', tenant_id, channel, suppression_identity(channel, identity)))), 1, 25),
  channel, suppression_identity(channel, identity), 'unreachable', suppressed_at
from (
  select tenant_id, channel, identity, suppressed_at from notification_endpoints
  where suppressed_at is not null and removed_at is null and channel <> 'in_app'
  union all
  select tenant_id, 'email', email, email_suppressed_at from notification_subscribers
  where email_suppressed_at is not null and email <> ''
  union all
  select tenant_id, 'sms', phone, phone_suppressed_at from notification_subscribers
  where phone_suppressed_at is not null and phone <> ''
) suppressed
order by tenant_id, channel, suppression_identity(channel, identity), suppressed_at;

alter table notification_endpoints drop column suppressed_at;
alter table notification_subscribers drop column email_suppressed_at, drop column phone_suppressed_at;
