import type { TenantId } from "../../../../platform/access/index.ts";

/** The state of a dead letter. The record is deleted when the letter is purged or its item completes after a retry. */
export type DeadLetterState = "failed" | "retrying" | "quarantined";

/** The phase in which an item failed permanently. */
export type FailurePhase = "work" | "delivery" | "lease" | "expiry";

/** One failed attempt, as it is stored. */
export interface FailedAttempt {
  readonly attempt: number;
  readonly failedAtMs: number;
  /** A stable code of the reason. */
  readonly reasonCode: string;
  /** The worker's message. */
  readonly reason: string;
  readonly recipientId: string;
}

/** A permanently failed item, without its payload. */
export interface DeadLetter {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly queueItemId: string;
  readonly state: DeadLetterState;
  readonly reasonCode: string;
  readonly phase: FailurePhase;
  readonly attempts: readonly Partial<FailedAttempt>[];
  /** The number of retries so far. */
  readonly retryCount: number;
  /** The maximum number of retries. */
  readonly maxRetries: number;
  readonly payloadDigest: Buffer;
  readonly firstFailedAt: Date;
  readonly lastFailedAt: Date;
  readonly type: string;
  readonly key: string;
}

/** The operations on named letters. */
export type DeadLetterOperation = "retry" | "quarantine" | "release";

/** Why an operation skips a letter. */
export type SkipReason =
  | "not_found"
  | "quarantined"
  | "not_quarantined"
  | "retrying"
  | "max_retries"
  | "deduplicated"
  | "rejected";

/** The fields that decide whether an operation applies to a letter. */
export type LetterStatus = Pick<DeadLetter, "queueItemId" | "state" | "retryCount" | "maxRetries">;

/** The next state of a letter for each operation and state, or the reason to skip it. */
const changes = {
  retry: { failed: { to: "retrying" }, retrying: { skip: "retrying" }, quarantined: { skip: "quarantined" } },
  quarantine: { failed: { to: "quarantined" }, retrying: { skip: "retrying" }, quarantined: { skip: "quarantined" } },
  release: { failed: { skip: "not_quarantined" }, retrying: { skip: "retrying" }, quarantined: { to: "failed" } },
} as const satisfies Record<
  DeadLetterOperation,
  Record<DeadLetterState, { to: DeadLetterState } | { skip: SkipReason }>
>;

/** Why an operation skips a letter; undefined when it applies. */
export function skipReason(operation: DeadLetterOperation, letter: LetterStatus | undefined): SkipReason | undefined {
  if (letter === undefined) return "not_found";
  const change = changes[operation][letter.state];
  if ("skip" in change) return change.skip;
  return operation === "retry" && letter.retryCount >= letter.maxRetries ? "max_retries" : undefined;
}

/** A named letter that an operation skipped. */
export interface SkippedLetter {
  readonly queueItemId: string;
  readonly reason: SkipReason;
}

/** Splits named letters into the ones that an operation changes and the ones that it skips, in the given order. */
export function partition(operation: DeadLetterOperation, named: readonly string[], found: readonly LetterStatus[]) {
  const byId = new Map(found.map((letter) => [letter.queueItemId, letter]));
  const changed: string[] = [];
  const skipped: SkippedLetter[] = [];
  for (const queueItemId of named) {
    const reason = skipReason(operation, byId.get(queueItemId));
    if (reason === undefined) changed.push(queueItemId);
    else skipped.push({ queueItemId, reason });
  }
  return { changed, skipped };
}
