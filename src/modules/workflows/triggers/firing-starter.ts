import { createHash } from "node:crypto";
import { Failure } from "../../../errors/index.ts";
import { CelError } from "../../../platform/cel/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import { ulidFrom } from "../../../platform/ids/ulid.ts";
import { ownStartRecord, type Runs } from "../runs/index.ts";
import { depthMax, type Trigger } from "./domain/trigger.ts";
import type { FiringFailure, FiringOutcome } from "./domain/trigger-outcome.ts";
import { evaluateTemplates, type TriggerValues } from "./trigger-templates.ts";

/** A time or an event for which a trigger starts a run. */
export interface Firing {
  /** Names it among all firings of the trigger: the time, or the id of the event. */
  readonly name: string;
  /** When it happened. */
  readonly atMs: number;
  /** The number of triggers in the chain that led to it. */
  readonly depth: number;
  readonly values: TriggerValues;
}

interface Dependencies {
  readonly runs: Pick<Runs, "startFor" | "findExisting">;
  readonly clock: Clock;
}

/** Starts the run of a firing. A repeat finds the run of the first attempt. Throws if a later attempt may succeed. */
export type StartFiring = (trigger: Trigger, firing: Firing) => Promise<FiringOutcome>;

/** Idempotency records are kept for an hour at least. The run of an older firing is looked up by its id instead. */
const recordedMs = 30 * 60_000;

/** The firing of a time of a schedule. */
export function timeFiring(timeMs: number): Firing {
  const time = new Date(timeMs);
  return { name: time.toISOString(), atMs: timeMs, depth: 0, values: { schedule: { time } } };
}

/** The id of the run of a firing. It follows from the firing, so that all attempts start the same run. */
export function runIdOf(triggerId: string, { name, atMs }: Pick<Firing, "name" | "atMs">): string {
  const digest = createHash("sha256").update(`${triggerId}:${name}`).digest();
  return ulidFrom(atMs, digest);
}

/** Creates the function that starts the runs of firings. */
export function createFiringStarter({ runs, clock }: Dependencies): StartFiring {
  async function start(trigger: Trigger, firing: Firing, runId: string): Promise<FiringOutcome> {
    const { tenantId, environmentId, definition, version } = trigger;
    if (firing.depth >= depthMax) {
      return failed("trigger_depth", `Triggers may start each other's runs ${depthMax} times in a row.`);
    }
    const evaluated = evaluateTemplates(trigger, firing.values, { steps: 0 });
    const outcome = await runs.startFor({
      ...{ tenantId, id: runId, environmentId, definition, version: version || undefined, ...evaluated },
      origin: {
        by: `trigger:${trigger.id}`,
        via: trigger.cause.kind,
        trigger: { id: trigger.id, depth: firing.depth + 1 },
      },
      record: ownStartRecord(tenantId, "workflow.trigger", `${trigger.id}:${firing.name}`, clock.now()),
    });
    switch (outcome.kind) {
      case "started":
      case "known":
        return { kind: "started", runId };
      case "in_progress":
        return { kind: "skipped" };
      case "refused":
        return failed("start_refused", outcome.message);
    }
  }

  async function attempt(trigger: Trigger, firing: Firing, runId: string): Promise<FiringOutcome> {
    try {
      return await start(trigger, firing, runId);
    } catch (error) {
      if (error instanceof CelError) return failed("expression_error", error.message);
      if (!(error instanceof Failure)) throw error;
      if (error.code === "QUOTA_EXCEEDED") return { ...failed("quota_exceeded", error.message), permanent: false };
      if (error.entry.retryable) throw error;
      return failed("start_refused", error.message);
    }
  }

  return async (trigger, firing) => {
    const { tenantId } = trigger;
    const runId = runIdOf(trigger.id, firing);
    const isStarted = async () => (await runs.findExisting(tenantId, [runId])).length > 0;
    if (clock.now() - firing.atMs > recordedMs && (await isStarted())) return { kind: "started", runId };
    const outcome = await attempt(trigger, firing, runId);
    // An earlier attempt may have started the run before the definition or the quota changed.
    return outcome.kind === "failed" && (await isStarted()) ? { kind: "started", runId } : outcome;
  };
}

function failed(code: string, message: string): FiringFailure {
  return { kind: "failed", code, message, permanent: true };
}
