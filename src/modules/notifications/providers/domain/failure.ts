import type { ConnectionFailure } from "../../../connectors/index.ts";

/** The failure codes of each sending phase. */
const failureCodes = {
  admission: ["queue_unavailable", "payload_store_failed", "manifest_failed"],
  recipient: ["subscriber_not_found", "subscriber_inactive"],
  endpoint: ["no_endpoint", "unverified", "removed", "suppressed"],
  integration: ["none_active", "condition_no_match", "condition_error"],
  credential: ["connection_missing", "revoked", "decrypt_failed", "refresh_failed", "scope_missing"],
  render: [
    "template_missing",
    "syntax_error",
    "variable_missing",
    "limit_exceeded",
    "too_large",
    "partial_missing",
    "attachment_invalid",
  ],
  egress: ["denied", "dns_failed", "connect_failed", "tls_failed"],
  provider: [
    "rate_limited",
    "unavailable",
    "timeout",
    "auth_rejected",
    "recipient_rejected",
    "content_rejected",
    "quota_exhausted",
    "outcome_unknown",
    "unclassified",
  ],
  system: ["lease_lost", "attempts_exhausted", "cancelled", "internal"],
} as const;

/** The phase in which sending failed. */
export type FailurePhase = keyof typeof failureCodes;

/** The failure within its phase. */
export type FailureCode = (typeof failureCodes)[FailurePhase][number];

/** The failure code of a connection that cannot be used. */
export function credentialCode(fault: ConnectionFailure): (typeof failureCodes)["credential"][number] {
  return fault === "needs_account" || fault === "needs_reauth" || fault === "expired" ? "refresh_failed" : fault;
}

/** A message that the provider did not accept, as far as the service knows. */
export interface SendFailure {
  readonly kind: "failed";
  readonly phase: FailurePhase;
  readonly code: FailureCode;
  /** At most 256 characters written by this service: no address, no secret, no text from the provider. */
  readonly detail: string;
  /** Whether the same message may be sent again later. */
  readonly retryable: boolean;
  /** The provider's requested delay before a retry. */
  readonly retryAfterMs?: number;
  /** Nothing was sent, and another provider may be tried immediately. */
  readonly failover: boolean;
  /** The provider may have accepted the message, so no other provider may ever send it. */
  readonly mayHaveArrived: boolean;
  /** The address is permanently unreachable. */
  readonly suppressEndpoint: boolean;
}

type FailurePolicy = Omit<SendFailure, "kind" | "detail" | "retryAfterMs">;

const permanent = { retryable: false, failover: false, mayHaveArrived: false, suppressEndpoint: false } as const;
const failover = { ...permanent, failover: true } as const;
const retryLater = { ...permanent, retryable: true, failover: true } as const;

/** The consequences of each kind of failure. Callers of `failed` can override them. */
const failurePolicies = {
  denied: { phase: "egress", code: "denied", ...failover },
  dns_failed: { phase: "egress", code: "dns_failed", ...retryLater },
  connect_failed: { phase: "egress", code: "connect_failed", ...retryLater },
  tls_failed: { phase: "egress", code: "tls_failed", ...retryLater },
  rate_limited: { phase: "provider", code: "rate_limited", ...retryLater },
  unavailable: { phase: "provider", code: "unavailable", ...retryLater },
  timeout: { phase: "provider", code: "timeout", ...retryLater },
  auth_rejected: { phase: "provider", code: "auth_rejected", ...failover },
  quota_exhausted: { phase: "provider", code: "quota_exhausted", ...failover },
  // Another provider would reject the message too.
  recipient_rejected: { phase: "provider", code: "recipient_rejected", ...permanent },
  content_rejected: { phase: "provider", code: "content_rejected", ...permanent },
  outcome_unknown: { phase: "provider", code: "outcome_unknown", ...permanent, mayHaveArrived: true },
  unclassified: { phase: "provider", code: "unclassified", ...permanent },
  connection_missing: { phase: "credential", code: "connection_missing", ...failover },
  refresh_failed: { phase: "credential", code: "refresh_failed", ...failover },
  cancelled: { phase: "system", code: "cancelled", ...permanent, retryable: true },
  internal: { phase: "system", code: "internal", ...permanent, retryable: true },
} as const satisfies Record<string, FailurePolicy>;

/** The kinds of failure that a provider can report. */
export type FailureKind = keyof typeof failurePolicies;

const detailCharsMax = 256;

/** Creates a failure of a kind, with optional overrides. */
export function failed(
  failureKind: FailureKind,
  detail: string,
  overrides: Partial<Omit<SendFailure, "kind" | "phase" | "code" | "detail">> = {},
): SendFailure {
  const failure = {
    kind: "failed",
    ...failurePolicies[failureKind],
    detail: detail.slice(0, detailCharsMax),
    ...overrides,
  } as const;
  // A message that may have arrived is never sent through another provider.
  return failure.mayHaveArrived ? { ...failure, failover: false } : failure;
}
