/**
 * Idempotency: a mutating request takes effect once, regardless of how often it is sent.
 *
 * claim: the reservation of a key, scoped to a tenant, principal and operation.
 * record: a claim with the stored response that every repeated request receives.
 */
import type { Message } from "@bufbuild/protobuf";
import { type Failure, fail } from "../../errors/index.ts";
import type { TenantId } from "../access/index.ts";
import { deleteBatch, type Fragment, lines, type Sql, tryLockFor } from "../db/index.ts";

/** An idempotency key with its scope and request. */
export interface KeyClaim {
  readonly tenantId: TenantId;
  readonly principal: string;
  readonly operation: string;
  readonly key: string;
  /** A digest of the request. The same key with a different request is rejected. */
  readonly fingerprint: Buffer;
  readonly createdAt: Date;
}

/** A claim with the response that repeated requests receive. */
export interface IdempotencyRecord extends KeyClaim {
  readonly response: string;
}

/** A call's claim on its idempotency key, and the record of its response under that key. */
export interface KeyedCall {
  readonly claim: KeyClaim;
  record(response: Message): IdempotencyRecord;
}

/**
 * Runs the effect of a call once per idempotency key: claims the key, runs the work and stores its response in the caller's
 * transaction. A crash rolls back all three, so no claim is ever orphaned. Returns "duplicate" without any effect when the key is
 * taken. A call without a key only runs.
 */
export async function withIdempotency<T extends { readonly response: Message }>(
  tx: Sql,
  keyed: KeyedCall | undefined,
  work: () => Promise<T>,
): Promise<T | "duplicate"> {
  if (keyed === undefined) return work();
  if (!(await insertRecord(tx, keyed.claim, null))) return "duplicate";
  const done = await work();
  const { tenantId, principal, operation, key, response } = keyed.record(done.response);
  // Sent together with the commit.
  await tx.send(tx`
    update idempotency_records set state = 'completed', response = ${response}
    where tenant_id = ${tenantId} and principal = ${principal} and operation = ${operation} and key = ${key}`);
  return done;
}

/**
 * Runs a call whose effect is committed elsewhere, unless its key is recorded. The work stores its response with
 * `recordResponse`. A call that fails because the same call has just succeeded is a repeat of that call.
 */
export async function unlessRepeated<T>(
  sql: Sql,
  keyed: KeyedCall | undefined,
  work: () => Promise<T>,
): Promise<T | "duplicate"> {
  if (await isRecorded(sql, keyed)) return "duplicate";
  try {
    return await work();
  } catch (error) {
    if (await isRecorded(sql, keyed)) return "duplicate";
    throw error;
  }
}

/** Stores the response of a call that `unlessRepeated` runs; throws when the key is taken, so that the effect is rolled back. */
export async function recordResponse(sql: Sql, keyed: KeyedCall | undefined, response: Message): Promise<void> {
  if (keyed === undefined) return;
  const record = keyed.record(response);
  if (!(await insertRecord(sql, record, record.response))) throw inProgressFailure();
}

/** Whether the key of a call is recorded: the call is a repeat. */
export async function isRecorded(sql: Sql, keyed: KeyedCall | undefined): Promise<boolean> {
  return keyed !== undefined && (await readUsedKeys(sql, [keyed.claim])).size > 0;
}

/**
 * Inserts a record, pending if it has no response yet; returns false when the key is taken. With the advisory lock a
 * concurrent repeat fails immediately instead of waiting on the unique index.
 */
async function insertRecord(
  sql: Sql,
  { tenantId, principal, operation, key, fingerprint, createdAt }: KeyClaim,
  response: string | null,
): Promise<boolean> {
  const state = response === null ? "pending" : "completed";
  const rows = await sql`
    insert into idempotency_records (tenant_id, principal, operation, key, fingerprint, state, response, created_at)
    select ${tenantId}, ${principal}, ${operation}, ${key}, ${fingerprint}, ${state}, ${response}, ${createdAt}
    where ${tryLockFor(sql, "idempotency_key", tenantId, operation, principal, key)}
    on conflict do nothing
    returning 1`;
  return rows.length === 1;
}

/**
 * Reads the stored response of a key; throws when the first request is still running or was a different request. The lock of the row
 * makes the commit of this statement wait for synchronous replication, and so for that of the record: without it, a repeat would
 * acknowledge a commit whose own wait was cancelled.
 */
export async function readStoredResponse(sql: Sql, claimed: KeyClaim): Promise<string> {
  const { tenantId, principal, operation, key, fingerprint } = claimed;
  const [row] = await sql<{ fingerprint: Buffer; response: string }[]>`
    select fingerprint, response from idempotency_records
    where tenant_id = ${tenantId} and principal = ${principal} and operation = ${operation} and key = ${key}
      and state = 'completed' for key share`;
  if (row === undefined) throw inProgressFailure();
  // A record that was imported from another installation has none.
  if (row.fingerprint.length > 0 && !row.fingerprint.equals(fingerprint)) {
    throw fail("IDEMPOTENCY_KEY_REUSED", {
      public: "The idempotency key was already used with a different request. Send a new key for a new request.",
    });
  }
  return row.response;
}

