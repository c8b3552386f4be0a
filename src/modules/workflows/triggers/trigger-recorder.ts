import type { Sql } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventEntry, EventRecorder } from "../../operations/index.ts";
import type { TriggerChange } from "./position-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly events: EventRecorder;
}

/**
 * Stores the results of firings together with the events about failures. `store` writes the results and returns false if they
 * must not be stored. It runs in a transaction if it has several statements, or if there are events.
 */
export type RecordResults = (
  changes: readonly TriggerChange[],
  store: (sql: Sql) => Promise<boolean>,
  statements: "one" | "several",
) => Promise<boolean>;

/** Creates the function that stores results. */
export function createTriggerRecorder({ db, clock, events }: Dependencies): RecordResults {
  return async (changes, store, statements) => {
    const entries = changes.flatMap(failureEvents);
    if (entries.length === 0 && statements === "one") return store(db.sql);
    return db.transaction(async (tx) => {
      if (!(await store(tx))) return false;
      await events.recordMany(tx, entries, clock.now());
      return true;
    });
  };
}

/** One event for all failures of a trigger, so that a trigger that fails for many events does not flood the log. */
function failureEvents({ trigger, status }: TriggerChange): EventEntry[] {
  const { failure, failedCount, consecutiveFailures, disable } = status;
  if (failure === undefined) return [];
  const { tenantId, id: subject, environmentId, name } = trigger;
  const { code, message } = failure;
  const common = { environment_id: environmentId, name, code, message };
  const failed = {
    tenantId,
    type: "workflow.trigger.failed",
    subject,
    data: { ...common, count: failedCount },
  } as const;
  if (!disable) return [failed];
  const data = { ...common, consecutive_failures: consecutiveFailures };
  return [failed, { tenantId, type: "workflow.trigger.disabled", subject, data }];
}
