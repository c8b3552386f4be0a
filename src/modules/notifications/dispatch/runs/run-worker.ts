import { backoffMs } from "../../../../platform/backoff/backoff.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { createLeasedWorkLoop, createRepeatedTask, type LeasedWorkLoop } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { NotificationWorkflow, Preferences } from "../../preferences/index.ts";
import { type DeliveryReporter, toReports } from "../delivery/delivery-report.ts";
import { type DeliveryRow, insertDeliveries, limitPayload } from "../delivery/delivery-store.ts";
import type { Lane } from "../domain/delivery.ts";
import { runBackoff } from "../domain/run.ts";
import { type BatchContext, readBatchContext } from "../message/batch-context.ts";
import type { RecipientParts } from "../message/recipients.ts";
import { digestStore } from "./digest-store.ts";
import { type Advance, type AdvanceParts, advanceRun, stopRun } from "./run-advance.ts";
import { endedEvent, eventsOf } from "./run-events.ts";
import { readMessages } from "./run-facts.ts";
import { type EndedRun, type LeasedRun, nextAbandoned, nextWaiting, runStore } from "./run-store.ts";

/** Signal topic for nodes that advance runs. */
export const runTopic = "notifications_runs";

/** The interval of leases while runs wait for their time. */
const pollMs = 1000;

/** Runs of each lane that a node advances concurrently. */
const concurrencyOf: Readonly<Record<Lane, number>> = { single: 16, broadcast: 8 };
const recoveryLimit = 500;
/** Messages of a run that has ended may be held or retried this long. */
const afterRunMs = 8 * 86_400_000;

interface Dependencies
  extends Pick<PlatformServices, "db" | "signals" | "clock" | "log">,
    AdvanceParts,
    RecipientParts {
  readonly events: Pick<EventRecorder, "recordMany">;
  readonly preferences: Pick<Preferences, "readLayers" | "workflow" | "storedWorkflow" | "resolve">;
  readonly reporter: DeliveryReporter;
  readonly wakeDispatch: () => void;
  /** False when sending is switched off. */
  readonly enabled: boolean;
  readonly payloadRetentionMs: number;
}

/** Background worker that takes runs through the steps of their workflows. */
export type RunWorker = ReturnType<typeof createRunWorker>;

/**
 * Creates this node's worker. A run is leased, and its steps up to the next wait are committed in one transaction that
 * is void if the lease has expired, so every step happens once even if nodes die.
 */
