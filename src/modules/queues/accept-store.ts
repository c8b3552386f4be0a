import type { TenantId } from "../../platform/access/index.ts";
import type { Sql } from "../../platform/db/index.ts";
import { type IdempotencyRecord, keyName } from "../../platform/idempotency/index.ts";
import { ulidMs } from "../../platform/ids/ulid.ts";
import { rankOf } from "./domain/queue-item.ts";

/** A decision as it is kept. */
export interface DecisionRow {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly poolId: string;
  readonly type: string;
  readonly key: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly requirements: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly priority: number;
  readonly outcome: string;
  readonly recipientId: string;
  /** In hexadecimal. */
  readonly snapshotDigest: string;
  readonly seed: number;
  readonly evidence: Readonly<Record<string, unknown>>;
}

/** The work that a decision makes, as it is put on the queue. */
export interface ItemRow {
  readonly recipientId: string;
  readonly delivery: "pull" | "push" | "none";
  readonly state: "pending" | "held" | "ready" | "leased";
  /** How many seconds of waiting one point of priority is worth. */
  readonly ageingS: number;
  /** For an item that nobody fetches: how long it counts as in flight. */
  readonly leaseS?: number;
  readonly dueAtMs: number | undefined;
  readonly holdReason: string;
  readonly expiresAtMs: number;
  readonly ownTtl: boolean;
  readonly groups: {
    readonly singleton: string;
    readonly debounce: string;
    readonly throttle: string;
    readonly concurrency: string;
  };
  readonly hasSlot: boolean;
}

/** An event about an item, kept with it. */
export interface ItemEventRow {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What one call brings: all of it is kept, or none when its idempotency key was used before. */
export interface Parcel {
  readonly rows: readonly {
    readonly decision: DecisionRow;
    /** The item's own priority, or what rules made of it. */
    readonly priority: number;
    readonly item: ItemRow | undefined;
    readonly events: readonly ItemEventRow[];
  }[];
  readonly record: IdempotencyRecord | undefined;
}

/**
 * Keeps what many calls bring, in one statement; answers with the indices of those whose key was used before.
 * Rows travel as one JSON text: they are wide and many, and one text costs both sides less than a dozen arrays.
 * Without a shard nothing is counted: whoever has more to do in the transaction counts at its end.
 */
export async function insertParcels(
  sql: Sql,
  parcels: readonly Parcel[],
  shard: number | undefined,
): Promise<ReadonlySet<number>> {
  const rows = parcels.flatMap((parcel, at) => parcel.rows.map((row) => flat(row, at)));
  // In one order everywhere, so that two nodes with the same keys never wait for each other.
  const records = parcels
    .flatMap(({ record }, at) => (record === undefined ? [] : [{ name: keyName(record), row: recordRow(record, at) }]))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ row }) => row);
  const events = parcels.flatMap((parcel, at) =>
    parcel.rows.flatMap(({ decision, events: each }) => each.map((event) => eventRow(decision.tenantId, event, at))),
  );
  const keyed = records.length > 0;
  const queued = rows.some((row) => row.state !== undefined);
  const result = await sql<{ parcel: number }[]>`
    with input as (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as input(
        parcel int, tenant_id text, id text, pool_id text, type text, key text, attributes jsonb, requirements jsonb,
        payload jsonb, priority int, item_priority int, outcome text, decided_for text, snapshot_digest text, seed bigint, evidence jsonb,
        recipient_id text, delivery text, state text, rank bigint, due_at timestamptz, hold_reason text,
        expires_at timestamptz, own_ttl boolean, singleton_group text, debounce_group text, throttle_group text,
        concurrency_group text, has_slot boolean, lease_s int)
    )
    ${
      keyed
        ? sql`, asked as (
      select *, row_number() over (partition by tenant_id, principal, operation, key order by parcel) as nth
      from json_to_recordset(${JSON.stringify(records)}::text::json) as asked(
        parcel int, tenant_id text, principal text, operation text, key text, fingerprint text, response text,
        created_at timestamptz)
    ), claimed as (
      insert into idempotency_records (tenant_id, principal, operation, key, fingerprint, state, response, created_at)
      select tenant_id, principal, operation, key, decode(fingerprint, 'hex'), 'completed', response, created_at
      from asked on conflict do nothing
      returning tenant_id, principal, operation, key
    ), refused as (
      -- Of two calls with one key that travel together the first counts.
      select parcel from asked where nth > 1 or (tenant_id, principal, operation, key) not in (select * from claimed)
    ), taken as (
      select * from input where parcel not in (select parcel from refused)
    )`
        : sql`, taken as (select * from input)`
    }, decided as (
      insert into decisions (tenant_id, id, pool_id, type, key, attributes, requirements, payload, priority, outcome,
        recipient_id, snapshot_digest, seed, evidence)
      select tenant_id, id, pool_id, type, key, attributes, requirements, payload, priority, outcome, decided_for,
        decode(snapshot_digest, 'hex'), seed, evidence from taken
    )
    ${
      queued
        ? sql`, queued as (
      insert into queue_items (tenant_id, id, pool_id, recipient_id, state, delivery, priority, rank, due_at,
        hold_reason, expires_at, own_ttl, singleton_group, debounce_group, throttle_group, concurrency_group, has_slot,
        lease_until)
      select tenant_id, id, pool_id, recipient_id, state, delivery, item_priority, rank, due_at, hold_reason, expires_at,
        own_ttl, singleton_group, debounce_group, throttle_group, concurrency_group, has_slot,
        now() + make_interval(secs => lease_s)
      from taken where state is not null
    )`
        : sql``
    }
    ${
      queued && shard !== undefined
        ? sql`, deeper as (
      insert into queue_depths (tenant_id, pool_id, shard, depth)
      select tenant_id, pool_id, ${shard}, count(*) from taken
      where state in ('pending', 'held', 'ready') group by tenant_id, pool_id order by tenant_id, pool_id
      on conflict (tenant_id, pool_id, shard) do update set depth = queue_depths.depth + excluded.depth
    ), counted as (
      insert into queue_days (tenant_id, pool_id, day, shard, accepted)
      select tenant_id, pool_id, (now() at time zone 'utc')::date, ${shard}, count(*) from taken
      where state is not null group by tenant_id, pool_id order by tenant_id, pool_id
      on conflict (tenant_id, pool_id, day, shard) do update set accepted = queue_days.accepted + excluded.accepted
    )`
        : sql``
    }
    ${
      events.length > 0
        ? sql`, told as (
      insert into events (tenant_id, id, type, source, subject, time, data)
      select tenant_id, id, type, source, subject, time, data
      from json_to_recordset(${JSON.stringify(events)}::text::json) as told(
        parcel int, tenant_id text, id text, type text, source text, subject text, time timestamptz, data jsonb)
      ${keyed ? sql`where parcel not in (select parcel from refused)` : sql``}
    )`
        : sql``
    }
    select parcel from ${keyed ? sql`refused` : sql`input where false`}`;
  return new Set(result.map(({ parcel }) => parcel));
}

