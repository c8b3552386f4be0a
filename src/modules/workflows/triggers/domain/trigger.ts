import type { TenantId } from "../../../../platform/access/index.ts";
import type { ScheduleTimes } from "../../../../platform/cron/index.ts";
import type { Json } from "../../definitions/index.ts";

/** Policy for a time of a schedule while a run of the trigger is in progress. */
export type Overlap = "skip" | "allow" | "cancel_running" | "queue_one";

/** The times at which runs start. */
export interface Schedule extends ScheduleTimes {
  readonly overlap: Overlap;
}

/** The events for which runs start. */
export interface EventFilter {
  /** Exact types, and families such as `queue.item.*`. */
  readonly types: readonly string[];
  /** CEL; always true when empty. */
  readonly condition: string;
}

/** The run that a trigger starts. */
export interface TriggerSettings {
  readonly name: string;
  /** The key or the id of the definition. */
  readonly definition: string;
  /** 0: the version that is active when a run starts. */
  readonly version: number;
  /** The templates of the input and of the run key. */
  readonly input: Json;
  readonly runKey: string;
}

/** Either a schedule or a filter of events. */
export type TriggerCause =
  | { readonly kind: "schedule"; readonly schedule: Schedule }
  | { readonly kind: "event"; readonly event: EventFilter };

/** The last result of a trigger. */
export interface TriggerStatus {
  readonly lastFiredAt: Date | null;
  readonly lastRunId: string;
  readonly lastSkippedAt: Date | null;
  readonly lastError: string;
  readonly consecutiveFailures: number;
}

/** Starts runs of a definition. */
export interface Trigger extends TriggerSettings, TriggerStatus {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly environmentId: string;
  readonly environmentKey: string;
  readonly cause: TriggerCause;
  readonly enabled: boolean;
  readonly disabledReason: "" | "manual" | "failing";
  readonly generation: number;
  readonly nextAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly recordVersion: number;
}

/** Maximum number of triggers per tenant. Every event is matched against all of them. */
export const triggersMax = 1000;

/** The number of permanent failures in a row after which a trigger is disabled. */
export const failuresMax = 20;

/** The longest chain of triggers that start each other's runs. */
export const depthMax = 8;

/** The number of shards that triggers are divided into. */
export const shardCount = 16;
