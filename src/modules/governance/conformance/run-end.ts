import type { Signals } from "../../../platform/db/index.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import { type ConformanceReport, coverageOf } from "./domain/report.ts";
import type { ConformanceRun, RunState } from "./domain/run.ts";
import type { ConformanceMetrics } from "./metrics.ts";
import { type Execution, runStore } from "./run-store.ts";

/** The topic that wakes those who wait for the end of a run, and the node that executes it. */
export function runTopic({ tenantId, id }: Pick<ConformanceRun, "tenantId" | "id">): string {
  return `conformance.run/${tenantId}/${id}`;
}

/** How a run ends without a report. */
export type EndWithoutReport = "cancel" | "expire" | "give_up";

interface Dependencies {
  readonly events: EventRecorder;
  readonly signals: Signals;
  readonly metrics: ConformanceMetrics;
}

/** Ends runs: stores the state, records the event and wakes those who wait. */
export type RunEnder = ReturnType<typeof createRunEnder>;

const eventTypes = {
  completed: "conformance.run.completed",
  cancelled: "conformance.run.cancelled",
  deadline_exceeded: "conformance.run.expired",
  failed: "conformance.run.failed",
} as const satisfies Partial<Record<RunState, string>>;

export function createRunEnder({ events, signals, metrics }: Dependencies) {
  async function announce(context: EventContext, run: ConformanceRun, more: Record<string, unknown>): Promise<void> {
    const { suiteId: suite_id, environmentId: environment_id, mode, state } = run;
    const type = eventTypes[state as keyof typeof eventTypes];
    await events.record(context, type, run.id, { suite_id, environment_id, mode, ...more });
    context.afterCommit(() => {
      metrics.ended(run);
      signals.wake(runTopic(run));
    });
  }

  return {
    /** Ends a run without a report; undefined if it has ended already. */
    async end(
      context: EventContext,
      run: Pick<Execution, "tenantId" | "id"> & { readonly attempt?: number },
      step: EndWithoutReport,
    ): Promise<ConformanceRun | undefined> {
      const ended = await runStore(context.sql).end(run, step, undefined, new Date(context.nowMs));
      if (ended !== undefined) await announce(context, ended, {});
      return ended;
    },

    /** Completes a run with its report; undefined if it has ended already or another node executes it now. */
    async complete(
      context: EventContext,
      execution: Execution,
      report: Pick<ConformanceReport, "id" | "verdict" | "content">,
    ): Promise<ConformanceRun | undefined> {
      const { cases } = report.content;
      const run = await runStore(context.sql).end(execution, "complete", report, new Date(context.nowMs));
      if (run === undefined) return undefined;
      const { passed, failed, blocked, not_applicable } = coverageOf(cases);
      const counts = { passed, failed, blocked, not_applicable };
      await announce(context, run, { report_id: report.id, verdict: report.verdict, ...counts });
      context.afterCommit(() => metrics.decided(run, cases));
      return run;
    },
  };
}
