export const sessionStatuses = ["pending", "authorizing", "completed", "failed", "expired", "revoked"] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/** The final statuses of a session. */
export type EndStatus = Exclude<SessionStatus, "pending" | "authorizing">;

/** Transitions of a session. */
export const sessionVerbs = ["authorize", "retry", "complete", "fail", "expire", "revoke"] as const;
export type SessionVerb = (typeof sessionVerbs)[number];

/**
 * The next status by status and verb. authorize: the end user goes to the provider, possibly once more. retry: the provider could
 * not answer, and the end user starts again.
 */
const transitions: Readonly<Record<SessionStatus, Readonly<Partial<Record<SessionVerb, SessionStatus>>>>> = {
  pending: {
    authorize: "authorizing",
    complete: "completed",
    fail: "failed",
    expire: "expired",
    revoke: "revoked",
  },
  authorizing: {
    authorize: "authorizing",
    retry: "pending",
    complete: "completed",
    fail: "failed",
    expire: "expired",
    revoke: "revoked",
  },
  completed: {},
  failed: {},
  expired: {},
  revoked: {},
};

/** The status after a verb; undefined if the status does not allow it. */
export function nextStatus(status: SessionStatus, verb: SessionVerb): SessionStatus | undefined {
  return transitions[status][verb];
}

/** Whether nothing can happen to a session any more. */
export function hasEnded(status: SessionStatus): status is EndStatus {
  return Object.keys(transitions[status]).length === 0;
}

/** The status at a time: an open session has expired before the job that records it has run. */
export function statusAt(
  { status, expiresAt }: { readonly status: SessionStatus; readonly expiresAt: Date },
  nowMs: number,
): SessionStatus {
  return !hasEnded(status) && expiresAt.getTime() <= nowMs ? "expired" : status;
}
