import type { RunEngine as TaskReports } from "../tasks/index.ts";
import type { RunEvent } from "./domain/engine/state.ts";
import type { RunEngine } from "./run-engine.ts";

const lostMessages = {
  attempt_timeout: "The attempt took too long.",
  heartbeat_timeout: "The worker stopped sending heartbeats.",
  worker_lost: "The worker's lease expired before it reported a result.",
};

/** Creates the reports on top of the engine. */
export function createTaskReports(engine: RunEngine): TaskReports {
  return {
    async apply(tenantId, runId, event) {
      const result = await engine.advance({
        ...{ tenantId, runId, taskId: event.taskId },
        toEvent({ task }): RunEvent | undefined {
          // Only the holder of the current lease may report.
          if (task === undefined || task.leaseToken !== event.token || task.runId !== runId) return undefined;
          const { stepKey: key, attempt } = task;
          if (event.kind === "attempt_lost") {
            const lost = { code: event.code, message: lostMessages[event.code], details: null, retryable: true };
            return { kind: "attempt_failed", key, attempt, ...lost };
          }
          const { taskId: _, token: __, ...reported } = event;
          return { ...reported, key, attempt };
        },
      });
      return result === "applied" ? "applied" : "stale";
    },
  };
}
