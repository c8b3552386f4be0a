import { type Egress, EgressError, type EgressResponse } from "../../../platform/egress/index.ts";
import { type Fault, failed, type SendFailure } from "./domain/failure.ts";
import { retryAfterMs } from "./domain/retry-after.ts";

/** A POST to a provider. */
export interface ProviderRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly signal: AbortSignal;
  /** Whether the provider takes the same message twice for one, by the key that comes with it. */
  readonly idempotent: boolean;
}

/** What providers that speak HTTP stand on. */
export interface HttpParts {
  readonly egress: Egress;
  readonly now: () => number;
}

/** How a provider's own answers differ from what statuses usually mean; undefined for those that do not. */
export type Exceptions = (answer: EgressResponse) => SendFailure | undefined;

const timeoutMs = 30_000;
const answerBytesMax = 256 * 1024;

/** Posts to a provider; answers with a 2xx answer, or with why there is none. */
export async function post(
  { egress, now }: HttpParts,
  { idempotent, ...request }: ProviderRequest,
  exceptions: Exceptions = () => undefined,
): Promise<EgressResponse | SendFailure> {
  let answer: EgressResponse;
  try {
    answer = await egress.request({ ...request, method: "POST", timeoutMs, bytesMax: answerBytesMax });
  } catch (error) {
    if (error instanceof EgressError) return failureOf(error, idempotent);
    throw error;
  }
  if (answer.status >= 200 && answer.status < 300) return answer;
  return exceptions(answer) ?? refusalOf(answer, idempotent, now());
}

/** What an answer other than 2xx means. */
function refusalOf({ status, headers }: EgressResponse, idempotent: boolean, nowMs: number): SendFailure {
  const detail = `The provider answered ${status}.`;
  // 503 says that the message was turned away; behind any other 5xx it may have been taken.
  const mayHaveArrived = status >= 500 && status !== 503;
  if (mayHaveArrived && !idempotent) return failed("outcome_unknown", `${detail} It may have taken the message.`);
  const fault = faultOf(status);
  if (fault !== "rate_limited" && fault !== "unavailable") return failed(fault, detail);
  const waitMs = retryAfterMs(headers["retry-after"], nowMs);
  return failed(fault, detail, { ...(waitMs !== undefined && { retryAfterMs: waitMs }), mayHaveArrived });
}

function faultOf(status: number): Fault {
  switch (status) {
    case 401:
    case 403:
      return "auth_rejected";
    case 402:
      return "quota_exhausted";
    case 429:
      return "rate_limited";
    case 408:
    case 425:
      return "unavailable";
    default:
      if (status >= 500) return "unavailable";
      return status >= 400 ? "content_rejected" : "unclassified";
  }
}

/** What it means that there was no answer. */
export function failureOf({ reason, mayHaveArrived }: EgressError, idempotent: boolean): SendFailure {
  if (mayHaveArrived) {
    if (!idempotent)
      return failed("outcome_unknown", "The provider may have taken the message: its answer is missing.");
    const detail = "The provider's answer is missing; it knows the message when it comes again.";
    return failed(reason === "timeout" ? "timeout" : "outcome_unknown", detail, { retryable: true, mayHaveArrived });
  }
  switch (reason) {
    case "denied":
      return failed("denied", "The provider's address may not be reached from here.");
    case "dns_failed":
      return failed("dns_failed", "The provider's name has no address.");
    case "tls_failed":
      return failed("tls_failed", "The provider's certificate is not good for its name, or the handshake failed.");
    case "timeout":
      return failed("timeout", "The provider did not take the connection in time.");
    case "cancelled":
      return failed("cancelled", "Sending was interrupted before it began.");
    case "invalid_url":
      return failed("content_rejected", "The message or its address cannot be put into a request.");
    default:
      return failed("connect_failed", "Nobody takes connections at the provider's address.");
  }
}

/** The answer's body as JSON; an empty object when it is none. */
export function jsonOf({ body }: EgressResponse): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** A name that a provider gave to something, when it is one that can be kept. */
export function idIn(values: Readonly<Record<string, unknown>>, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = values[name];
    if (typeof value === "string" && /^[\x21-\x7e]{1,256}$/.test(value)) return value;
  }
  return undefined;
}
