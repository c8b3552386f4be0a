import type { TenantId } from "../../../../platform/access/index.ts";
import type { IdempotencyRecord } from "../../../../platform/idempotency/index.ts";
import type { Reservation } from "../../tasks/index.ts";

/** A run's row after an advance, and everything that is stored with it. */
export interface RunWrite {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly environmentId: string;
  readonly inProduction: boolean;
  /** The revision that the advance started from; 0 for a new run. */
  readonly revision: number;
  readonly status: "pending" | "running" | "waiting" | "paused";
  readonly stateJson: string;
  readonly wakeAtMs: number | undefined;
  readonly unread: number;
  /** Set when the run has ended: its row moves to the archive. */
  readonly end: RunEndWrite | undefined;
  /** The entries of the history, as a JSON list. */
  readonly historyJson: string;
  readonly newTasks: readonly TaskWrite[];
  readonly retriedTasks: readonly { readonly id: string; readonly attempt: number; readonly delayMs: number }[];
  readonly endedTasks: readonly string[];
  /** Holds back the tasks that nobody has leased, or no longer; undefined changes nothing. */
  readonly hold: boolean | undefined;
  readonly newMail: readonly MailWrite[];
  readonly consumedMail: readonly { readonly eventId: string; readonly key: string }[];
  /** Runs that no step waits for any more. */
  readonly cancelledRuns: readonly string[];
  readonly newApprovals: readonly ApprovalWrite[];
  /** The decisions on approvals that are still open. */
  readonly decidedApprovals: readonly ApprovalDecisions[];
  /** The steps of approvals that are not open any more. */
  readonly closedApprovals: readonly string[];
  readonly events: readonly RunEventWrite[];
  /** The idempotency records of the calls that change it. */
  readonly records: readonly IdempotencyRecord[];
  /** The epoch of the run's shard, for an advance that only the owner of the shard may make. */
  readonly epoch: { readonly shard: number; readonly epoch: number } | undefined;
}

/** The fields of a run that never change. */
export interface NewRunWrite extends RunWrite {
  readonly definitionId: string;
  readonly version: number;
  readonly runKey: string;
  readonly shard: number;
  readonly originJson: string;
  readonly parentRunId: string;
  readonly createdAtMs: number;
}

export interface RunEndWrite {
  readonly status: "succeeded" | "failed" | "cancelled" | "timed_out";
  readonly outputJson: string;
  /** Empty without an error. */
  readonly errorJson: string;
  /** The dead letter of a run that failed or timed out; undefined for others and for runs that another run waits for. */
  readonly deadLetter: DeadLetterWrite | undefined;
}

export interface DeadLetterWrite {
  /** The run that failed first. */
  readonly letter: string;
  readonly definitionId: string;
  readonly definitionKey: string;
  readonly environmentKey: string;
  readonly version: number;
  readonly code: string;
  readonly message: string;
  readonly step: string;
}

export interface TaskWrite {
  readonly id: string;
  readonly stepKey: string;
  readonly queue: string;
  readonly type: string;
  readonly versionRange: string;
  readonly inputJson: string;
  readonly attemptMs: number;
  readonly heartbeatMs: number;
  /** Whether the run is paused: nobody can lease the task. */
  readonly held: boolean;
  /** The lease of a worker that waits for it; undefined if nobody does. */
  readonly lease: Reservation | undefined;
}

export interface MailWrite {
  readonly eventId: string;
  readonly event: string;
  readonly scope: string;
  readonly payloadJson: string;
}

/** The decisions on an approval so far. */
export interface ApprovalDecisions {
  readonly stepKey: string;
  readonly decisionsJson: string;
  readonly decidedBy: readonly string[];
}

/** An approval that a run starts to wait for. */
export interface ApprovalWrite extends ApprovalDecisions {
  readonly id: string;
  readonly environmentKey: string;
  readonly definitionId: string;
  readonly definitionKey: string;
  readonly runKey: string;
  readonly title: string;
  /** Undefined if they are too large to be listed. */
  readonly detailsJson: string | undefined;
  readonly by: readonly string[];
  readonly quorum: number;
  readonly commentRequired: boolean;
  readonly openedAtMs: number;
  readonly dueAtMs: number;
}

/** Pairs each part of the writes with the position of its write. */
export function partsOf<Part>(writes: readonly RunWrite[], parts: (write: RunWrite) => readonly Part[]) {
  return writes.flatMap((write, nth) => parts(write).map((part) => ({ nth, write, part })));
}

/** An event for the tenant's log. */
export interface RunEventWrite {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}
