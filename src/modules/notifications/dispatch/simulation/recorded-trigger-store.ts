import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { lowestUlid, ulidMs } from "../../../../platform/ids/ulid.ts";
import type { Delivery } from "../domain/delivery.ts";
import type { DigestValues } from "../domain/run.ts";

/** A message of a trigger as it was recorded. */
export interface RecordedMessage
  extends Pick<Delivery, "id" | "channel" | "endpointId" | "integrationId" | "providerKey"> {
  /** Whether it was handed over, or may still be. */
  readonly isSent: boolean;
}

/** A trigger for one recipient; if its workflow has steps, one step of it. */
export interface RecordedTrigger
  extends Pick<
    Delivery,
    "tenantId" | "transactionId" | "workflowKey" | "subscriberId" | "topicKey" | "contextKeys" | "userId" | "stepKey"
  > {
  readonly atMs: number;
  /** The triggers that a digest collected before the step; null without a digest. */
  readonly digest: DigestValues | null;
  readonly messages: RecordedMessage[];
}

/** The messages between two ids, both included. */
export interface RecordedMessages {
  readonly firstId: string;
  readonly lastId: string;
  readonly workflowKey: string;
  /** Whether the time range has more messages than these. */
  readonly isCut: boolean;
}

type RecordedRow = Omit<RecordedTrigger, "atMs" | "messages"> & RecordedMessage & { readonly queuedAt: Date };

/** The messages of a tenant that are searched for those of a workflow, for each message that is wanted. */
const searchFactor = 4;
const searchedMin = 50_000;
const pageSize = 500;
/** The messages of a trigger are recorded within this time. */
const triggerMs = 5000;

/** Finds the newest messages of a time range; undefined if there are none. */
export async function findRecordedMessages(
  sql: Sql,
  tenantId: TenantId,
  { from, until, workflowKey, messagesMax }: { from: Date; until: Date; workflowKey: string; messagesMax: number },
): Promise<RecordedMessages | undefined> {
  const searchedMax = Math.max(searchedMin, messagesMax * searchFactor);
  const [row] = await sql<{ firstId: string | null; lastId: string; messages: number; searched: number }[]>`
    with searched as (
      select id, workflow_key from notification_deliveries
      where tenant_id = ${tenantId} and id >= ${lowestUlid(from.getTime())} and id < ${lowestUlid(until.getTime())}
      order by id desc limit ${searchedMax}
    ), chosen as (
      select id from searched where ${workflowKey} in ('', workflow_key) order by id desc limit ${messagesMax}
    )
    select min(id) as first_id, max(id) as last_id, count(*)::int as messages,
      (select count(*)::int from searched) as searched
    from chosen`;
  const { firstId, lastId, messages, searched } = row!;
  if (firstId === null) return undefined;
  return { firstId, lastId, workflowKey, isCut: messages === messagesMax || searched === searchedMax };
}

/** Reads the triggers of recorded messages page by page, oldest first. */
export async function* readRecordedTriggers(
  sql: Sql,
  tenantId: TenantId,
  { firstId, lastId, workflowKey }: RecordedMessages,
): AsyncGenerator<RecordedTrigger[]> {
  const open = new Map<string, RecordedTrigger>();
  let after: string | undefined;
  do {
    const page = await sql<RecordedRow[]>`
      select d.tenant_id, d.id, d.transaction_id, d.workflow_key, d.subscriber_id, d.topic_key, d.context_keys, d.user_id,
        d.step_key, d.channel, d.endpoint_id, d.integration_id, d.provider_key, d.queued_at, r.digest,
        d.status <> 'skipped' and (d.status <> 'failed' or d.provider_attempt > 0) as is_sent
      from notification_deliveries d
      left join notification_runs r on d.run_id <> '' and r.tenant_id = d.tenant_id and r.id = d.run_id
      where d.tenant_id = ${tenantId} and d.id <= ${lastId} and ${workflowKey} in ('', d.workflow_key)
        and ${after === undefined ? sql`d.id >= ${firstId}` : sql`d.id > ${after}`}
      order by d.id limit ${pageSize}`;
    for (const row of page) {
      const key = `${row.transactionId} ${row.subscriberId} ${row.stepKey}`;
      const known = open.get(key);
      if (known !== undefined) known.messages.push(row);
      else open.set(key, { ...row, atMs: row.queuedAt.getTime(), messages: [row] });
    }
    after = page.length < pageSize ? undefined : page.at(-1)!.id;
    // A trigger of which later messages may follow is left for the next page.
    const completeMs = after === undefined ? Number.POSITIVE_INFINITY : ulidMs(after) - triggerMs;
    const complete = [...open].filter(([, { messages }]) => ulidMs(messages.at(-1)!.id) < completeMs);
    for (const [key] of complete) open.delete(key);
    for (let at = 0; at < complete.length; at += pageSize) {
      yield complete.slice(at, at + pageSize).map(([, trigger]) => trigger);
    }
  } while (after !== undefined);
}
