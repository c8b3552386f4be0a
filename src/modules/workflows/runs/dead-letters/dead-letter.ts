export type DeadLetterState = "open" | "replayed" | "quarantined" | "discarded";

/** A run that failed or timed out. */
export interface DeadLetter {
  readonly tenantId: string;
  /** The run that failed first. */
  readonly runId: string;
  readonly environmentId: string;
  readonly environmentKey: string;
  readonly definitionId: string;
  readonly definitionKey: string;
  readonly version: number;
  readonly state: DeadLetterState;
  readonly errorCode: string;
  readonly errorMessage: string;
  readonly step: string;
  readonly replayCount: number;
  readonly maxReplays: number;
  /** The latest replay; empty before the first. */
  readonly replayRunId: string;
  readonly firstFailedAt: Date;
  readonly failedAt: Date;
  readonly reason: string;
  readonly changedBy: string;
}

/** A change that people make. */
export type DeadLetterChange = "quarantine" | "release" | "discard";

/** The states in which a change is possible, and the state after it. */
export const transitions: Readonly<
  Record<DeadLetterChange, { readonly from: readonly DeadLetterState[]; readonly to: DeadLetterState }>
> = {
  quarantine: { from: ["open"], to: "quarantined" },
  release: { from: ["quarantined"], to: "open" },
  discard: { from: ["open", "quarantined"], to: "discarded" },
};
