import type { TenantId } from "../../../../platform/access/index.ts";
import type { Json } from "../../../../platform/document/index.ts";
import type { Action, AnswerClass } from "../../manifests/index.ts";

/** The status of an execution. A failed one changed nothing; of one with an unknown outcome nobody knows. */
export type ExecutionStatus = "running" | "succeeded" | "failed" | "outcome_unknown";

/** Where an execution comes from. */
export type ExecutionOrigin = "api" | "workflow" | "routing";

/**
 * How often a request may be sent. read: it changes nothing. repeatable: sending it again has no further effect, because the
 * action is naturally idempotent or the provider deduplicates. once: it must not be sent again once it may have arrived.
 */
export type Safety = "read" | "repeatable" | "once";

/** The safety of an action's requests. */
export function safetyOf({ mutation: { effect, idempotency } }: Pick<Action, "mutation">): Safety {
  if (effect === "read" || effect === "search") return "read";
  return idempotency === "none" ? "once" : "repeatable";
}

/** One request to a provider. */
export interface Attempt {
  /** From 1. */
  readonly number: number;
  /** From 1; 0 for actions without pages. */
  readonly page: number;
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** 0 without an answer. */
  readonly httpStatus: number;
  readonly class: AnswerClass;
  readonly code: string;
  /** Whether the provider may have performed the action, although the attempt failed. */
  readonly mayHaveTakenEffect: boolean;
}

/** The request of an execution, without values. */
export interface RequestSummary {
  readonly method: string;
  readonly host: string;
  /** As the manifest writes it, with placeholders. */
  readonly path: string;
}

/** How an execution ended. Everything in it is redacted. */
export interface ExecutionOutcome {
  readonly status: Exclude<ExecutionStatus, "running">;
  readonly class: AnswerClass;
  readonly code: string;
  readonly message: string;
  readonly attempts: readonly Attempt[];
  readonly output: Json | undefined;
  readonly pagesTruncated: boolean;
  /** When the provider allows the next request, if it said so. */
  readonly retryAtMs: number | undefined;
}

export interface Execution {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly actionKey: string;
  readonly providerKey: string;
  readonly manifestVersion: string;
  readonly connectionId: string;
  readonly status: ExecutionStatus;
  /** Empty while it is running. */
  readonly class: AnswerClass | "";
  readonly code: string;
  readonly message: string;
  readonly attempts: readonly Attempt[];
  /** Undefined or null without one. */
  readonly output: Json | undefined;
  readonly outputOmitted: boolean;
  readonly pagesTruncated: boolean;
  readonly request: RequestSummary;
  readonly idempotencyKey: string;
  readonly origin: ExecutionOrigin;
  readonly originId: string;
  readonly safety: Safety;
  readonly retryAt: Date | null;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
}

/** The largest output that is stored, as JSON. */
export const storedOutputBytesMax = 256 * 1024;

/** The code of an execution whose node died. */
export const nodeLostCode = "node_lost";

/** Whether a call with the same idempotency key may be executed again: it did nothing, or doing it again is harmless. */
export function isRepeatable(status: Exclude<ExecutionStatus, "running">, safety: Safety): boolean {
  return status === "failed" || (status === "outcome_unknown" && safety !== "once");
}
