-- Why recipients are paused, and until when. A row exists only while its recipient is paused.
create table recipient_pauses (
  tenant_id    ulid not null,
  recipient_id ulid not null,
  pool_id      ulid not null,
  cause        text not null check (cause in ('request', 'anomaly')),
  reason       text not null default '',
  actor        text not null,
  anomaly_id   text collate "C" not null default '',
  paused_at    timestamptz not null,
  -- When the recipient is resumed automatically; null for never.
  resume_at    timestamptz,
  primary key (tenant_id, recipient_id)
);
create index recipient_pauses_due on recipient_pauses (tenant_id, pool_id, resume_at) where resume_at is not null;

-- Recipients that an anomaly paused and that nobody has changed since.
insert into recipient_pauses (tenant_id, recipient_id, pool_id, cause, actor, anomaly_id, paused_at)
select r.tenant_id, r.id, r.pool_id, 'anomaly', 'anomaly-detection', a.id, a.detected_at
from recipients r
cross join lateral (
  select a.id, a.detected_at from anomalies a
  where a.tenant_id = r.tenant_id and a.pool_id = r.pool_id and a.recipient_id = r.id::text
    and 'auto_pause' = any(a.actions)
  order by a.id desc limit 1
) a
where r.status = 'paused' and a.detected_at = r.updated_at;

-- Until now, rules chose any pool for items without one. Pools opt in from now on; existing ones keep what they did.
update pools set config = config || '{"acceptsUnaddressed": true}';
