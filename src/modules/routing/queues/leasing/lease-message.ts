import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { LeasedItem, LeaseItemsRequest } from "../../../../../gen/service/api/work_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import { notFound } from "../../../../platform/db/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import { toLeaseLimits } from "../../admission/index.ts";
import { type PoolSnapshot, priorityWorthS, type Recipient } from "../../pools/index.ts";
import { policyOf } from "../domain/retry-policy.ts";
import { fromAwaited } from "./awaited-items.ts";
import { canLeaseAhead } from "./lease-ahead.ts";
import { canReceiveWork, type LeaseRequest } from "./lease-service.ts";
import type { LeasedRow } from "./lease-store.ts";
import { type WholePoolScope, wholePoolScope } from "./whole-pool.ts";

/** The recipient with an id; undefined for the empty id. Throws if the pool has no such recipient. */
export function requireRecipient({ recipients }: PoolSnapshot, recipientId: string): Recipient | undefined {
  if (recipientId === "") return undefined;
  const recipient = recipients.find(({ id }) => id === recipientId);
  if (recipient === undefined) throw notFound("recipient");
  return recipient;
}

/** Converts a worker's request; throws if the pool has no such recipient, or if a recipient must be named. */
export function toLeaseRequest(
  context: Context,
  request: Pick<LeaseItemsRequest, "recipientId" | "maxItems" | "waitS" | "leaseS">,
  snapshot: PoolSnapshot,
): LeaseRequest {
  const { pool, recipients } = snapshot;
  const { recipientId, maxItems, waitS, leaseS } = request;
  const recipient = requireRecipient(snapshot, recipientId);
  return {
    tenantId: context.tenantId,
    poolId: pool.id,
    recipientId,
    limits: toLeaseLimits(pool.config.admission),
    environmentId: pool.environmentId,
    recipientIds: recipients.filter(canReceiveWork).map(({ id }) => id),
    ...(recipientId === "" ? wholePoolScope(snapshot) : ownItems),
    offered: recipientId !== "" && pool.strategy === "first_accept",
    delivery: "pull",
    capacity: recipient?.capacity ?? 0,
    leaseS: leaseS === 0 ? pool.config.lease.durationS : leaseS,
    ageingMs: priorityWorthS(pool.config.queue) * 1000,
    max: recipient === undefined || canReceiveWork(recipient) ? Math.max(1, maxItems) : 0,
    waitMs: waitS * 1000,
    leaseAhead: canLeaseAhead(pool.config),
    signal: context.signal,
    recheckAccess: () => context.recheckAccess(),
    onWaited: (ms: number) => context.waited(ms),
  };
}

/** A worker that names its recipient gets no other items. */
const ownItems: WholePoolScope = { unassigned: false };

export function fromRow(row: LeasedRow, { pool }: PoolSnapshot): LeasedItem {
  // A plain literal: create() costs more per field than the rest of the item.
  return {
    $typeName: "service.api.LeasedItem",
    queueItemId: row.id,
    poolId: row.poolId,
    recipientId: row.recipientId,
    type: row.type,
    key: row.key,
    attributes: row.attributes,
    payload: row.payload,
    priority: row.priority,
    attempt: row.attempt,
    maxAttempts: policyOf(pool.config.retry, row.retry).maxAttempts,
    leaseToken: row.leaseToken,
    leaseExpiresAt: timestampFromDate(row.leaseUntil),
    enqueuedAt: timestampFromMs(ulidMs(row.id)),
    after: row.after?.map(fromAwaited) ?? [],
  };
}
