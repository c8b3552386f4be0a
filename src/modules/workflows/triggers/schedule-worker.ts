import { createScheduleWorker, decideDueTime, jitterMs, readSchedule } from "../../../platform/cron/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Shards } from "../../../platform/shards/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Runs } from "../runs/index.ts";
import type { Overlap } from "./domain/trigger.ts";
import { applyOutcomes, type FiringOutcome } from "./domain/trigger-outcome.ts";
import { runIdOf, type StartFiring, timeFiring } from "./firing-starter.ts";
import { type DueTrigger, positionStore } from "./position-store.ts";
import type { RecordResults } from "./trigger-recorder.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "log"> {
  readonly shards: Shards;
  readonly runs: Pick<Runs, "findInProgress" | "cancelFor">;
  readonly startFiring: StartFiring;
  readonly recordResults: RecordResults;
  /** Signal topic for changes of triggers. */
  readonly topic: string;
}

const openRunsMax = 100;

/** Creates the worker that starts the runs of schedules on this node. */
export function createWorkflowScheduleWorker(dependencies: Dependencies) {
  const { db, clock, shards, runs, startFiring, recordResults, topic } = dependencies;
  /** Handles a schedule whose time has come, or that has a queued time. */
  async function handle(trigger: DueTrigger, epoch: number): Promise<void> {
    if (trigger.cause.kind !== "schedule") return;
    const { schedule } = trigger.cause;
    const nowMs = clock.now();
    const times = readSchedule(schedule);
    const storedMs = trigger.nextAt?.getTime();
    const isDue = storedMs !== undefined && storedMs + jitterMs(trigger.id, schedule) <= nowMs;
    const outcomes: FiringOutcome[] = [];
    let nextMs = storedMs;
    let timeMs: number | undefined;
    if ("field" in times) {
      // The rules of time zones come with the runtime, which can lose a zone.
      outcomes.push({ kind: "failed", code: "schedule", message: `${times.field} ${times.message}`, permanent: true });
      nextMs = undefined;
    } else if (isDue) {
      const due = decideDueTime(trigger.id, schedule, times, storedMs, nowMs);
      ({ nextMs, timeMs } = due);
      if (due.missedMs !== undefined) outcomes.push(missed(due.missedMs));
    }
    // The run of the stored time may have been started by a node that died before it could store that.
    const handledMs = [trigger.queuedAt?.getTime(), storedMs, timeMs].filter((each) => each !== undefined);
    const known = [...trigger.openRunIds, ...handledMs.map((each) => runIdOf(trigger.id, timeFiring(each)))];
    const open = new Set(schedule.overlap === "allow" ? [] : await runs.findInProgress(trigger.tenantId, known));
    const started = new Set<string>();
    let queuedMs = trigger.queuedAt?.getTime();

    const attempt = async (atMs: number, overlap: Overlap): Promise<"done" | "wait"> => {
      const runId = runIdOf(trigger.id, timeFiring(atMs));
      const others = [...open].filter((id) => id !== runId);
      if (others.length > 0 && !open.has(runId)) {
        if (overlap === "queue_one") return "wait";
        if (overlap === "skip") {
          outcomes.push({ kind: "skipped" });
          return "done";
        }
        for (const id of overlap === "cancel_running" ? others : []) await cancel(trigger, id);
      }
      const outcome = await startFiring(trigger, timeFiring(atMs));
      outcomes.push(outcome);
      if (outcome.kind === "started") {
        started.add(runId);
        open.add(runId);
      }
      return "done";
    };

    if (queuedMs !== undefined && (await attempt(queuedMs, "queue_one")) === "done") queuedMs = undefined;
    else if (queuedMs !== undefined && timeMs === undefined && outcomes.length === 0) return;
    if (timeMs !== undefined && (await attempt(timeMs, schedule.overlap)) === "wait") {
      if (queuedMs === undefined) queuedMs = timeMs;
      else outcomes.push({ kind: "skipped" });
    }

    const kept = trigger.openRunIds.filter((id) => open.has(id)).slice(started.size - openRunsMax);
    const nextDueMs = queuedMs ?? (nextMs === undefined ? undefined : nextMs + jitterMs(trigger.id, schedule));
    const change = {
      trigger,
      status: applyOutcomes(trigger, outcomes, new Date(nowMs)),
      nextAt: toDate(nextMs),
      dueAt: toDate(nextDueMs),
      queuedAt: toDate(queuedMs),
      startedRunIds: schedule.overlap === "allow" ? [] : [...started].filter((id) => !trigger.openRunIds.includes(id)),
      endedRunIds: trigger.openRunIds.filter((id) => !kept.includes(id)),
    };
    // Stored after the start: if this node dies in between, the start is repeated and finds the same run.
    const store = (sql: Sql) =>
      positionStore(sql).finishSchedule(change, shards.currentSql(sql, [[trigger.shard, epoch]]));
    await recordResults([change], store, "one");
  }

  async function cancel(trigger: DueTrigger, runId: string): Promise<void> {
    const reason = `The next run of the trigger ${trigger.name} starts.`;
    await runs.cancelFor(trigger.tenantId, runId, `trigger:${trigger.id}`, reason);
  }

  const { findDue, nextDue } = positionStore(db.sql);
  return createScheduleWorker<DueTrigger>(dependencies, { name: "workflow schedule", topic, findDue, nextDue, handle });
}

function missed(timeMs: number): FiringOutcome {
  return {
    kind: "ignored",
    message: `No run was started for ${new Date(timeMs).toISOString()}: it was missed by too long.`,
  };
}

function toDate(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}
