import type { TenantId } from "../../../../platform/access/index.ts";
import type { Backoff } from "../../../../platform/backoff/backoff.ts";
import type { StepAction } from "../../preferences/index.ts";
import type { Channel } from "../../subscribers/index.ts";
import type { Lane } from "./delivery.ts";

/**
 * The status of a run: waiting → running → waiting, completed or stopped; running → collected when another run leads its
 * digest; collected → completed when the digest ends, or waiting when the run becomes its leader. Every status that is
 * not final can become cancelled.
 */
export type RunStatus = "waiting" | "running" | "collected" | "completed" | "stopped" | "cancelled";

/** Why a run ended, if not by its last step. */
export type RunReason =
  | "digested"
  | "throttled"
  | "subscriber_not_found"
  | "subscriber_inactive"
  | "payload_expired"
  | "step_removed"
  | "expression_error"
  | "cancelled"
  | "failed";

/** The outcome of one step, stored in this form. */
export interface StepOutcome {
  readonly stepKey: string;
  readonly kind: StepAction["kind"];
  readonly outcome:
    | "sent"
    | "skipped"
    | "waiting"
    | "waited"
    | "collected"
    | "passed"
    | "throttled"
    | "seen"
    | "read"
    | "timed_out";
  readonly reason?: SkipReason;
  /** Safe to show to everyone who may read the run. */
  readonly detail?: string;
  readonly untilMs?: number;
  readonly deliveryIds?: readonly string[];
  readonly atMs: number;
}

/** Why a step was skipped. */
export type SkipReason =
  | "condition_false"
  | "condition_error"
  | "not_requested"
  | "not_allowed"
  | "no_address"
  | "no_message";

/** The triggers that a digest collected, as templates see them. */
export interface DigestValues {
  /** All of them, including those whose payload was not kept. */
  readonly count: number;
  readonly events: readonly {
    readonly payload: Readonly<Record<string, unknown>>;
    readonly transaction_id: string;
    readonly at: string;
  }[];
}

/** The way of one recipient through the steps of a workflow. */
export interface NotificationRun {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly transactionId: string;
  readonly workflowKey: string;
  readonly subscriberId: string;
  readonly topicKey: string;
  readonly contextKeys: readonly string[];
  readonly userId: string;
  /** The channels that the trigger requested; null for all. */
  readonly channels: readonly Channel[] | null;
  readonly lane: Lane;
  readonly status: RunStatus;
  readonly reason: RunReason | "";
  /** The step that it waits in; "" before the first one. */
  readonly stepKey: string;
  readonly wakeAt: Date | null;
  readonly failures: number;
  readonly leaderRunId: string;
  readonly outcomes: readonly StepOutcome[];
  readonly digest: DigestValues | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Attempts at one step before a run is stopped. */
export const runFailuresMax = 8;

/** The delays before a step that failed is tried again. */
export const runBackoff: Backoff = { firstMs: 2000, maxMs: 300_000 };
