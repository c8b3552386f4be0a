import { retryAfterMs } from "../../../platform/backoff/retry-after.ts";
import { type Egress, EgressError, type EgressResponse } from "../../../platform/egress/index.ts";
import { type FailureKind, failed, type SendFailure } from "./domain/failure.ts";

/** The longest delay that a provider may request. */
const retryAfterMsMax = 15 * 60_000;

/** A POST to a provider. */
export interface ProviderRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly signal: AbortSignal;
  /** Whether the provider deduplicates requests by their idempotency key. */
  readonly idempotent: boolean;
}

export interface HttpParts {
  readonly egress: Egress;
  readonly now: () => number;
}

/** Classifies provider-specific error responses; undefined for those with the usual meaning of their status. */
export type ResponseClassifier = (response: EgressResponse) => SendFailure | undefined;

const timeoutMs = 30_000;
const responseBytesMax = 256 * 1024;

/** Posts to a provider; returns a 2xx response or the failure. */
export async function post(
  { egress, now }: HttpParts,
  { idempotent, ...request }: ProviderRequest,
  classify: ResponseClassifier = () => undefined,
): Promise<EgressResponse | SendFailure> {
  let response: EgressResponse;
  try {
    response = await egress.request({ ...request, method: "POST", timeoutMs, bytesMax: responseBytesMax });
  } catch (error) {
    if (error instanceof EgressError) return failureOf(error, idempotent);
    throw error;
  }
  if (response.status >= 200 && response.status < 300) return response;
  return classify(response) ?? refusalOf(response, idempotent, now());
}

/** Classifies a response other than 2xx. */
function refusalOf({ status, headers }: EgressResponse, idempotent: boolean, nowMs: number): SendFailure {
  const detail = `The provider returned ${status}.`;
  // 503 means that the message was rejected. With any other 5xx it may have been accepted.
  const mayHaveArrived = status >= 500 && status !== 503;
  if (mayHaveArrived && !idempotent) return failed("outcome_unknown", `${detail} It may have accepted the message.`);
  const failureKind = failureKindOf(status);
  if (failureKind !== "rate_limited" && failureKind !== "unavailable") return failed(failureKind, detail);
  const waitMs = retryAfterMs(headers["retry-after"], nowMs, retryAfterMsMax);
  return failed(failureKind, detail, { ...(waitMs !== undefined && { retryAfterMs: waitMs }), mayHaveArrived });
}

function failureKindOf(status: number): FailureKind {
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

/** Classifies a request without a response. */
export function failureOf({ reason, mayHaveArrived }: EgressError, idempotent: boolean): SendFailure {
  if (mayHaveArrived) {
    if (!idempotent)
      return failed("outcome_unknown", "The provider may have accepted the message, but its response is missing.");
    const detail =
      "The provider's response is missing; the message can be repeated, because the provider deduplicates it.";
    return failed(reason === "timeout" ? "timeout" : "outcome_unknown", detail, { retryable: true, mayHaveArrived });
  }
  switch (reason) {
    case "invalid_url":
      return failed("content_rejected", "The message or its address cannot be sent in an HTTP request.");
    case "too_large":
    case "connection_lost":
      return failed("connect_failed", unsentDetails.connect_failed);
    default:
      return failed(reason, unsentDetails[reason]);
  }
}

/** Why a message was not sent. */
export const unsentDetails = {
  denied: "The egress policy does not allow connections to the provider's address.",
  dns_failed: "The provider's host name could not be resolved.",
  connect_failed: "The provider does not accept connections.",
  tls_failed: "The TLS handshake failed, or the provider's certificate is not valid for its host name.",
  timeout: "The provider did not accept the connection in time.",
  cancelled: "Sending was interrupted before it began.",
} as const;

/** The response body as a JSON object; empty when it is not one. */
export function jsonOf({ body }: EgressResponse): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The first of the named properties that is a storable provider id. */
export function idIn(values: Readonly<Record<string, unknown>>, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = values[name];
    if (typeof value === "string" && /^[\x21-\x7e]{1,256}$/.test(value)) return value;
  }
  return undefined;
}
