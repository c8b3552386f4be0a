import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, NextDue, Sql } from "../../../../platform/db/index.ts";
import type { Broadcast } from "../domain/broadcast.ts";
import type { SerializedPayload } from "../domain/trigger.ts";

/** A broadcast with the payload that is stored for it. */
export interface AcceptedBroadcast {
  readonly broadcast: Broadcast;
  readonly payload: SerializedPayload["body"];
}

export function broadcastColumns(sql: Sql): Fragment {
  return sql`
    tenant_id, transaction_id, workflow_key, topic_key, cutoff, manifest, status, position, expanded, total,
    failure_code, cancelled_by, created_at, updated_at`;
}

/** When the next page of a broadcast is expanded. */
export const nextPage: NextDue = (sql) =>
  sql`select next_page_at from notification_broadcasts where ${isOpen(sql)} order by next_page_at limit 1`;

function isOpen(sql: Sql): Fragment {
  return sql`status in ('accepted', 'expanding', 'cancelling')
    and exists (select from tenants where tenants.id = tenant_id and tenants.status = 'active')`;
}

export function broadcastStore(sql: Sql) {
  const columns = broadcastColumns(sql);
  return {
    /** Stores broadcasts and their payloads. */
    async insert(accepted: readonly AcceptedBroadcast[], expiresAt: Date): Promise<void> {
      const rows = accepted.map(({ broadcast, payload }) => ({
        tenant_id: broadcast.tenantId,
        transaction_id: broadcast.transactionId,
        workflow_key: broadcast.workflowKey,
        topic_key: broadcast.topicKey,
        cutoff: broadcast.cutoff,
        manifest: broadcast.manifest,
        status: broadcast.status,
        created_at: broadcast.createdAt,
        digest: broadcast.manifest.payloadDigest,
        payload,
      }));
      await sql`
        with input as (
          select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as input(
            tenant_id text, transaction_id text, workflow_key text, topic_key text, cutoff text, manifest jsonb, status text,
            created_at timestamptz, digest text, payload jsonb)
        ), payload as (
          insert into notification_payloads (tenant_id, transaction_id, body, digest, created_at, expires_at)
          select tenant_id, transaction_id, payload, decode(digest, 'hex'), created_at, ${expiresAt} from input
        )
        insert into notification_broadcasts (tenant_id, transaction_id, workflow_key, topic_key, cutoff, manifest, status,
          created_at, updated_at)
        select tenant_id, transaction_id, workflow_key, topic_key, cutoff, manifest, status, created_at, created_at
        from input`;
    },

    find: (tenantId: TenantId, transactionId: string) =>
      sql<Broadcast[]>`
        select ${columns} from notification_broadcasts
        where tenant_id = ${tenantId} and transaction_id = ${transactionId}`.first(),

    /**
     * Locks the next broadcast that is due until the transaction ends; undefined when none is. Broadcasts locked by other
     * nodes are skipped. The lock of a node that dies is released with its connection.
     */
    lockNext: () =>
      sql<Broadcast[]>`
        select ${columns} from notification_broadcasts
        where next_page_at <= now() and ${isOpen(sql)} order by next_page_at limit 1 for update skip locked`.first(),

    /** Saves a broadcast's progress. Other broadcasts that are due come before its next page. */
    async advance(broadcast: Broadcast): Promise<void> {
      const { tenantId, transactionId, status, position, expanded, total, updatedAt } = broadcast;
      await sql`
        update notification_broadcasts set status = ${status}, position = ${position}, expanded = ${expanded},
          total = ${total}, failures = 0, next_page_at = now(), updated_at = ${updatedAt}
        where tenant_id = ${tenantId} and transaction_id = ${transactionId}`;
    },

    /**
     * Records a failed page; undefined when the broadcast has ended or advanced in the meantime. A cancellation never fails:
     * it is attempted until it succeeds.
     */
    postpone({ tenantId, transactionId, position }: Broadcast, failuresMax: number, failureCode: string, now: Date) {
      const isOver = sql`status <> 'cancelling' and failures + 1 >= ${failuresMax}`;
      return sql<(Broadcast & { failures: number })[]>`
        update notification_broadcasts set failures = failures + 1, updated_at = ${now},
          next_page_at = now() + least(power(2, least(failures, 6)), 60) * interval '1 second',
          status = case when ${isOver} then 'failed' else status end,
          failure_code = case when ${isOver} then ${failureCode} else failure_code end
        where tenant_id = ${tenantId} and transaction_id = ${transactionId} and position = ${position}
          and status in ('accepted', 'expanding', 'cancelling')
        returning ${columns}, failures`.first();
    },
  };
}