export function createRunWorker(dependencies: Dependencies) {
  const { db, signals, clock, log, events, reporter, enabled } = dependencies;

  function loopOf(lane: Lane): LeasedWorkLoop {
    return createLeasedWorkLoop<LeasedRun>({
      concurrency: concurrencyOf[lane],
      subscribe: ({ run, runWithin }) => [
        signals.onWake(runTopic, run),
        signals.onDue(
          (sql) => nextWaiting(sql, lane),
          () => runWithin(pollMs),
        ),
      ],
      lease: (request) => runStore(db.sql).lease(lane, request),
      onLeaseError: (error) => log.warn({ err: error }, "leasing due runs of notifications failed"),
      handle(leased) {
        const context = readBatchContext(dependencies, db.sql, leased);
        return (run) => advanceAndSave(run, context);
      },
      onItemError: (error, { id }) => log.error({ err: error, run_id: id }, "releasing a run failed"),
    });
  }

  async function advanceAndSave(run: LeasedRun, context: Promise<BatchContext>): Promise<void> {
    try {
      await commitAdvance(run, await context);
    } catch (error) {
      log.error({ err: error, run_id: run.id }, "advancing a run of a notification failed");
      await release(run);
    }
  }

  async function commitAdvance(run: LeasedRun, context: BatchContext): Promise<void> {
    const saved = await db.transaction(async (tx) => {
      const now = await runStore(tx).lock(run);
      if (now === undefined) return undefined;
      // The clock that leases a run also decides whether its wait is over. Otherwise it could be leased again at once.
      const nowMs = now.getTime();
      const { state, rows, ended, digested } = await advance(tx, run, context, nowMs);
      if (rows.length > 0) await insertRows(tx, run, rows, nowMs);
      await runStore(tx).save(run, state, now);
      // The payload of a broadcast belongs to many runs.
      if (state.wakeAtMs === undefined && state.status !== "collected" && run.topicKey === "") {
        await limitPayload(tx, run, new Date(nowMs + afterRunMs + dependencies.payloadRetentionMs));
      }
      await reporter.record(tx, toReports(run.tenantId, rows));
      await events.recordMany(tx, [...eventsOf(run, state, ended), ...digested.map(endedEvent)], nowMs);
      return { state, rows };
    });
    if (saved === undefined) {
      log.warn({ run_id: run.id }, "a run of a notification was changed while it was advanced");
      return;
    }
    reporter.count(toReports(run.tenantId, saved.rows));
    if (saved.rows.some(({ status }) => status === "queued")) dependencies.wakeDispatch();
    // The message may have been read between the decision to wait and the commit.
    const { awaitedId, awaitedState } = saved.state;
    if (awaitedState !== undefined) await runStore(db.sql).wakeIfReached(run, awaitedId, awaitedState);
  }

  async function advance(tx: Sql, run: LeasedRun, context: BatchContext, nowMs: number): Promise<Advance> {
    const stored = context.payloadOf(run);
    const recipient = context.recipientOf(run);
    if (stored !== undefined && stored.cancelledAt !== null) return stopRun(tx, run, "cancelled", nowMs);
    if (recipient === undefined) return stopRun(tx, run, "subscriber_not_found", nowMs);
    if (!recipient.subscriber.active) return stopRun(tx, run, "subscriber_inactive", nowMs);
    if (stored === undefined) return stopRun(tx, run, "payload_expired", nowMs);
    const workflow = await workflowOf(tx, run);
    if (workflow === undefined) return stopRun(tx, run, "step_removed", nowMs);
    const messages = run.outcomes.length === 0 ? [] : await readMessages(tx, run);
    return advanceRun(dependencies, tx, run, { workflow, recipient, stored, messages }, nowMs);
  }

  /** The run's workflow; undefined when it or the run's step is gone. Another node may have stored it a moment ago. */
  async function workflowOf(tx: Sql, run: LeasedRun): Promise<NotificationWorkflow | undefined> {
    const { tenantId, workflowKey } = run;
    const cached = await dependencies.preferences.workflow(tenantId, workflowKey);
    if (hasStepOf(cached, run)) return cached;
    const stored = await dependencies.preferences.storedWorkflow(tx, tenantId, workflowKey);
    return hasStepOf(stored, run) ? stored : undefined;
  }

  /** Returns a run to the queue after a failure. */
  async function release(run: LeasedRun): Promise<void> {
    await endRuns((tx) => runStore(tx).postpone(run, backoffMs(runBackoff, run.failures)));
  }

  /** Recovers runs whose lease expired because their node died. */
  async function recover(): Promise<void> {
    await endRuns((tx) => runStore(tx).recover(recoveryLimit));
  }

  /** Ends leases; runs that are stopped by it end their digests and are reported. */
  async function endRuns(release: (tx: Sql) => ReturnType<ReturnType<typeof runStore>["recover"]>): Promise<void> {
    const nowMs = clock.now();
    await db.transaction(async (tx) => {
      const stopped = await release(tx);
      const ended: EndedRun[] = [...stopped];
      for (const run of stopped) ended.push(...((await digestStore(tx).close(run, new Date(nowMs)))?.digested ?? []));
      await events.recordMany(tx, ended.map(endedEvent), nowMs);
    });
  }

  const recoveries = createRepeatedTask({
    work: recover,
    subscribe: ({ runWithin }) => [signals.onDue(nextAbandoned, runWithin)],
    onError: (error) => log.warn({ err: error }, "recovering abandoned runs of notifications failed"),
  });
  const tasks = enabled ? [loopOf("single"), loopOf("broadcast"), recoveries] : [];
  return {
    start() {
      for (const task of tasks) task.start();
    },
    /** Leases no further runs and waits for those in flight. */
    async stop() {
      await Promise.all(tasks.map((task) => task.stop()));
    },
  };
}

/** Whether a workflow has steps, and among them the one that the run waits in. */
function hasStepOf(workflow: NotificationWorkflow | undefined, { stepKey }: LeasedRun): boolean {
  const steps = workflow?.steps ?? [];
  return stepKey === "" ? steps.length > 0 : steps.some(({ key }) => key === stepKey);
}

async function insertRows(tx: Sql, run: LeasedRun, rows: readonly DeliveryRow[], nowMs: number): Promise<void> {
  const { tenantId, transactionId, workflowKey, topicKey, userId, lane } = run;
  const broadcastId = topicKey === "" ? "" : transactionId;
  const shared = { tenantId, transactionId, broadcastId, workflowKey, topicKey, userId, lane, at: new Date(nowMs) };
  await insertDeliveries(tx, [{ ...shared, payload: undefined, rows, record: undefined }]);
}
