import { type Failure, fail } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";

/** The progress of an object's delivery. */
export type IntentStatus = "prepared" | "uploaded" | "committed" | "aborted" | "expired";

export type IntentAction = "upload" | "commit" | "abort" | "expire";

/** The delivery of one large object to a stream. */
export interface ObjectIntent {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly runId: string;
  readonly streamId: string;
  readonly status: IntentStatus;
  readonly idempotencyKey: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly contentType: string;
  readonly contentClass: string;
  readonly schemaRef: string;
  readonly direction: "output" | "input";
  readonly authorizationReceiptId: string;
  readonly objectKey: string;
  /** The regions whose stores may have bytes. */
  readonly regions: readonly string[];
  readonly sequence: number | null;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly uploadedAt: Date | null;
  readonly endedAt: Date | null;
  /** Set while the bytes are to be removed, or the intent can expire. */
  readonly removeAfter: Date | null;
  readonly removedAt: Date | null;
}

/** How long an intent can be committed. */
export const expiryMs = 15 * 60_000;

/** How long after the expiry of an intent the last write of its bytes may still be in progress. */
export const graceMs = 60_000;

/** The key of an object. The last characters of an id are random, so that directories stay small. */
export function objectKeyOf(tenantId: TenantId, intentId: string): string {
  return `${tenantId}/${intentId.slice(-2)}/${intentId}`;
}

export function intentIdOf(objectKey: string): string {
  return objectKey.slice(objectKey.lastIndexOf("/") + 1);
}

/** The next status by status and action. "repeat": it has been done before, and nothing changes. */
const transitions: Readonly<Record<IntentStatus, Partial<Record<IntentAction, IntentStatus | "repeat">>>> = {
  prepared: { upload: "uploaded", abort: "aborted", expire: "expired" },
  uploaded: { upload: "repeat", commit: "committed", abort: "aborted", expire: "expired" },
  committed: { upload: "repeat", commit: "repeat" },
  aborted: { abort: "repeat" },
  expired: {},
};

/** The status after an action; throws if it cannot be done. */
export function nextStatus(
  intent: Pick<ObjectIntent, "status" | "expiresAt">,
  action: IntentAction,
  nowMs: number,
): IntentStatus | "repeat" {
  const status = statusAt(intent, nowMs);
  const next = transitions[status][action];
  if (next !== undefined) return next;
  if (action === "commit" && status === "prepared") {
    throw fail("OBJECT_NOT_UPLOADED", { public: "The bytes of the object are not uploaded yet. Upload them first." });
  }
  throw endedFailure(status);
}

/** The failure of an action on an intent that has ended. */
export function endedFailure(status: IntentStatus): Failure {
  const remedy = status === "committed" ? "A committed object stays." : "Prepare a new object.";
  return fail("OBJECT_INTENT_ENDED", {
    public: `The object is ${status}. ${remedy}`,
    extra: { current_status: status },
  });
}

/** When no write of bytes can be in progress any more: uploads end when their intent expires. */
export function quietAt({ expiresAt }: Pick<ObjectIntent, "expiresAt">, nowMs: number): Date {
  return new Date(Math.max(nowMs, expiresAt.getTime() + graceMs));
}

/** The status at a time: an intent expires on time, even if its row is updated later. */
export function statusAt(
  { status, expiresAt }: Pick<ObjectIntent, "status" | "expiresAt">,
  nowMs: number,
): IntentStatus {
  return transitions[status].expire !== undefined && nowMs >= expiresAt.getTime() ? "expired" : status;
}
