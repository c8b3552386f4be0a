import type { TenantId } from "../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../platform/db/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import { graceMs, type ObjectIntent } from "./domain/intent.ts";

/** Identifies an intent of a stream. */
export type IntentKey = Pick<ObjectIntent, "tenantId" | "runId" | "streamId" | "id">;

const intents = recordTable<ObjectIntent>("workflow_object_intents", {
  fixed: `tenant_id id run_id stream_id status idempotency_key sha256 size_bytes content_type content_class schema_ref direction
    authorization_receipt_id object_key regions sequence created_by created_at expires_at uploaded_at ended_at remove_after
    removed_at`,
});

export function intentStore(sql: Sql) {
  const { columns, insert } = intents(sql);
  const isIntent = ({ tenantId, id }: Pick<IntentKey, "tenantId" | "id">) =>
    sql`tenant_id = ${tenantId} and id = ${id}`;

  /** Changes an intent that the transaction has locked. */
  async function change(key: IntentKey, assignments: Fragment): Promise<ObjectIntent> {
    const [row] = await sql<ObjectIntent[]>`
      update workflow_object_intents set ${assignments} where ${isIntent(key)} returning ${columns}`;
    return row!;
  }

  return {
    insert,

    /** The number of deliveries to a stream that are in progress. */
    async countOpen(tenantId: TenantId, streamId: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from workflow_object_intents
        where tenant_id = ${tenantId} and stream_id = ${streamId} and status in ('prepared', 'uploaded')`;
      return row!.count;
    },

    /** Finds an intent of a stream. `lock` keeps it as it is until the transaction ends. */
    find: (key: IntentKey, lock?: "lock") =>
      sql<ObjectIntent[]>`
        select ${columns} from workflow_object_intents
        where ${isIntent(key)} and run_id = ${key.runId} and stream_id = ${key.streamId}
        ${lock === undefined ? sql`` : sql`for update`}`.first(),

    /** Notes that the store of a region may get bytes. False if the intent is not prepared any more. */
    async noteUpload(key: IntentKey, region: string): Promise<boolean> {
      const rows = await sql`
        update workflow_object_intents
        set regions = case when ${region} = any(regions) then regions else regions || ${region}::text end
        where ${isIntent(key)} and status = 'prepared' returning 1`;
      return rows.length === 1;
    },

    setUploaded: (key: IntentKey, now: Date) => change(key, sql`status = 'uploaded', uploaded_at = ${now}`),

    setCommitted: (key: IntentKey, sequence: number, now: Date) =>
      change(key, sql`status = 'committed', sequence = ${sequence}, ended_at = ${now}, remove_after = null`),

    setAborted: (key: IntentKey, now: Date, removeAfter: Date) =>
      change(key, sql`status = 'aborted', ended_at = ${now}, remove_after = ${removeAfter}`),

    /** Has the bytes of committed objects removed, because their records are removed. */
    async release(tenantId: TenantId, ids: readonly string[], now: Date): Promise<void> {
      await sql`
        update workflow_object_intents
        set remove_after = greatest(${now}::timestamptz, expires_at + make_interval(secs => ${graceMs / 1000}))
        where tenant_id = ${tenantId} and id = any(${[...ids]}) and removed_at is null`;
    },
  };
}
