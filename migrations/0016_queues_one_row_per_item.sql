-- An item and its decision are one row. The row is deleted when the item ends, and one row is appended to the history.
-- Nothing is rewritten here, so this takes no time. A job converts earlier rows in batches while nodes serve.
alter table decisions rename to unconverted_decisions;
alter table queue_items
  add column type             text,
  add column key              text,
  add column attributes       json,
  add column requirements     json,
  add column payload          json,
  -- The requested priority. Rules may have changed the item's own.
  add column decided_priority integer,
  add column outcome          text,
  -- The recipient that the decision chose. The item may have another one by now.
  add column decided_for      text collate "C",
  add column snapshot_digest  bytea,
  add column seed             bigint,
  add column evidence         json,
  -- Whether somebody reported an outcome before the item was completed.
  add column reported         boolean;
-- Ended items leave the table.
drop index queue_items_ended;

-- Ended items with their decisions, and decisions without an item. One partition for each day, so that expired rows are
-- dropped with their partition.
create table routing_history (
  tenant_id         ulid not null,
  id                ulid not null,
  pool_id           ulid not null,
  -- When the item ended, or when a decision without an item was made.
  ended_at          timestamptz not null,
  type              text not null,
  key               text not null,
  attributes        json not null,
  requirements      json not null,
  payload           json not null,
  decided_priority  integer not null,
  outcome           text not null,
  decided_for       text collate "C" not null,
  snapshot_digest   bytea not null,
  seed              bigint not null,
  evidence          json not null,
  -- The item; all null for a decision without one.
  state             text,
  delivery          text,
  recipient_id      text collate "C",
  priority          integer,
  expires_at        timestamptz,
  attempt           integer,
  leased_at         timestamptz,
  failures          jsonb,
  done_token        text,
  survivor_id       text collate "C",
  singleton_group   text,
  debounce_group    text,
  throttle_group    text,
  concurrency_group text,
  -- True if its recipient completed the item and nobody reported an outcome. Other outcomes are in the table outcomes.
  succeeded         boolean,
  latency_ms        double precision
) partition by range (ended_at);
create index routing_history_by_id on routing_history (tenant_id, id);
create index routing_history_outcomes on routing_history (pool_id, ended_at) where succeeded;

create table routing_history_default partition of routing_history default;
do $$
declare
  today date := (now() at time zone 'utc')::date;
begin
  -- Converted rows.
  execute format('create table routing_history_converted partition of routing_history for values from (minvalue) to (%L)',
    today::timestamp at time zone 'utc');
  create index on routing_history_converted (ended_at);
  -- The service creates the later ones.
  for day in 0..7 loop
    execute format('create table %I partition of routing_history for values from (%L) to (%L)',
      'routing_history_' || to_char(today + day, 'YYYYMMDD'),
      (today + day)::timestamp at time zone 'utc', (today + day + 1)::timestamp at time zone 'utc');
  end loop;
end $$;

-- Converts an earlier item when it is changed, so that statements that change items need not know of earlier rows.
create function convert_queue_item() returns trigger language plpgsql as $$
begin
  delete from unconverted_decisions d where d.tenant_id = new.tenant_id and d.id = new.id
  returning d.type, d.key, d.attributes, d.requirements, d.payload, d.priority, d.outcome, d.recipient_id,
    d.snapshot_digest, d.seed, d.evidence
  into new.type, new.key, new.attributes, new.requirements, new.payload, new.decided_priority, new.outcome,
    new.decided_for, new.snapshot_digest, new.seed, new.evidence;
  new.reported = exists (select from outcomes o where o.tenant_id = new.tenant_id and o.decision_id = new.id);
  return new;
end $$;
create trigger queue_items_convert before update on queue_items for each row when (new.type is null)
  execute function convert_queue_item();

