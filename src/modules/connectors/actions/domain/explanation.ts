import type { Connection } from "../../connections/index.ts";
import type { Action, AnswerClass } from "../../manifests/index.ts";
import { type Attempt, type Execution, isRepeatable, nodeLostCode } from "./execution.ts";

/** Outcome of one request. */
export interface AttemptExplanation {
  readonly number: number;
  readonly outcome: string;
  readonly consequence: string;
}

/** The outcome of an execution, with remedies. */
export interface Explanation {
  readonly executionId: string;
  readonly status: Execution["status"];
  readonly summary: string;
  readonly effect: "yes" | "no" | "unknown";
  readonly remedies: readonly string[];
  readonly attempts: readonly AttemptExplanation[];
}

/** Facts about the action and the connection of an execution. */
interface Surroundings {
  readonly action: Pick<Action, "scopes" | "permissions" | "retry" | "runtime"> | undefined;
  readonly connection: Pick<Connection, "status" | "scopes"> | undefined;
}

const classTexts: Readonly<Record<AnswerClass, string>> = {
  ok: "the provider performed the request",
  rate_limited: "the provider limits the requests of this connection",
  auth_expired: "the provider rejected the credentials",
  permission_denied: "the provider does not allow the account to do this",
  not_found: "the provider does not know what the input names",
  conflict: "the request conflicts with the state at the provider",
  invalid_input: "the provider does not accept the input",
  unavailable: "the provider could not be reached or could not answer",
  failed: "the provider refused the request",
  malformed: "the provider's answer cannot be read",
};

export function explain(execution: Execution, surroundings: Surroundings): Explanation {
  const { id, status, attempts } = execution;
  return {
    ...{ executionId: id, status, summary: summaryOf(execution), effect: effectOf(execution) },
    remedies: remediesOf(execution, surroundings),
    attempts: attempts.map((attempt, at) => explainAttempt(execution, attempt, attempts[at + 1])),
  };
}

function summaryOf({ status, class: answerClass, code, message, attempts, actionKey }: Execution): string {
  const requests = attempts.length === 1 ? "1 request" : `${attempts.length} requests`;
  if (status === "running") return `${actionKey} is being executed.`;
  if (status === "succeeded") return `${actionKey} succeeded with ${requests}.`;
  if (code === nodeLostCode) return `The node that executed ${actionKey} stopped before it stored the outcome.`;
  const reason = `${classTexts[answerClass || "failed"]} (${code})`;
  const said = message === "" ? "" : ` It said: ${message}`;
  return status === "failed"
    ? `${actionKey} failed after ${requests}: ${reason}.${said}`
    : `It is unknown whether ${actionKey} was performed: after ${requests}, ${reason}.${said}`;
}

function effectOf({ status, safety }: Execution): Explanation["effect"] {
  if (safety === "read" || status === "failed") return "no";
  return status === "succeeded" ? "yes" : "unknown";
}

function remediesOf(execution: Execution, { action, connection }: Surroundings): readonly string[] {
  const { status, class: answerClass, safety, idempotencyKey, retryAt } = execution;
  if (status === "running" || status === "succeeded") return [];
  const remedies: string[] = [];
  if (status === "outcome_unknown") remedies.push(...unknownRemedies(execution));
  if (connection !== undefined && connection.status !== "active") {
    remedies.push(`The connection is ${connection.status}: reconnect it with a connect session.`);
  }
  switch (answerClass) {
    case "rate_limited":
      remedies.push(`Send the call again${retryAt === null ? " later" : ` after ${retryAt.toISOString()}`}.`);
      break;
    case "unavailable":
      if (isRepeatable(status, safety)) remedies.push("Send the call again when the provider is available.");
      break;
    case "auth_expired":
      remedies.push("Test the connection, and reconnect it if the test fails.");
      break;
    case "permission_denied":
      remedies.push(...permissionRemedies(action, connection));
      break;
    case "not_found":
      remedies.push("Check the names and ids in the input, and whether the connected account can see them.");
      break;
    case "conflict":
      remedies.push("Read the current state at the provider, then send a call that fits it.");
      break;
    case "invalid_input":
      remedies.push("Correct the input as the message says. A dry run shows the request without sending it.");
      break;
    case "malformed":
      remedies.push("The answer does not fit the manifest: check whether the provider has changed, and report it.");
      break;
    case "failed":
      remedies.push("Look up the code in the provider's documentation.");
      break;
    default:
  }
  if (status === "outcome_unknown" && safety === "repeatable" && idempotencyKey !== "") {
    remedies.push(`The provider deduplicates by the key ${idempotencyKey}: a call with it cannot be performed twice.`);
  }
  return remedies;
}

function unknownRemedies({ safety }: Execution): readonly string[] {
  return safety === "once"
    ? ["Check at the provider whether it was performed, before you send it again: the provider does not deduplicate."]
    : ["Send the call again with the same Idempotency-Key: performing it again has no further effect."];
}

function permissionRemedies(action: Surroundings["action"], connection: Surroundings["connection"]): readonly string[] {
  const granted = new Set(connection?.scopes ?? []);
  const missing = (action?.scopes ?? []).filter((scope) => !granted.has(scope));
  const remedies: string[] = [];
  if (missing.length > 0 && granted.size > 0) {
    remedies.push(`The connection was not granted ${missing.join(", ")}: reconnect it with these scopes.`);
  }
  if ((action?.permissions ?? []).length > 0) {
    remedies.push(`The account needs these permissions at the provider: ${action!.permissions.join(", ")}.`);
  }
  if (remedies.length === 0) remedies.push("Give the connected account access at the provider.");
  return remedies;
}

function explainAttempt(execution: Execution, attempt: Attempt, next: Attempt | undefined): AttemptExplanation {
  const { number, httpStatus, class: answerClass, code, durationMs, page } = attempt;
  const answered = httpStatus === 0 ? `no answer (${code})` : `status ${httpStatus}`;
  const reason = answerClass === "ok" ? "" : `: ${classTexts[answerClass]}${httpStatus === 0 ? "" : ` (${code})`}`;
  const outcome = `${page > 1 ? `Page ${page}: ` : ""}${answered} after ${durationMs} ms${reason}.`;
  return { number, outcome, consequence: consequenceOf(execution, attempt, next) };
}

function consequenceOf(execution: Execution, attempt: Attempt, next: Attempt | undefined): string {
  const { safety, status } = execution;
  const { class: answerClass, mayHaveTakenEffect } = attempt;
  if (next !== undefined) {
    if (answerClass === "ok") return "The next page was requested.";
    if (answerClass === "auth_expired") return "The credentials were renewed, and the refused request was sent again.";
    if (!mayHaveTakenEffect) return "Nothing was changed, so the request was sent again.";
    return safety === "read" || safety === "repeatable"
      ? "The request was sent again, because performing it twice has no further effect."
      : "The request was sent again.";
  }
  if (answerClass === "ok") return "The execution succeeded.";
  if (mayHaveTakenEffect && safety === "once") {
    return "It was not sent again, because the provider may have performed it and does not deduplicate.";
  }
  if (status === "outcome_unknown") return "No attempts or no time were left. The provider may have performed it.";
  return "It was not sent again: it would not help, or no attempts or no time were left.";
}