/** The error for a repeated request whose first request is still running. */
export function inProgressFailure(): Failure {
  return fail("IDEMPOTENCY_IN_PROGRESS", {
    public: "A request with this idempotency key is still running. Retry after a second.",
    headers: { "retry-after": "1" },
  });
}

/** A unique string for a key within its scope. */
export function keyName({
  tenantId,
  principal,
  operation,
  key,
}: Pick<KeyClaim, "tenantId" | "principal" | "operation" | "key">): string {
  return [tenantId, principal, operation, key].join("\0");
}

/** Returns the names of those keys that are recorded. */
export async function readUsedKeys(
  sql: Sql,
  claims: readonly Pick<KeyClaim, "tenantId" | "principal" | "operation" | "key">[],
): Promise<ReadonlySet<string>> {
  if (claims.length === 0) return new Set();
  const rows = await sql<KeyClaim[]>`
    select k.* from unnest(
      ${claims.map(({ tenantId }) => tenantId)}::text[], ${claims.map(({ principal }) => principal)}::text[],
      ${claims.map(({ operation }) => operation)}::text[], ${claims.map(({ key }) => key)}::text[]
    ) as k(tenant_id, principal, operation, key) cross join lateral (
      select from idempotency_records r where r.tenant_id = k.tenant_id and r.principal = k.principal
        and r.operation = k.operation and r.key = k.key limit 1) r`;
  return new Set(rows.map(keyName));
}

/** The idempotency record of one request in a batch that is written with one statement. */
export interface BatchRecord {
  readonly batchIndex: number;
  readonly record: IdempotencyRecord;
}

/**
 * The common table expressions `requested`, `claimed` and `refused` of a statement that writes a batch of requests.
 * `refused` contains the batch index of every request whose key was already recorded. The rest of the statement excludes them.
 */
export function claimBatch(sql: Sql, records: readonly BatchRecord[]): Fragment {
  // Insert keys in a global order to avoid deadlocks between nodes.
  const sorted = records
    .map(({ batchIndex, record }) => ({ name: keyName(record), batchIndex, record }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const texts = (value: (record: IdempotencyRecord) => string | number) => lines(sorted, ({ record }) => value(record));
  return sql`
    requested as (
      select *, row_number() over (partition by tenant_id, principal, operation, key order by batch_index) as nth
      from rows from (
        unnest(${sorted.map(({ batchIndex }) => batchIndex)}::int[]),
        unnest(${sorted.map(({ record }) => record.principal)}::text[]),
        string_to_table(${texts(({ tenantId }) => tenantId)}, E'\\n'),
        string_to_table(${texts(({ operation }) => operation)}, E'\\n'),
        string_to_table(${texts(({ key }) => key)}, E'\\n'),
        string_to_table(${texts(({ fingerprint }) => fingerprint.toString("hex"))}, E'\\n'),
        string_to_table(${texts(({ response }) => response)}, E'\\n'),
        string_to_table(${texts(({ createdAt }) => createdAt.getTime())}, E'\\n')
      ) as requested(batch_index, principal, tenant_id, operation, key, fingerprint, response, created_at_ms)
    ), claimed as (
      insert into idempotency_records (tenant_id, principal, operation, key, fingerprint, state, response, created_at)
      -- string_to_table returns no row for a single empty text.
      select tenant_id, principal, operation, key, decode(coalesce(fingerprint, ''), 'hex'), 'completed', response,
        to_timestamp(created_at_ms::float8 / 1000)
      from requested on conflict do nothing
      returning tenant_id, principal, operation, key
    ), refused as (
      -- The first of several requests with the same key in a batch wins.
      select batch_index from requested where nth > 1 or (tenant_id, principal, operation, key) not in (select * from claimed)
    )`;
}

/** Replaces the responses of stored records, once the final result of an asynchronous effect is known. */
export async function reviseResponses(sql: Sql, records: readonly IdempotencyRecord[]): Promise<void> {
  if (records.length === 0) return;
  await sql`
    update idempotency_records stored set response = revised.response
    from unnest(
      ${records.map(({ tenantId }) => tenantId)}::text[], ${records.map(({ principal }) => principal)}::text[],
      ${records.map(({ operation }) => operation)}::text[], ${records.map(({ key }) => key)}::text[],
      ${records.map(({ response }) => response)}::text[]) as revised(tenant_id, principal, operation, key, response)
    where (stored.tenant_id, stored.principal, stored.operation, stored.key)
      = (revised.tenant_id, revised.principal, revised.operation, revised.key)`;
}

/** Deletes records created before a time, oldest first; returns the number deleted. */
export function deleteExpiredRecords(sql: Sql, before: Date, limit: number): Promise<number> {
  const rows = { table: "idempotency_records", where: sql`created_at < ${before}`, orderBy: sql`created_at` };
  return deleteBatch(sql, rows, limit);
}
