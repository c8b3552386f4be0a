/** Where sending can fail, and how: the codes of each phase. */
const failureCodes = {
  admission: ["queue_unavailable", "payload_store_failed", "manifest_failed"],
  recipient: ["subscriber_not_found", "subscriber_inactive"],
  endpoint: ["no_endpoint", "unverified", "removed", "suppressed"],
  integration: ["none_active", "condition_no_match", "condition_error"],
  credential: ["connection_missing", "revoked", "decrypt_failed", "refresh_failed", "scope_missing"],
  render: ["template_missing", "syntax_error", "variable_missing", "limit_exceeded", "too_large"],
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

/** The step in which sending failed. */
export type FailurePhase = keyof typeof failureCodes;

/** What went wrong in it. */
export type FailureCode = (typeof failureCodes)[FailurePhase][number];

/** A message that was not taken, as far as anybody can tell. */
export interface SendFailure {
  readonly kind: "failed";
  readonly phase: FailurePhase;
  readonly code: FailureCode;
  /** In words of our own, at most 256 characters: no address, no secret, nothing that the other side wrote. */
  readonly detail: string;
  /** Whether the same message may be sent again later. */
  readonly retryable: boolean;
  /** How long the other side asks to be left alone. */
  readonly retryAfterMs?: number;
  /** Nothing was sent and another provider may do better: it may be tried at once. */
  readonly failover: boolean;
  /** The provider may have taken it all the same: the message must not go by any other, now or later. */
  readonly mayHaveArrived: boolean;
  /** The address is gone for good. */
  readonly suppressEndpoint: boolean;
}

type Verdict = Omit<SendFailure, "kind" | "detail" | "retryAfterMs">;

const settled = { retryable: false, failover: false, mayHaveArrived: false, suppressEndpoint: false } as const;
const elsewhere = { ...settled, failover: true } as const;
const later = { ...settled, retryable: true, failover: true } as const;

/** What each kind of failure means for the message. Whoever knows better says so in `failed`. */
const verdicts = {
  denied: { phase: "egress", code: "denied", ...elsewhere },
  dns_failed: { phase: "egress", code: "dns_failed", ...later },
  connect_failed: { phase: "egress", code: "connect_failed", ...later },
  tls_failed: { phase: "egress", code: "tls_failed", ...later },
  rate_limited: { phase: "provider", code: "rate_limited", ...later },
  unavailable: { phase: "provider", code: "unavailable", ...later },
  timeout: { phase: "provider", code: "timeout", ...later },
  auth_rejected: { phase: "provider", code: "auth_rejected", ...elsewhere },
  quota_exhausted: { phase: "provider", code: "quota_exhausted", ...elsewhere },
  // Another provider would be told the same.
  recipient_rejected: { phase: "provider", code: "recipient_rejected", ...settled },
  content_rejected: { phase: "provider", code: "content_rejected", ...settled },
  outcome_unknown: { phase: "provider", code: "outcome_unknown", ...settled, mayHaveArrived: true },
  unclassified: { phase: "provider", code: "unclassified", ...settled },
  connection_missing: { phase: "credential", code: "connection_missing", ...elsewhere },
  refresh_failed: { phase: "credential", code: "refresh_failed", ...elsewhere },
  cancelled: { phase: "system", code: "cancelled", ...settled, retryable: true },
  internal: { phase: "system", code: "internal", ...settled, retryable: true },
} as const satisfies Record<string, Verdict>;

/** The failures that a provider can tell. */
export type Fault = keyof typeof verdicts;

const detailCharsMax = 256;

/** A failure of a kind, with what is different about this one. */
export function failed(
  fault: Fault,
  detail: string,
  different: Partial<Omit<SendFailure, "kind" | "phase" | "code" | "detail">> = {},
): SendFailure {
  const failure = {
    kind: "failed",
    ...verdicts[fault],
    detail: detail.slice(0, detailCharsMax),
    ...different,
  } as const;
  // Whatever else is said of it: what may have arrived is not sent by another provider.
  return failure.mayHaveArrived ? { ...failure, failover: false } : failure;
}
