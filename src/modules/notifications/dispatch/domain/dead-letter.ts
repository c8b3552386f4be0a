import type { TenantId } from "../../../../platform/access/index.ts";

/** Where a dead letter stands. */
export type DeadLetterStatus = "open" | "redriving" | "redriven" | "discarded" | "expired";

/** What failed for good: a delivery, or a page of a broadcast. */
export interface DeadLetter {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly kind: "delivery" | "fanout_page";
  readonly deliveryId: string;
  readonly broadcastId: string;
  readonly transactionId: string;
  readonly subscriberId: string;
  readonly channel: string;
  readonly failurePhase: string;
  readonly failureCode: string;
  readonly failureDetail: string;
  readonly attempts: number;
  readonly firstFailedAt: Date;
  readonly lastFailedAt: Date;
  /** Of what it carries, which is never shown itself. */
  readonly payloadDigest: Buffer;
  readonly payloadExpiresAt: Date;
  readonly status: DeadLetterStatus;
  readonly redriveCount: number;
  readonly maxRedrives: number;
  readonly redrivenBy: string;
  readonly redriveReason: string;
}

/** Why a dead letter cannot be redriven; undefined when it can. */
export function redriveRefusal(
  letter: DeadLetter,
  nowMs: number,
): { code: "CONFLICT" | "FAILED_PRECONDITION"; why: string } | undefined {
  switch (letter.status) {
    case "redriving":
      return { code: "CONFLICT", why: "The dead letter is being redriven." };
    case "redriven":
    case "discarded":
      return { code: "FAILED_PRECONDITION", why: `The dead letter is ${letter.status}.` };
    case "expired":
      return { code: "FAILED_PRECONDITION", why: "What the dead letter carries is kept no longer." };
    case "open":
      break;
  }
  if (letter.payloadExpiresAt.getTime() <= nowMs) {
    return { code: "FAILED_PRECONDITION", why: "What the dead letter carries is kept no longer." };
  }
  if (letter.redriveCount >= letter.maxRedrives) {
    return { code: "FAILED_PRECONDITION", why: `The dead letter was redriven ${letter.maxRedrives} times already.` };
  }
  return undefined;
}
