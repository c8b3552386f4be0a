import type { Sql } from "../../../../platform/db/index.ts";
import { dispatchStore, type StoredPayload } from "../delivery/dispatch-store.ts";
import type { Delivery } from "../domain/delivery.ts";
import { type Recipient, type RecipientParts, readRecipients } from "./recipients.ts";

/** Keys of the payload and the recipient of a delivery or run. */
type BatchItem = Pick<Delivery, "tenantId" | "transactionId" | "workflowKey" | "userId" | "topicKey" | "subscriberId">;

/** The payloads and recipients of a leased batch. */
export interface BatchContext {
  payloadOf(item: BatchItem): StoredPayload | undefined;
  recipientOf(item: BatchItem): Recipient | undefined;
}

/** Reads the payloads and recipients of a leased batch in a few statements. */
export async function readBatchContext(
  parts: RecipientParts,
  sql: Sql,
  items: readonly BatchItem[],
): Promise<BatchContext> {
  const groups = Map.groupBy(items, groupOf);
  const [payloads, ...found] = await Promise.all([
    items.length === 0 ? [] : dispatchStore(sql).findPayloads(items),
    ...[...groups].map(async ([group, members]) => {
      const ids = [...new Set(members.map(({ subscriberId }) => subscriberId))];
      return [group, await readRecipients(parts, sql, members[0]!.tenantId, members[0]!, ids)] as const;
    }),
  ]);
  const byTransaction = new Map(payloads.map((each) => [each.tenantId + each.transactionId, each]));
  const recipients = new Map(found);
  return {
    payloadOf: ({ tenantId, transactionId }) => byTransaction.get(tenantId + transactionId),
    recipientOf: (item) => recipients.get(groupOf(item))!.get(item.subscriberId),
  };
}

function groupOf({ tenantId, workflowKey, userId, topicKey }: BatchItem): string {
  return [tenantId, workflowKey, userId, topicKey].join("\0");
}
