import { createHash } from "node:crypto";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { keyLengthMax, type NewEvent, payloadBytesMax } from "../domain/event.ts";
import type { SubscriptionId } from "../domain/subscription.ts";

/** An event to store. */
export interface EventRow {
  readonly tenantId: TenantId;
  readonly subscriptionId: SubscriptionId;
  readonly environmentKey: string;
  readonly id: string;
  readonly type: string;
  readonly dedupKey: string;
  /** The digest of the provider's key, in hex; null if every delivery is an event of its own. */
  readonly digest: string | null;
  readonly payload: string;
  /** Why the event cannot be delivered; empty if it can. */
  readonly error: string;
  readonly receivedAt: Date;
}

/** Converts an event to its row. A payload that is too large is left out, and the event is dead. */
export function toEventRow(
  ref: Pick<EventRow, "tenantId" | "subscriptionId" | "environmentKey" | "id" | "receivedAt">,
  { type, key, payload }: NewEvent,
): EventRow {
  const text = JSON.stringify(payload);
  const isTooLarge = Buffer.byteLength(text) > payloadBytesMax;
  return {
    ...ref,
    type,
    dedupKey:
      key === undefined
        ? ""
        : key
            .slice(0, keyLengthMax)
            .replace(/[\x00-\x1f\x7f]/g, " ")
            .toWellFormed(),
    digest: key === undefined ? null : createHash("sha256").update(key).digest("hex"),
    payload: isTooLarge ? "null" : text,
    error: isTooLarge ? `The payload has more than ${payloadBytesMax} bytes.` : "",
  };
}

/**
 * Stores events with their deliveries in one statement, without those whose keys were seen before; returns the ids of the new
 * ones. With `baseline` only the keys are stored. Keys are locked in one order, so that two nodes never deadlock.
 */
export async function insertEvents(
  sql: Sql,
  rows: readonly EventRow[],
  mode: "events" | "baseline" = "events",
): Promise<readonly string[]> {
  if (rows.length === 0) return [];
  const inserted = await sql<{ id: string }[]>`
    with incoming as (
      select * from unnest(${rows.map((each) => each.tenantId)}::text[], ${rows.map((each) => each.subscriptionId)}::text[],
        ${rows.map((each) => each.environmentKey)}::text[], ${rows.map((each) => each.id)}::text[],
        ${rows.map((each) => each.type)}::text[], ${rows.map((each) => each.dedupKey)}::text[],
        ${rows.map((each) => each.digest)}::text[], ${rows.map((each) => each.payload)}::text[],
        ${rows.map((each) => each.error)}::text[], ${rows.map((each) => each.receivedAt)}::timestamptz[])
        as event(tenant_id, subscription_id, environment_key, id, type, dedup_key, digest, payload, error, received_at)
    ),
    fresh as (
      insert into connector_trigger_dedup_keys as seen (tenant_id, subscription_id, key, event_id, seen_at)
      select distinct on (tenant_id, subscription_id, digest)
        tenant_id, subscription_id, decode(digest, 'hex'), id, received_at
      from incoming where digest is not null order by tenant_id, subscription_id, digest, id
      -- A key that is still found stays in the ledger. The row keeps the id of its first event.
      on conflict (tenant_id, subscription_id, key) do update set seen_at = excluded.seen_at
        where seen.seen_at < excluded.seen_at - interval '1 day'
      returning event_id
    ),
    stored as (
      insert into connector_trigger_events (tenant_id, id, subscription_id, environment_key, type, dedup_key, payload, status,
        last_error, received_at, ended_at)
      select tenant_id, id, subscription_id, environment_key, type, dedup_key, payload::json,
        case when error = '' then 'pending' else 'dead' end, error, received_at,
        case when error = '' then null else received_at end
      from incoming where (digest is null or id in (select event_id from fresh)) and ${mode === "events"}
      returning tenant_id, id, subscription_id, received_at, status
    ),
    queued as (
      insert into connector_trigger_deliveries (tenant_id, event_id, subscription_id, received_at, due_at)
      select tenant_id, id, subscription_id, received_at, now() from stored where status = 'pending'
    )
    select id from stored`;
  return inserted.map(({ id }) => id);
}
