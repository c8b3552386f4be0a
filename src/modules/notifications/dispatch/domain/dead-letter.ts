import type { TenantId } from "../../../../platform/access/index.ts";

export type DeadLetterStatus = "open" | "redriving" | "redriven" | "discarded" | "expired";

/** A delivery or broadcast page that failed permanently. */
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
  /** SHA-256 of the payload, which is never exposed. */
  readonly payloadDigest: Buffer;
  readonly payloadExpiresAt: Date;
  readonly status: DeadLetterStatus;
  readonly redriveCount: number;
  readonly maxRedrives: number;
  readonly redrivenBy: string;
  readonly redriveReason: string;
}

/** The reason why a dead letter cannot be redriven; undefined when it can. */
export function redriveRefusal(
  letter: DeadLetter,
  nowMs: number,
): { code: "CONFLICT" | "FAILED_PRECONDITION"; why: string } | undefined {
  switch (letter.status) {
    case "redriving":
      return { code: "CONFLICT", why: "The dead letter is already being redriven." };
    case "redriven":
    case "discarded":
      return {
        code: "FAILED_PRECONDITION",
        why: `The dead letter is ${letter.status}; only open ones can be redriven.`,
      };
    case "expired":
      return {
        code: "FAILED_PRECONDITION",
        why: "The payload of the dead letter has expired; trigger the notification again.",
      };
    case "open":
      break;
  }
  if (letter.payloadExpiresAt.getTime() <= nowMs) {
    return {
      code: "FAILED_PRECONDITION",
      why: "The payload of the dead letter has expired; trigger the notification again.",
    };
  }
  if (letter.redriveCount >= letter.maxRedrives) {
    return {
      code: "FAILED_PRECONDITION",
      why: `The dead letter has reached its limit of ${letter.maxRedrives} redrives.`,
    };
  }
  return undefined;
}
