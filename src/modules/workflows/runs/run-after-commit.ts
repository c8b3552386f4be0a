import type { TenantId } from "../../../platform/access/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { TaskDispatch } from "../tasks/index.ts";
import type { Effect } from "./domain/engine/advance-result.ts";
import { unitOf } from "./domain/engine/plan.ts";
import { isAttemptOpen, type RunEvent, wakeTime } from "./domain/engine/state.ts";
import { resultOf } from "./effects/child-run.ts";
import type { AdvanceRequest, CommittedAdvance } from "./run-engine.ts";
import type { RunMetrics } from "./run-metrics.ts";
import { advanceTopic, endTopic } from "./run-service.ts";
import type { LiveRun } from "./storage/run-loader.ts";

interface Dependencies extends Pick<PlatformServices, "clock" | "log" | "signals"> {
  readonly events: Pick<EventRecorder, "wake">;
  /** Sweeps at this time at the latest. */
  readonly sweepBy: (atMs: number) => void;
  readonly performEffects: (run: LiveRun, effects: readonly Effect[]) => void;
  readonly advance: (request: AdvanceRequest) => Promise<unknown>;
  readonly metrics: RunMetrics;
  /** Cancels a run that no step waits for any more. */
  readonly cancelChild: (tenantId: TenantId, childId: string, parentId: string) => Promise<void>;
  /** Wakes the polls of a queue. */
  readonly wakeQueue: TaskDispatch["wake"];
}

/**
 * Does what follows a commit. If this node fails first, the sweeper repeats open effects, a job cancels child runs, and
 * polls and waits for an end find out by themselves.
 */
export function createRunAfterCommit(dependencies: Dependencies) {
  const { clock, log, signals, events, sweepBy, performEffects, advance, cancelChild, wakeQueue, metrics } =
    dependencies;

  function send(tenantId: TenantId, runId: string, event: RunEvent): void {
    advance({ tenantId, runId, toEvent: () => event }).catch((error) =>
      log.warn({ err: error }, "a workflow run could not be informed"),
    );
  }

  function follow(committed: CommittedAdvance): void {
    const { run, advance: done } = committed;
    const { tenantId } = run;
    // The same advance may have cancelled a step that it started.
    performEffects(
      run,
      done.effects.filter(({ key, attempt }) => isAttemptOpen(done.state, key, attempt)),
    );
    for (const childId of done.cancelledRuns) {
      cancelChild(tenantId, childId, run.id).catch((error) =>
        log.warn({ err: error }, "a workflow run could not be cancelled yet"),
      );
    }
    if (run.revision === 0) metrics.started(run);
    if (committed.plan.takesUpdates) signals.wake(advanceTopic(tenantId, run.id));
    if (done.ended !== undefined) {
      metrics.ended(run, done.ended.status);
      signals.wake(endTopic(tenantId, run.id));
      informParent(run, done.ended);
      return;
    }
    wakeQueues(committed);
    const wakeMs = wakeTime(done.state, clock.now());
    if (wakeMs !== undefined) sweepBy(wakeMs);
  }

  /** Wakes workers for tasks that become ready again: after a failed attempt, or when a run is resumed. */
  function wakeQueues({ run, plan, advance: { retriedTasks, hold, state } }: CommittedAdvance): void {
    if (retriedTasks.length === 0 && hold !== false) return;
    const delays = new Map(retriedTasks.map(({ taskId, delayMs }) => [taskId, delayMs]));
    for (const [key, activity] of Object.entries(state.active)) {
      const work = unitOf(plan, key).work;
      if (activity.s !== "task" || work.kind !== "task") continue;
      const delayMs = delays.get(activity.taskId) ?? (hold === false ? 0 : undefined);
      if (delayMs === undefined) continue;
      setTimeout(() => wakeQueue(run.tenantId, run.environmentId, work.queue), delayMs).unref();
    }
  }

  function informParent(
    run: LiveRun,
    { status, output, error }: NonNullable<CommittedAdvance["advance"]["ended"]>,
  ): void {
    const { parent } = run.origin;
    if (parent === undefined) return;
    const { stepKey: key, attempt } = parent;
    const result = resultOf({ id: run.id, status, output, error: error ?? null })!;
    const event: RunEvent =
      "output" in result
        ? { kind: "effect_succeeded", key, attempt, output: result.output }
        : { kind: "effect_failed", key, attempt, ...result.failure };
    send(run.tenantId, run.parentRunId, event);
  }

  return {
    follow(committed: readonly CommittedAdvance[]): void {
      metrics.advanced(committed.length);
      for (const each of committed) follow(each);
      for (const tenantId of new Set(committed.map(({ run }) => run.tenantId))) events.wake(tenantId);
    },
  };
}