function flat({ decision, item, priority }: Parcel["rows"][number], parcel: number) {
  const { tenantId, poolId, recipientId, snapshotDigest, ...rest } = decision;
  return {
    ...rest,
    parcel,
    tenant_id: tenantId,
    pool_id: poolId,
    decided_for: recipientId,
    snapshot_digest: snapshotDigest,
    state: item?.state,
    ...(item && {
      recipient_id: item.recipientId,
      delivery: item.delivery,
      item_priority: priority,
      lease_s: item.leaseS,
      rank: rankOf(ulidMs(decision.id), priority, item.ageingS),
      due_at: item.dueAtMs === undefined ? undefined : new Date(item.dueAtMs),
      hold_reason: item.holdReason,
      expires_at: new Date(item.expiresAtMs),
      own_ttl: item.ownTtl,
      singleton_group: item.groups.singleton,
      debounce_group: item.groups.debounce,
      throttle_group: item.groups.throttle,
      concurrency_group: item.groups.concurrency,
      has_slot: item.hasSlot,
    }),
  };
}

function recordRow(record: IdempotencyRecord, parcel: number) {
  const { tenantId, principal, operation, key, fingerprint, response, createdAt } = record;
  return {
    parcel,
    tenant_id: tenantId,
    principal,
    operation,
    key,
    fingerprint: fingerprint.toString("hex"),
    response,
    created_at: createdAt,
  };
}

function eventRow(tenantId: TenantId, event: ItemEventRow, parcel: number) {
  const { id, type, subject, data } = event;
  const source = `/${type.slice(0, type.indexOf("."))}`;
  return { parcel, tenant_id: tenantId, id, type, source, subject, time: new Date(), data };
}
