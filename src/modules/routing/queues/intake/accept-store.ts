import type { TenantId } from "../../../../platform/access/index.ts";
import { type Fragment, lines, type Sql } from "../../../../platform/db/index.ts";
import { claimBatch, type IdempotencyRecord } from "../../../../platform/idempotency/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import {
  type ConstraintKind,
  constraintKinds,
  type ItemGroups,
  insertMissingGroupsSql,
  type OwnedGroup,
} from "../../admission/index.ts";
import { rankOf } from "../domain/queue-item.ts";

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
  /** undecided: rules were not applied yet, and nobody can lease the item before they are. */
  readonly delivery: "pull" | "push" | "none" | "undecided";
  readonly state: "pending" | "held" | "ready" | "leased";
  /** How many seconds of waiting one point of priority is worth. */
  readonly ageingS: number;
  /** For an item that nobody fetches: how long it counts as in flight. */
  readonly leaseS?: number | undefined;
  /** When it goes on, by the clock of whoever decided; told to the caller. */
  readonly dueAtMs: number | undefined;
  /** How long something holds it from now on, by the database's clock. */
  readonly heldForMs?: number | undefined;
  /** It is not handed out before, by the database's clock. */
  readonly notBeforeMs?: number | undefined;
  readonly holdReason: string;
  readonly expiresAtMs: number;
  readonly ownTtl: boolean;
  readonly groups: ItemGroups;
  /** The groups among them that limit how many items are handed out: they are made when they are first used. */
  readonly limitGroups: readonly OwnedGroup[];
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
 * Where there is to be room for all of it (see claimPlacesSql) the statement fails when there is none, and nothing is kept.
 */
export async function insertParcels(
  sql: Sql,
  parcels: readonly Parcel[],
  shard: number | undefined,
  room?: Fragment,
): Promise<ReadonlySet<number>> {
  const rows = parcels.flatMap((parcel) => parcel.rows);
  // Of which parcel each row is.
  const places = parcels.flatMap((parcel, at) => parcel.rows.map(() => at));
  const keyed = parcels.some(({ record }) => record !== undefined);
  const queued = rows.some(({ item }) => item !== undefined);
  const limits = rows.flatMap(({ item }) => item?.limitGroups ?? []);
  const shape = shapeOf(rows);
  const taken = keyed ? sql`taken` : sql`input`;
  const result = await sql<{ parcel: number }[]>`
    with ${room === undefined ? sql`` : sql`${room},`} input as (
      ${input(sql, rows, places, shape)} ${room === undefined ? sql`` : sql`where (select room from room)`}
    )
    ${keyed ? claiming(sql, parcels) : sql``}
    ${limits.length === 0 ? sql`` : sql`, limits as (${insertMissingGroupsSql(sql, limits, ulidMs(rows[0]!.decision.id))})`}
    , decided as (
      insert into decisions (tenant_id, id, pool_id, type, key, attributes, requirements, payload, priority, outcome,
        recipient_id, snapshot_digest, seed, evidence)
      select tenant_id, id, pool_id, type, key, attributes::json, requirements::json, payload::json, priority::int,
        outcome, coalesce(decided_for, ''), decode(snapshot_digest, 'hex'), seed::bigint, evidence::json
      from ${taken}
    )
    ${queued ? queueing(sql, taken, shape) : sql``}
    ${queued && shard !== undefined ? counting(sql, taken, shard) : sql``}
    ${rows.some(({ events }) => events.length > 0) ? telling(sql, rows, places, keyed) : sql``}
    select ${keyed ? sql`batch_index as parcel from refused` : sql`parcel::int from input where false`}`;
  return new Set(result.map(({ parcel }) => parcel));
}

type InputRow = Parcel["rows"][number];

/** What has to be sent of the items in a statement: what none of them has got is left out. */
interface Shape {
  /** Whether one of them cannot be handed out at once, or is out of the ordinary otherwise: few are. */
  readonly unusual: boolean;
  /** The kinds of groups that some of them are in. */
  readonly kinds: readonly ConstraintKind[];
}

function shapeOf(rows: readonly InputRow[]): Shape {
  return {
    unusual: !rows.every(isUsual),
    kinds: constraintKinds.filter((kind) => rows.some(({ item }) => item !== undefined && item.groups[kind] !== "")),
  };
}

function isUsual({ decision, priority, item }: InputRow): boolean {
  if (item === undefined || item.state !== "ready" || item.ownTtl) return false;
  return item.recipientId === decision.recipientId && priority === decision.priority;
}

/**
 * The rows, sent by column, without those that nobody has a use for: every column costs something.
 * Only what callers name freely may hold a line break.
 */
