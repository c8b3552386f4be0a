/**
 * Idempotency: a mutating request takes effect once, however often it is sent.
 *
 * claim: a key on its way to being recorded, in the scope of tenant, principal and operation.
 * record: the claim with the answer that is given again to every repeat.
 */
import { type Failure, fail } from "../../errors/index.ts";
import type { TenantId } from "../access/index.ts";
import { type Fragment, lines, type Sql } from "../db/index.ts";

/** An idempotency key and what it stands for. */
export interface Claim {
  readonly tenantId: TenantId;
  readonly principal: string;
  readonly operation: string;
  readonly key: string;
  /** A digest of the request: the same key with another request is refused. */
  readonly fingerprint: Buffer;
  readonly createdAt: Date;
}

/** A claim with the answer that repeats get. */
export interface IdempotencyRecord extends Claim {
  readonly response: string;
}

/**
 * Claims a key inside the transaction of the effect. A crash undoes both, so no claim is ever left behind;
 * the advisory lock lets a concurrent repeat be told at once instead of waiting on the unique index.
 */
export async function claim(
  tx: Sql,
  { tenantId, principal, operation, key, fingerprint, createdAt }: Claim,
): Promise<boolean> {
  const lockName = JSON.stringify([tenantId, operation, principal, key]);
  const rows = await tx`
    insert into idempotency_records (tenant_id, principal, operation, key, fingerprint, state, created_at)
    select ${tenantId}, ${principal}, ${operation}, ${key}, ${fingerprint}, 'pending', ${createdAt}
    where pg_try_advisory_xact_lock(hashtextextended(${lockName}, 0))
    on conflict do nothing
    returning 1`;
  return rows.length === 1;
}

/** Turns a pending record completed, in the same transaction. */
export async function complete(
  tx: Sql,
  { tenantId, principal, operation, key, response }: IdempotencyRecord,
): Promise<void> {
  await tx`
    update idempotency_records set state = 'completed', response = ${response}
    where tenant_id = ${tenantId} and principal = ${principal} and operation = ${operation} and key = ${key}`;
}

/** The answer that was given before under this key; throws when there is none yet or the request was another one. */
export async function storedResponse(sql: Sql, claimed: Claim): Promise<string> {
  const { tenantId, principal, operation, key, fingerprint } = claimed;
  const [row] = await sql<{ fingerprint: Buffer; response: string }[]>`
    select fingerprint, response from idempotency_records
    where tenant_id = ${tenantId} and principal = ${principal} and operation = ${operation} and key = ${key}
      and state = 'completed'`;
  if (row === undefined) throw inProgress();
  if (!row.fingerprint.equals(fingerprint)) {
    throw fail("IDEMPOTENCY_KEY_REUSED", { public: "The idempotency key was used before with another request." });
  }
  return row.response;
}

/** The refusal of a repeat whose first request is still running. */
export function inProgress(): Failure {
  return fail("IDEMPOTENCY_IN_PROGRESS", {
    public: "A request with this idempotency key is still running.",
    headers: { "retry-after": "1" },
  });
}

/** What tells one key from another. */
export function keyName({
  tenantId,
  principal,
  operation,
  key,
}: Pick<Claim, "tenantId" | "principal" | "operation" | "key">): string {
  return [tenantId, principal, operation, key].join("\0");
}

/** Which of these keys are recorded, by name. */
export async function usedKeys(
  sql: Sql,
  claims: readonly Pick<Claim, "tenantId" | "principal" | "operation" | "key">[],
): Promise<ReadonlySet<string>> {
  if (claims.length === 0) return new Set();
  const rows = await sql<Claim[]>`
    select tenant_id, principal, operation, key from idempotency_records
    where (tenant_id, principal, operation, key) in (
      select * from unnest(${claims.map(({ tenantId }) => tenantId)}::text[], ${claims.map(({ principal }) => principal)}::text[],
        ${claims.map(({ operation }) => operation)}::text[], ${claims.map(({ key }) => key)}::text[]))`;
  return new Set(rows.map(keyName));
}

/** A record that is kept together with what one of many callers brings, known by its number in the statement. */
export interface ParcelRecord {
  readonly parcel: number;
  readonly record: IdempotencyRecord;
}

/**
 * The part of a statement that keeps what many callers bring, `asked …, claimed …, refused`: `refused` has the numbers of
 * the parcels whose key was recorded before, and the rest of the statement leaves those out.
 */
export function claimParcels(sql: Sql, records: readonly ParcelRecord[]): Fragment {
  // In one order everywhere, so that two nodes with the same keys never wait for each other.
  const sorted = records
    .map(({ parcel, record }) => ({ name: keyName(record), parcel, record }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const texts = (value: (record: IdempotencyRecord) => string | number) => lines(sorted, ({ record }) => value(record));
  return sql`
    asked as (
      select *, row_number() over (partition by tenant_id, principal, operation, key order by parcel) as nth
      from rows from (
        unnest(${sorted.map(({ parcel }) => parcel)}::int[]),
        unnest(${sorted.map(({ record }) => record.principal)}::text[]),
        string_to_table(${texts(({ tenantId }) => tenantId)}, E'\\n'),
        string_to_table(${texts(({ operation }) => operation)}, E'\\n'),
        string_to_table(${texts(({ key }) => key)}, E'\\n'),
        string_to_table(${texts(({ fingerprint }) => fingerprint.toString("hex"))}, E'\\n'),
        string_to_table(${texts(({ response }) => response)}, E'\\n'),
        string_to_table(${texts(({ createdAt }) => createdAt.getTime())}, E'\\n')
      ) as asked(parcel, principal, tenant_id, operation, key, fingerprint, response, created_at_ms)
    ), claimed as (
      insert into idempotency_records (tenant_id, principal, operation, key, fingerprint, state, response, created_at)
      select tenant_id, principal, operation, key, decode(fingerprint, 'hex'), 'completed', response,
        to_timestamp(created_at_ms::float8 / 1000)
      from asked on conflict do nothing
      returning tenant_id, principal, operation, key
    ), refused as (
      -- Of two calls with one key that travel together the first counts.
      select parcel from asked where nth > 1 or (tenant_id, principal, operation, key) not in (select * from claimed)
    )`;
}

/** Sets the answers of records that are kept already: what was under way when they were is known now. */
export async function reviseResponses(sql: Sql, records: readonly IdempotencyRecord[]): Promise<void> {
  if (records.length === 0) return;
  await sql`
    update idempotency_records kept set response = revised.response
    from unnest(
      ${records.map(({ tenantId }) => tenantId)}::text[], ${records.map(({ principal }) => principal)}::text[],
      ${records.map(({ operation }) => operation)}::text[], ${records.map(({ key }) => key)}::text[],
      ${records.map(({ response }) => response)}::text[]) as revised(tenant_id, principal, operation, key, response)
    where (kept.tenant_id, kept.principal, kept.operation, kept.key)
      = (revised.tenant_id, revised.principal, revised.operation, revised.key)`;
}

/** Forgets records from before a moment; answers how many. */
export async function forgetRecords(sql: Sql, before: Date, limit: number): Promise<number> {
  const gone = await sql`
    delete from idempotency_records where ctid = any(array(
      select ctid from idempotency_records where created_at < ${before} order by created_at limit ${limit}))`;
  return gone.count;
}
