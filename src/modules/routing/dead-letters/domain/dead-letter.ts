import type { TenantId } from "../../../../platform/access/index.ts";

/** Where a dead letter stands. A purged one, and one whose item was completed after all, has no record any more. */
export type DeadLetterState = "failed" | "retrying" | "quarantined";

/** Where an item failed for good. */
export type FailurePhase = "work" | "delivery" | "lease" | "expiry";

/** One attempt that failed, as it is kept. */
export interface FailedAttempt {
  readonly attempt: number;
  readonly failedAtMs: number;
  /** A stable word for why. */
  readonly reasonCode: string;
  /** What the worker said. */
  readonly reason: string;
  readonly recipientId: string;
}

/** An item that failed for good, without what it carries. */
export interface DeadLetter {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly queueItemId: string;
  readonly state: DeadLetterState;
  readonly reasonCode: string;
  readonly phase: FailurePhase;
  readonly attempts: readonly Partial<FailedAttempt>[];
  /** How often it was put back. */
  readonly retryCount: number;
  /** How often it may be. */
  readonly maxRetries: number;
  readonly payloadDigest: Buffer;
  readonly firstFailedAt: Date;
  readonly lastFailedAt: Date;
  readonly type: string;
  readonly key: string;
}

/** What someone may do to letters that they name. */
export type DeadLetterVerb = "retry" | "quarantine" | "release";

/** Why a letter is left as it is. */
export type SkipReason =
  | "not_found"
  | "quarantined"
  | "not_quarantined"
  | "retrying"
  | "max_retries"
  | "deduplicated"
  | "rejected";

/** What decides whether a letter may be changed. */
export interface Standing {
  readonly queueItemId: string;
  readonly state: DeadLetterState;
  readonly retryCount: number;
  readonly maxRetries: number;
}

/** What each verb makes of a letter in each state: its next state, or why it is left as it is. */
const changes = {
  retry: { failed: { to: "retrying" }, retrying: { skip: "retrying" }, quarantined: { skip: "quarantined" } },
  quarantine: { failed: { to: "quarantined" }, retrying: { skip: "retrying" }, quarantined: { skip: "quarantined" } },
  release: { failed: { skip: "not_quarantined" }, retrying: { skip: "retrying" }, quarantined: { to: "failed" } },
} as const satisfies Record<DeadLetterVerb, Record<DeadLetterState, { to: DeadLetterState } | { skip: SkipReason }>>;

/** Why a verb leaves a letter as it is; undefined when it changes it. */
export function skipReason(verb: DeadLetterVerb, letter: Standing | undefined): SkipReason | undefined {
  if (letter === undefined) return "not_found";
  const change = changes[verb][letter.state];
  if ("skip" in change) return change.skip;
  return verb === "retry" && isExhausted(letter) ? "max_retries" : undefined;
}

/** Whether a letter was put back as often as it may be. */
function isExhausted({ retryCount, maxRetries }: Pick<Standing, "retryCount" | "maxRetries">): boolean {
  return retryCount >= maxRetries;
}

/** A named letter that was left as it is. */
export interface Skipped {
  readonly queueItemId: string;
  readonly reason: SkipReason;
}

/** Parts those who are named into the ones that a verb changes and the ones that it leaves, in the order of their naming. */
export function partition(
  verb: DeadLetterVerb,
  named: readonly string[],
  found: readonly Standing[],
): { readonly changed: readonly string[]; readonly skipped: readonly Skipped[] } {
  const byId = new Map(found.map((letter) => [letter.queueItemId, letter]));
  const changed: string[] = [];
  const skipped: Skipped[] = [];
  for (const queueItemId of named) {
    const reason = skipReason(verb, byId.get(queueItemId));
    if (reason === undefined) changed.push(queueItemId);
    else skipped.push({ queueItemId, reason });
  }
  return { changed, skipped };
}
