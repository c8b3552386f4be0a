import type { TenantId } from "../../platform/access/index.ts";
import type { Fragment, Sql } from "../../platform/db/index.ts";
import { claimParcels, type IdempotencyRecord } from "../../platform/idempotency/index.ts";
import { ulidMs } from "../../platform/ids/ulid.ts";
import { rankOf } from "./domain/queue-item.ts";
import { lines } from "./lines.ts";

/** A decision as it is kept. */
export interface DecisionRow {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly poolId: string;
  readonly type: string;
  readonly key: string;
  readonly attributesJson: string;
  readonly requirementsJson: string;
  readonly payloadJson: string;
  readonly priority: number;
  readonly outcome: string;
  readonly recipientId: string;
  /** In hexadecimal. */
  readonly snapshotDigest: string;
  readonly seed: number;
  readonly evidenceJson: string;
}

/** The work that a decision makes, as it is put on the queue. */
export interface ItemRow {
  readonly recipientId: string;
  readonly delivery: "pull" | "push" | "none";
  readonly state: "pending" | "held" | "ready" | "leased";
  /** How many seconds of waiting one point of priority is worth. */
  readonly ageingS: number;
  /** For an item that nobody fetches: how long it counts as in flight. */
  readonly leaseS?: number | undefined;
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
 * Without a shard nothing is counted: whoever has more to do in the transaction counts at its end.
 */
export async function insertParcels(
  sql: Sql,
  parcels: readonly Parcel[],
  shard: number | undefined,
): Promise<ReadonlySet<number>> {
  const rows = parcels.flatMap((parcel) => parcel.rows);
  // Of which parcel each row is.
  const places = parcels.flatMap((parcel, at) => parcel.rows.map(() => at));
  const keyed = parcels.some(({ record }) => record !== undefined);
  const queued = rows.some(({ item }) => item !== undefined);
  const usual = rows.every(isUsual);
  const taken = keyed ? sql`taken` : sql`input`;
  const result = await sql<{ parcel: number }[]>`
    with input as (${input(sql, rows, places, usual)})
    ${keyed ? claiming(sql, parcels) : sql``}
    , decided as (
      insert into decisions (tenant_id, id, pool_id, type, key, attributes, requirements, payload, priority, outcome,
        recipient_id, snapshot_digest, seed, evidence)
      select tenant_id, id, pool_id, type, key, attributes::json, requirements::json, payload::json, priority::int,
        outcome, coalesce(decided_for, ''), decode(snapshot_digest, 'hex'), seed::bigint, evidence::json
      from ${taken}
    )
    ${queued ? (usual ? queueingUsual(sql, taken) : queueing(sql, taken)) : sql``}
    ${queued && shard !== undefined ? counting(sql, taken, shard) : sql``}
    ${rows.some(({ events }) => events.length > 0) ? telling(sql, rows, places, keyed) : sql``}
    select parcel::int from ${keyed ? sql`refused` : sql`input where false`}`;
  return new Set(result.map(({ parcel }) => parcel));
}

type InputRow = Parcel["rows"][number];

/** Whether an item can be handed out at once and nothing about it is out of the ordinary: most are so. */
function isUsual({ decision, priority, item }: InputRow): boolean {
  if (item === undefined || item.state !== "ready" || item.ownTtl || item.hasSlot) return false;
  if (item.recipientId !== decision.recipientId || priority !== decision.priority) return false;
  const { singleton, debounce, throttle, concurrency } = item.groups;
  return singleton === "" && debounce === "" && throttle === "" && concurrency === "";
}

/**
 * The rows, sent by column: those of usual items without what they have not got, since every column costs something.
 * Only what callers name freely may hold a line break.
 */
function input(sql: Sql, rows: readonly InputRow[], places: readonly number[], usual: boolean): Fragment {
  const decided = (value: (decision: DecisionRow) => string | number) => lines(rows, ({ decision }) => value(decision));
  const queued = (value: (item: ItemRow) => string | number | boolean | undefined) =>
    lines(rows, ({ item }) => item && value(item));
  return sql`
    select * from rows from (
      string_to_table(${places.join("\n")}, E'\\n', ''),
      string_to_table(${decided(({ tenantId }) => tenantId)}, E'\\n', ''),
      string_to_table(${decided(({ id }) => id)}, E'\\n', ''),
      string_to_table(${decided(({ poolId }) => poolId)}, E'\\n', ''),
      unnest(${rows.map(({ decision }) => decision.type)}::text[]),
      unnest(${rows.map(({ decision }) => decision.key)}::text[]),
      string_to_table(${decided(({ attributesJson }) => attributesJson)}, E'\\n', ''),
      string_to_table(${decided(({ requirementsJson }) => requirementsJson)}, E'\\n', ''),
      string_to_table(${decided(({ payloadJson }) => payloadJson)}, E'\\n', ''),
      string_to_table(${decided(({ priority }) => priority)}, E'\\n', ''),
      string_to_table(${decided(({ outcome }) => outcome)}, E'\\n', ''),
      string_to_table(${decided(({ recipientId }) => recipientId)}, E'\\n', ''),
      string_to_table(${decided(({ snapshotDigest }) => snapshotDigest)}, E'\\n', ''),
      string_to_table(${decided(({ seed }) => seed)}, E'\\n', ''),
      string_to_table(${decided(({ evidenceJson }) => evidenceJson)}, E'\\n', ''),
      string_to_table(${queued(({ state }) => state)}, E'\\n', ''),
      string_to_table(${queued(({ delivery }) => delivery)}, E'\\n', ''),
      string_to_table(${lines(rows, rankIn)}, E'\\n', ''),
      string_to_table(${queued(({ expiresAtMs }) => expiresAtMs)}, E'\\n', '')
      ${
        usual
          ? sql``
          : sql`,
            string_to_table(${queued(({ recipientId }) => recipientId)}, E'\\n', ''),
            string_to_table(${lines(rows, ({ priority }) => priority)}, E'\\n', ''),
            string_to_table(${queued(({ dueAtMs }) => dueAtMs)}, E'\\n', ''),
            string_to_table(${queued(({ holdReason }) => holdReason)}, E'\\n', ''),
            string_to_table(${queued(({ ownTtl }) => ownTtl)}, E'\\n', ''),
            string_to_table(${queued(({ groups }) => groups.singleton)}, E'\\n', ''),
            string_to_table(${queued(({ groups }) => groups.debounce)}, E'\\n', ''),
            string_to_table(${queued(({ groups }) => groups.throttle)}, E'\\n', ''),
            string_to_table(${queued(({ groups }) => groups.concurrency)}, E'\\n', ''),
            string_to_table(${queued(({ hasSlot }) => hasSlot)}, E'\\n', ''),
            string_to_table(${queued(({ leaseS }) => leaseS)}, E'\\n', '')`
      }
    ) as input(parcel, tenant_id, id, pool_id, type, key, attributes, requirements, payload, priority, outcome,
      decided_for, snapshot_digest, seed, evidence, state, delivery, rank, expires_at_ms ${
        usual
          ? sql``
          : sql`, recipient_id, item_priority, due_at_ms, hold_reason, own_ttl, singleton_group, debounce_group,
            throttle_group, concurrency_group, has_slot, lease_s`
      })`;
}

function rankIn({ decision, item, priority }: InputRow): number | undefined {
  return item && rankOf(ulidMs(decision.id), priority, item.ageingS);
}

/** Records the keys of calls, and leaves out the calls whose key was used before. */
function claiming(sql: Sql, parcels: readonly Parcel[]): Fragment {
  const records = parcels.flatMap(({ record }, parcel) => (record === undefined ? [] : [{ parcel, record }]));
  return sql`, ${claimParcels(sql, records)}, taken as (
      select * from input where parcel::int not in (select parcel from refused)
    )`;
}

/** Puts the work that decisions make on the queue. */
function queueing(sql: Sql, taken: Fragment): Fragment {
  return sql`, queued as (
      insert into queue_items (tenant_id, id, pool_id, recipient_id, state, delivery, priority, rank, due_at,
        hold_reason, expires_at, own_ttl, singleton_group, debounce_group, throttle_group, concurrency_group, has_slot,
        lease_until)
      select tenant_id, id, pool_id, coalesce(recipient_id, ''), state, delivery, item_priority::int, rank::bigint,
        to_timestamp(due_at_ms::float8 / 1000), coalesce(hold_reason, ''), to_timestamp(expires_at_ms::float8 / 1000),
        own_ttl::boolean, coalesce(singleton_group, ''), coalesce(debounce_group, ''), coalesce(throttle_group, ''),
        coalesce(concurrency_group, ''), has_slot::boolean, now() + make_interval(secs => lease_s::int)
      from ${taken} where state is not null
    )`;
}

/** The same for usual items. */
function queueingUsual(sql: Sql, taken: Fragment): Fragment {
  return sql`, queued as (
      insert into queue_items (tenant_id, id, pool_id, recipient_id, state, delivery, priority, rank, expires_at)
      select tenant_id, id, pool_id, coalesce(decided_for, ''), state, delivery, priority::int, rank::bigint,
        to_timestamp(expires_at_ms::float8 / 1000)
      from ${taken}
    )`;
}

function counting(sql: Sql, taken: Fragment, shard: number): Fragment {
  return sql`, deeper as (
      insert into queue_depths (tenant_id, pool_id, shard, depth)
      select tenant_id, pool_id, ${shard}, count(*) from ${taken}
      where state in ('pending', 'held', 'ready') group by tenant_id, pool_id order by tenant_id, pool_id
      on conflict (tenant_id, pool_id, shard) do update set depth = queue_depths.depth + excluded.depth
    ), counted as (
      insert into queue_days (tenant_id, pool_id, day, shard, accepted)
      select tenant_id, pool_id, (now() at time zone 'utc')::date, ${shard}, count(*) from ${taken}
      where state is not null group by tenant_id, pool_id order by tenant_id, pool_id
      on conflict (tenant_id, pool_id, day, shard) do update set accepted = queue_days.accepted + excluded.accepted
    )`;
}

function telling(sql: Sql, rows: readonly InputRow[], places: readonly number[], keyed: boolean): Fragment {
  const events = rows.flatMap(({ decision, events: each }, nth) =>
    each.map((event) => eventRow(decision.tenantId, event, places[nth]!)),
  );
  return sql`, told as (
      insert into events (tenant_id, id, type, source, subject, time, data)
      select tenant_id, id, type, source, subject, time, data
      from json_to_recordset(${JSON.stringify(events)}::text::json) as told(
        parcel int, tenant_id text, id text, type text, source text, subject text, time timestamptz, data jsonb)
      ${keyed ? sql`where parcel not in (select parcel from refused)` : sql``}
    )`;
}

function eventRow(tenantId: TenantId, event: ItemEventRow, parcel: number) {
  const { id, type, subject, data } = event;
  const source = `/${type.slice(0, type.indexOf("."))}`;
  return { parcel, tenant_id: tenantId, id, type, source, subject, time: new Date(), data };
}