-- All items, ended ones included.
create view all_items as
  select false as archived, q.tenant_id, q.id, q.pool_id, q.recipient_id, q.state, q.delivery, q.hold_reason, q.priority, q.rank, q.due_at,
    q.expires_at, q.attempt, q.leased_at, q.lease_until, q.ended_at, q.survivor_id, q.failures, q.done_token,
    q.singleton_group, q.debounce_group, q.throttle_group, q.concurrency_group, q.assign_tries, q.assign_reason,
    q.assign_after,
    coalesce(q.type, (select u.type from unconverted_decisions u where u.tenant_id = q.tenant_id and u.id = q.id)) as type,
    coalesce(q.key, (select u.key from unconverted_decisions u where u.tenant_id = q.tenant_id and u.id = q.id)) as key,
    coalesce(q.attributes,
      (select u.attributes from unconverted_decisions u where u.tenant_id = q.tenant_id and u.id = q.id)) as attributes,
    coalesce(q.requirements,
      (select u.requirements from unconverted_decisions u where u.tenant_id = q.tenant_id and u.id = q.id)) as requirements,
    coalesce(q.payload,
      (select u.payload from unconverted_decisions u where u.tenant_id = q.tenant_id and u.id = q.id)) as payload,
    coalesce(q.decided_priority,
      (select u.priority from unconverted_decisions u where u.tenant_id = q.tenant_id and u.id = q.id)) as decided_priority
  from queue_items q
  union all
  select true, h.tenant_id, h.id, h.pool_id, h.recipient_id, h.state, h.delivery, '', h.priority, 0::bigint, null::timestamptz,
    h.expires_at, h.attempt, h.leased_at, null::timestamptz, h.ended_at, coalesce(h.survivor_id, ''),
    coalesce(h.failures, '[]'::jsonb), coalesce(h.done_token, ''), coalesce(h.singleton_group, ''),
    coalesce(h.debounce_group, ''), coalesce(h.throttle_group, ''), coalesce(h.concurrency_group, ''), null::integer,
    null::text, null::timestamptz, h.type, h.key, h.attributes, h.requirements, h.payload, h.decided_priority
  from routing_history h where h.state is not null;

-- All decisions: of items, of ended items, and those without an item. held_by is the item's last recipient.
create view decisions as
  select q.tenant_id, q.id, q.pool_id, q.type, q.key, q.attributes, q.requirements, q.payload,
    q.decided_priority as priority, q.outcome, q.decided_for as recipient_id, q.snapshot_digest, q.seed, q.evidence,
    q.delivery <> 'none' as queued, coalesce(nullif(q.recipient_id, ''), q.decided_for) as held_by
  from queue_items q where q.type is not null
  union all
  select h.tenant_id, h.id, h.pool_id, h.type, h.key, h.attributes, h.requirements, h.payload, h.decided_priority,
    h.outcome, h.decided_for, h.snapshot_digest, h.seed, h.evidence, coalesce(h.delivery <> 'none', false),
    coalesce(nullif(h.recipient_id, ''), h.decided_for)
  from routing_history h
  union all
  select u.tenant_id, u.id, u.pool_id, u.type, u.key, u.attributes, u.requirements, u.payload, u.priority, u.outcome,
    u.recipient_id, u.snapshot_digest, u.seed, u.evidence,
    exists (select from queue_items q where q.tenant_id = u.tenant_id and q.id = u.id and q.delivery <> 'none'),
    coalesce((select nullif(q.recipient_id, '') from queue_items q where q.tenant_id = u.tenant_id and q.id = u.id),
      u.recipient_id)
  from unconverted_decisions u;

-- All outcomes: reported ones, and those of completed items.
create view all_outcomes as
  select o.tenant_id, o.decision_id, o.pool_id, o.recipient_id, o.status, o.latency_ms, o.score, o.cost, o.observed_at,
    o.recorded_at
  from outcomes o
  union all
  select h.tenant_id, h.id, h.pool_id, h.recipient_id, 'success', h.latency_ms, null::double precision,
    null::double precision, h.ended_at, h.ended_at
  from routing_history h where h.succeeded;
