import { type Failure, fail } from "../../../../errors/index.ts";
import type { ConnectionFailure } from "../../connections/index.ts";
import type { Action } from "../../manifests/index.ts";
import { type Execution, isRepeatable } from "./execution.ts";

/** Why an action cannot be executed; undefined if it can. */
export function notExecutable({
  key,
  runtime,
  request,
}: Pick<Action, "key" | "runtime" | "request">): Failure | undefined {
  const { status, reason, replacedBy } = runtime;
  if (status === "executable" && request !== undefined) return undefined;
  const instead = replacedBy === undefined ? "" : ` Use ${replacedBy} instead.`;
  const why = status === "deprecated" ? "is deprecated" : "is only described in the catalogue";
  return fail("ACTION_NOT_EXECUTABLE", {
    public: `The action ${key} ${why}${reason === "" ? "." : `: ${reason}`}${instead}`,
    extra: { runtime_status: status },
  });
}

const faultTexts: Readonly<Record<Exclude<ConnectionFailure, "connection_missing" | "refresh_failed">, string>> = {
  revoked: "The connection is revoked. Use another one.",
  needs_account:
    "The connection's grant reaches several accounts. Choose one of its account_choices with UpdateConnection (account_id).",
  needs_reauth: "The connection's end user must grant access again. Create a connect session to reconnect it.",
  expired: "The connection has expired. Create a connect session to reconnect it.",
  decrypt_failed:
    "The connection's credentials cannot be decrypted. Reconnect it, or ask the operator to restore the key.",
};

/** The failure of a call whose connection cannot be used. */
export function connectionFailure(fault: ConnectionFailure): Failure {
  switch (fault) {
    case "connection_missing":
      return fail("NOT_FOUND", { public: "No such connection." });
    case "refresh_failed":
      return fail("CONNECTOR_UNAVAILABLE", {
        public: "The connection's credentials have expired, and the provider does not renew them now.",
        headers: { "retry-after": "5" },
      });
    default:
      return fail("CONNECTION_UNUSABLE", { public: faultTexts[fault], extra: { reason: fault } });
  }
}

/** The failure of a call that is refused before it starts, because the provider wants no requests. */
export function rateLimitedFailure(untilMs: number, nowMs: number): Failure {
  return fail("CONNECTOR_RATE_LIMITED", {
    public: "The provider allows no request of this connection now. No execution was started.",
    headers: retryAfter(untilMs, nowMs),
    extra: { class: "rate_limited" },
  });
}

/** The failure of a call whose execution did not succeed. Provider texts stay in the execution's record. */
export function executionFailure(execution: Execution, nowMs: number): Failure | undefined {
  const { id, status, class: answerClass, code, retryAt, safety } = execution;
  if (status === "succeeded" || status === "running") return undefined;
  const repeatable = isRepeatable(status, safety);
  const extra = { execution_id: id, class: answerClass, provider_code: code, repeatable };
  const waitS = retryAt === null ? undefined : retryAfter(retryAt.getTime(), nowMs);
  const more = `Read the execution ${id} for details.`;
  if (status === "outcome_unknown") {
    const advice = repeatable
      ? "Sending the call again with the same idempotency key cannot perform it twice."
      : "Check at the provider before you send it again.";
    return fail("CONNECTOR_OUTCOME_UNKNOWN", {
      public: `It is unknown whether the provider performed the action. ${advice} ${more}`,
      extra,
    });
  }
  switch (answerClass) {
    case "rate_limited":
      return fail("CONNECTOR_RATE_LIMITED", {
        public: `The provider limits the requests of this connection. ${more}`,
        headers: waitS ?? { "retry-after": "1" },
        extra,
      });
    case "unavailable":
      return fail("CONNECTOR_UNAVAILABLE", {
        public: `The provider is unavailable. ${more}`,
        headers: waitS ?? {},
        extra,
      });
    case "auth_expired":
      return fail(code === "refresh_failed" ? "CONNECTOR_UNAVAILABLE" : "CONNECTION_UNUSABLE", {
        public: `The connection is revoked, or the provider rejected its credentials. ${more}`,
        extra,
      });
    default:
      return fail("CONNECTOR_FAILED", { public: `The provider refused the action (${answerClass}). ${more}`, extra });
  }
}

function retryAfter(untilMs: number, nowMs: number): { "retry-after": string } {
  return { "retry-after": String(Math.max(1, Math.ceil((untilMs - nowMs) / 1000))) };
}