function input(sql: Sql, rows: readonly InputRow[], places: readonly number[], shape: Shape): Fragment {
  const { unusual, kinds } = shape;
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
      ${ofKinds(sql, kinds, (kind) => sql`, string_to_table(${queued(({ groups }) => groups[kind])}, E'\\n', '')`)}
      ${
        unusual
          ? sql`,
            string_to_table(${queued(({ recipientId }) => recipientId)}, E'\\n', ''),
            string_to_table(${lines(rows, ({ priority }) => priority)}, E'\\n', ''),
            string_to_table(${queued(({ heldForMs }) => heldForMs)}, E'\\n', ''),
            string_to_table(${queued(({ notBeforeMs }) => notBeforeMs)}, E'\\n', ''),
            string_to_table(${queued(({ holdReason }) => holdReason)}, E'\\n', ''),
            string_to_table(${queued(({ ownTtl }) => ownTtl)}, E'\\n', ''),
            string_to_table(${queued(({ leaseS }) => leaseS)}, E'\\n', '')`
          : sql``
      }
    ) as input(parcel, tenant_id, id, pool_id, type, key, attributes, requirements, payload, priority, outcome,
      decided_for, snapshot_digest, seed, evidence, state, delivery, rank, expires_at_ms ${groupColumns(sql, kinds)}
      ${unusual ? sql`, recipient_id, item_priority, held_for_ms, not_before_ms, hold_reason, own_ttl, lease_s` : sql``})`;
}

/** The names of the columns of groups, each with a comma before it. */
function groupColumns(sql: Sql, kinds: readonly ConstraintKind[]): Fragment {
  return ofKinds(sql, kinds, (kind) => sql`, ${sql(`${kind}_group`)}`);
}

function ofKinds(sql: Sql, kinds: readonly ConstraintKind[], part: (kind: ConstraintKind) => Fragment): Fragment {
  return kinds.reduce((before, kind) => sql`${before}${part(kind)}`, sql``);
}

function rankIn({ decision, item, priority }: InputRow): number | undefined {
  return item && rankOf(ulidMs(decision.id), priority, item.ageingS);
}

/** Records the keys of calls, and leaves out the calls whose key was used before. */
function claiming(sql: Sql, parcels: readonly Parcel[]): Fragment {
  const records = parcels.flatMap(({ record }, parcel) =>
    record === undefined ? [] : [{ batchIndex: parcel, record }],
  );
  return sql`, ${claimBatch(sql, records)}, taken as (
      select * from input where parcel::int not in (select batch_index from refused)
    )`;
}

/** Puts the work that decisions make on the queue. */
function queueing(sql: Sql, taken: Fragment, { unusual, kinds }: Shape): Fragment {
  return sql`, queued as (
      insert into queue_items (tenant_id, id, pool_id, state, delivery, rank, expires_at ${groupColumns(sql, kinds)},
        recipient_id, priority ${unusual ? sql`, due_at, hold_reason, own_ttl, lease_until` : sql``})
      select tenant_id, id, pool_id, ${unusual ? sql`case when ${isDue(sql)} then 'ready' else state end` : sql`state`},
        delivery, rank::bigint, to_timestamp(expires_at_ms::float8 / 1000)
        ${ofKinds(sql, kinds, (kind) => sql`, coalesce(${sql(`${kind}_group`)}, '')`)},
        ${
          unusual
            ? sql`coalesce(recipient_id, ''), item_priority::int, case when not ${isDue(sql)} then greatest(
                now() + make_interval(secs => held_for_ms::float8 / 1000), to_timestamp(not_before_ms::float8 / 1000)) end,
              case when ${isDue(sql)} then '' else coalesce(hold_reason, '') end, own_ttl::boolean,
              now() + make_interval(secs => lease_s::int)`
            : sql`coalesce(decided_for, ''), priority::int`
        }
      from ${taken} where state is not null
    )`;
}

/** True for an item that waits for nothing but its time, which has come by the database's clock. */
function isDue(sql: Sql): Fragment {
  return sql`(coalesce(hold_reason, '') = 'not_before' and to_timestamp(not_before_ms::float8 / 1000) <= now())`;
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
  // As the log itself does it: an event is in the environment of its pool.
  return sql`, told as (
      insert into events (tenant_id, id, type, source, subject, time, data, environment_id, in_production)
      select told.tenant_id, told.id, type, source, subject, time, data, place.id, place.key = 'production'
      from json_to_recordset(${JSON.stringify(events)}::text::json) as told(
        parcel int, tenant_id text, id text, type text, source text, subject text, time timestamptz, data jsonb)
      left join lateral (
        select e.id, e.key from pools p join environments e on e.tenant_id = p.tenant_id and e.id = p.environment_id
        where p.tenant_id = told.tenant_id and p.id = told.data ->> 'pool_id'
        limit 1
      ) place on true
      ${keyed ? sql`where parcel not in (select batch_index from refused)` : sql``}
    )`;
}

function eventRow(tenantId: TenantId, event: ItemEventRow, parcel: number) {
  const { id, type, subject, data } = event;
  const source = `/${type.slice(0, type.indexOf("."))}`;
  return { parcel, tenant_id: tenantId, id, type, source, subject, time: new Date(), data };
}
