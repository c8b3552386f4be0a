import { productionKey } from "../../../platform/access/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { TaskDispatch } from "../tasks/index.ts";
import { approvalsOf } from "./approvals/approval-writes.ts";
import type { Advance } from "./domain/engine/advance.ts";
import { type Mail, statusOf, wakeTime } from "./domain/engine/state.ts";
import type { LiveRun } from "./storage/run-loader.ts";
import type { DeadLetterWrite, MailWrite, RunEventWrite, RunWrite, TaskWrite } from "./storage/run-write.ts";

/** The fields of a run that do not change with an advance. */
export type RunIdentity = Pick<
  LiveRun,
  "tenantId" | "id" | "environmentId" | "definitionId" | "version" | "runKey" | "revision" | "origin" | "parentRunId"
>;

interface Dependencies {
  readonly nowMs: number;
  readonly reserve: TaskDispatch["reserve"];
  /** Events that were sent to the run with this advance. */
  readonly newMail: RunWrite["newMail"];
  /** The number of unconsumed events before this advance. */
  readonly unread: number;
}

/** Converts the result of an advance to the rows that are stored. */
export function toRunWrite(
  run: RunIdentity,
  advance: Advance,
  { nowMs, reserve, newMail, unread }: Dependencies,
): RunWrite {
  const { state, ended } = advance;
  const { tenantId, id, environmentId, revision, origin } = run;
  // A statement changes a row once: a task that has ended is deleted, and neither inserted nor updated.
  const isOpen = ({ taskId }: { readonly taskId: string }) => !advance.endedTasks.includes(taskId);
  const tasks = advance.newTasks.filter(isOpen);
  return {
    ...{ tenantId, id, environmentId, revision },
    inProduction: origin.environment === productionKey,
    status: statusOf(state),
    stateJson: JSON.stringify(state),
    wakeAtMs: wakeTime(state, nowMs),
    unread: unread + newMail.length - advance.consumed.length,
    end: ended && {
      status: ended.status,
      outputJson: JSON.stringify(ended.output),
      errorJson: ended.error === undefined ? "" : JSON.stringify(ended.error),
      deadLetter: deadLetterOf(run, advance),
    },
    historyJson: JSON.stringify(advance.history),
    newTasks: tasks.map((task): TaskWrite => {
      const { taskId, key, queue, type, version, input, attemptMs, heartbeatMs } = task;
      const held = state.paused === true;
      const offered = {
        tenantId,
        environmentId,
        runId: id,
        queue,
        type,
        versionRange: version,
        attemptMs,
        heartbeatMs,
      };
      return {
        ...{ id: taskId, stepKey: key, queue, type, versionRange: version, attemptMs, heartbeatMs, held },
        inputJson: JSON.stringify(input),
        lease: held ? undefined : reserve(offered, nowMs),
      };
    }),
    retriedTasks: advance.retriedTasks
      .filter(isOpen)
      .map(({ taskId, attempt, delayMs }) => ({ id: taskId, attempt, delayMs })),
    endedTasks: advance.endedTasks,
    hold: advance.hold,
    newMail,
    consumedMail: advance.consumed,
    cancelledRuns: advance.cancelledRuns,
    ...approvalsOf(run, advance, nowMs),
    events: eventsOf(run, advance, nowMs),
    records: [],
    epoch: undefined,
  };
}

export function toMailWrite({ payload, ...mail }: Mail): MailWrite {
  return { ...mail, payloadJson: JSON.stringify(payload) };
}

/**
 * Runs that another run waits for have no dead letter: the waiting run decides what their failure means. A run that ends
 * again after retries of its compensations has one already.
 */
function deadLetterOf(run: RunIdentity, { ended, state }: Advance): DeadLetterWrite | undefined {
  if (ended === undefined || state.ending?.retried || run.parentRunId !== "") return undefined;
  const { status, error } = ended;
  if (status !== "failed" && status !== "timed_out") return undefined;
  const { definitionId, version, origin } = run;
  return {
    ...{ letter: letterOf(run), definitionId, definitionKey: origin.definition, environmentKey: origin.environment },
    ...{ version, code: error!.code, message: error!.message.slice(0, messageMax), step: error!.step },
  };
}

const messageMax = 1000;

/** The dead letter of a run: replays have that of the run that was replayed first. */
export function letterOf({ id, origin }: Pick<RunIdentity, "id" | "origin">): string {
  return origin.replayOf?.letter ?? id;
}

function eventsOf(run: RunIdentity, advance: Advance, nowMs: number): RunEventWrite[] {
  const { origin, definitionId, version } = run;
  const common = {
    ...{ definition_id: definitionId, definition_key: origin.definition, version },
    ...(origin.trigger && { trigger_depth: origin.trigger.depth }),
  };
  const event = (type: string, data: Record<string, unknown> = {}): RunEventWrite => ({
    id: ulid(nowMs),
    type,
    subject: run.id,
    data: { ...common, ...data },
  });
  return advance.history.flatMap((entry) => {
    switch (entry.kind) {
      case "run_started":
        return event("workflow.run.started", {
          via: origin.via,
          ...(origin.continues && { continues_run_id: origin.continues }),
        });
      case "run_replayed":
        return event("workflow.run.started", { via: origin.via, replay_of_run_id: entry.of, from_step: entry.from });
      case "run_paused":
      case "run_resumed":
        return event(entry.kind === "run_paused" ? "workflow.run.paused" : "workflow.run.resumed", { by: entry.by });
      case "approval_requested":
        return event("workflow.approval.requested", { step: entry.step });
      case "run_ended": {
        if (entry.next_run_id !== undefined) {
          return event("workflow.run.continued", { next_run_id: entry.next_run_id });
        }
        const failure = entry.error === undefined ? {} : { error_code: entry.error.code, step: entry.error.step ?? "" };
        const ended = event(`workflow.run.${entry.status}`, failure);
        const letter = deadLetterOf(run, advance);
        if (letter === undefined) return ended;
        const change = letter.letter === run.id ? "created" : "reopened";
        const data = { ...failure, failed_run_id: run.id };
        return [ended, { ...event(`workflow.dead_letter.${change}`, data), subject: letter.letter }];
      }
      default:
        return [];
    }
  });
}
