import { CelError, type CelExpression, evaluateCondition } from "../../../../platform/cel/index.ts";
import type { ActionRefusal } from "../../actions/index.ts";
import type { AnswerClass, FailureRule, MessageFailure, MessageSpec } from "../../manifests/index.ts";
import type { MessageOutcome } from "./message.ts";

/** The longest delay that a provider may request. */
const waitMsMax = 15 * 60_000;

/** The message failure of each class, unless the manifest says otherwise. */
const failureOfClass: Readonly<Partial<Record<AnswerClass, MessageFailure>>> = {
  rate_limited: "rate_limited",
  auth_expired: "auth_rejected",
  permission_denied: "auth_rejected",
  not_found: "content_rejected",
  conflict: "content_rejected",
  invalid_input: "content_rejected",
  unavailable: "unavailable",
};

/** Faults of requests that never reached the provider. */
const faults = ["denied", "dns_failed", "connect_failed", "tls_failed", "timeout", "cancelled"] as const;

/** Maps a refused action to the outcome of its message. */
export function outcomeOf({ failures }: MessageSpec, refusal: ActionRefusal, nowMs: number): MessageOutcome {
  const { httpStatus, isRepeatable, mayHaveTakenEffect, retryAtMs } = refusal;
  const detail = detailOf(refusal);
  if (mayHaveTakenEffect) return { kind: "unknown", isRepeatable, detail };
  const fault = httpStatus === 0 ? faults.find((each) => each === refusal.code) : undefined;
  if (fault !== undefined) return { kind: "unsent", fault };
  const rule = failures.find((each) => matches(each, refusal));
  return {
    kind: "refused",
    failure: rule?.as ?? failureOfClass[refusal.class],
    detail,
    suppress: rule?.suppress ?? false,
    retryAfterMs: retryAtMs === undefined ? undefined : Math.min(Math.max(retryAtMs - nowMs, 0), waitMsMax),
  };
}

function matches({ classes, when }: FailureRule, { class: answerClass, code, message }: ActionRefusal): boolean {
  if (classes !== undefined && !classes.has(answerClass)) return false;
  return holds(when, { class: answerClass, code, message });
}

/** Whether a condition holds. One about a value that is absent does not. */
export function holds(condition: CelExpression | undefined, values: Readonly<Record<string, unknown>>): boolean {
  if (condition === undefined) return true;
  try {
    return evaluateCondition(condition, values);
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

/** Describes the status and the provider's code, which is not a human-readable text. */
function detailOf({ httpStatus, code }: ActionRefusal): string {
  const shown = /^[A-Za-z0-9_.:-]{1,64}$/.test(code) && code !== `http_${httpStatus}` ? ` with code ${code}` : "";
  return httpStatus === 0 ? `There was no answer${shown}.` : `The provider returned ${httpStatus}${shown}.`;
}
