import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Json } from "../../../../platform/document/index.ts";
import type { OpenConnection } from "../../connections/index.ts";
import { type Action, type AnswerClass, checkInput, type Provider } from "../../manifests/index.ts";
import { safetyOf } from "../domain/execution.ts";
import type { ActionExecutor } from "./action-executor.ts";
import { renderPage } from "./prepared-action.ts";
import { limitScope, type RateLimits } from "./rate-limits.ts";

/** One execution of an action whose caller keeps the record. */
export interface ActionCall {
  readonly provider: Provider;
  readonly action: Action;
  readonly input: Json;
  readonly connection: OpenConnection;
  readonly idempotencyKey: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Why an action did not succeed. */
export interface ActionRefusal {
  readonly kind: "refused";
  readonly class: Exclude<AnswerClass, "ok">;
  /** Redacted. */
  readonly code: string;
  readonly message: string;
  /** 0 without an answer. */
  readonly httpStatus: number;
  /** Whether the provider may have performed the action nevertheless. */
  readonly mayHaveTakenEffect: boolean;
  /** Whether the same call may be sent again, because the provider deduplicates it. */
  readonly isRepeatable: boolean;
  readonly retryAtMs: number | undefined;
}

/** The outcome of a call. unsendable: no request could be made of it; the message names the place and no values. */
export type ActionResult =
  | { readonly kind: "succeeded"; readonly output: Json }
  | { readonly kind: "unsendable"; readonly message: string }
  | ActionRefusal;

/** Executes an action once: the caller decides about retries. Rejected credentials are renewed before. */
export type PerformAction = (call: ActionCall) => Promise<ActionResult>;

interface Dependencies {
  readonly clock: Clock;
  readonly executor: ActionExecutor;
  readonly rateLimits: RateLimits;
}

/** Creates the function that executes actions without a record. */
export function createUnrecordedActions({ clock, executor, rateLimits }: Dependencies): PerformAction {
  return async ({ provider, action, input, connection, idempotencyKey, timeoutMs, signal }) => {
    const { tenantId } = connection;
    const [violation] = checkInput(action, input);
    if (violation !== undefined) return { kind: "unsendable", message: `${violation.field} ${violation.message}` };
    const once = { ...action, retry: { maxAttempts: 1, on: [] } };
    const prepared = { tenantId, provider, action: once, input, connection, idempotencyKey };
    const nowMs = clock.now();
    const request = renderPage(prepared, undefined, nowMs);
    if ("fault" in request) return { kind: "unsendable", message: `${request.place} ${request.message}` };
    const isRepeatable = safetyOf(action) !== "once";
    // A caller that can wait does so without a request in progress.
    const blockedUntilMs = rateLimits.blockedUntilMs(tenantId, limitScope(connection.id, provider.key));
    if (blockedUntilMs > 0) return { ...limited, isRepeatable, retryAtMs: blockedUntilMs };
    const outcome = await executor(prepared, request, nowMs + timeoutMs, signal);
    if (outcome.status === "succeeded") return { kind: "succeeded", output: outcome.output ?? null };
    const httpStatus = outcome.attempts.at(-1)?.httpStatus ?? 0;
    return {
      kind: "refused",
      class: outcome.class as ActionRefusal["class"],
      ...{ code: outcome.code, message: outcome.message, httpStatus, isRepeatable, retryAtMs: outcome.retryAtMs },
      // 503 means that the server did not perform the request.
      mayHaveTakenEffect: outcome.status === "outcome_unknown" && httpStatus !== 503,
    };
  };
}

const limited = {
  kind: "refused",
  class: "rate_limited",
  code: "limited",
  message: "The provider allows no request of this connection yet.",
  httpStatus: 0,
  mayHaveTakenEffect: false,
} as const;
