import type { Sql } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { Preferences, Step, StepAction } from "../../preferences/index.ts";
import type { DeliveryRow } from "../delivery/delivery-store.ts";
import { createInitialDeliveries } from "../delivery/initial-delivery.ts";
import type { DigestValues, RunReason, StepOutcome } from "../domain/run.ts";
import type { MessagePreparer } from "../message/message-preparation.ts";
import { digestStore } from "./digest-store.ts";
import { hasState, inboxMessage, type RunFacts, stepValues } from "./run-facts.ts";
import type { EndedRun, LeasedRun, RunState } from "./run-store.ts";
import { checkStepCondition, evaluateKey, type StepValues, waitEndMs } from "./step-expressions.ts";
import { throttleStore } from "./throttle-store.ts";

export interface AdvanceParts {
  readonly preferences: Pick<Preferences, "resolve">;
  readonly prepare: MessagePreparer;
  readonly verifiedOnly: boolean;
  readonly holds: boolean;
}

/** The result of advancing a run: its new state, and the deliveries to insert in the same transaction. */
export interface Advance {
  readonly state: RunState;
  readonly rows: readonly DeliveryRow[];
  readonly ended: readonly StepOutcome[];
  /** The other runs of a digest that ended. */
  readonly digested: readonly EndedRun[];
}

/** Continuation after a step: the next one, a wait, or the end of the run. */
type Next = "next" | Pick<RunState, "status" | "reason" | "wakeAtMs" | "awaitedId" | "awaitedState" | "leaderRunId">;

const ending = { wakeAtMs: undefined, awaitedId: "", leaderRunId: "" } as const;
const waitingUntil = (wakeAtMs: number) =>
  ({ status: "waiting", reason: "", wakeAtMs, awaitedId: "", leaderRunId: "" }) as const;
const stopped = (reason: RunReason): Next => ({ ...ending, status: "stopped", reason });

/** Reasons that concern one trigger, not the triggers that its digest collected. */
const ownReasons: ReadonlySet<RunReason> = new Set(["cancelled", "payload_expired"]);

/** Ends a run before its next step. The digest that it leads ends with it, or is led by another run. */
export async function stopRun(tx: Sql, run: LeasedRun, reason: RunReason, nowMs: number): Promise<Advance> {
  const now = new Date(nowMs);
  const isOwn = ownReasons.has(reason);
  if (isOwn) await digestStore(tx).leave(run.tenantId, [run.id], now);
  const closed = isOwn ? undefined : await digestStore(tx).close(run, now);
  const { outcomes, digest, stepKey } = run;
  const status = reason === "cancelled" ? "cancelled" : "stopped";
  const state = { ...ending, status, reason, stepKey, outcomes, digest } as const;
  return { state, rows: [], ended: [], digested: closed?.digested ?? [] };
}

/**
 * Advances a run through its steps until it has to wait or ends. Steps that the run has passed do not run again, even if
 * the workflow has changed since. The workflow has the step that the run waits in. The caller has locked the run and saves
 * the result in the same transaction.
 */
export async function advanceRun(
  parts: AdvanceParts,
  tx: Sql,
  run: LeasedRun,
  facts: RunFacts,
  nowMs: number,
): Promise<Advance> {
  const { steps } = facts.workflow;
  const at = run.stepKey === "" ? -1 : steps.findIndex(({ key }) => key === run.stepKey);
  const passage = createPassage(parts, tx, run, facts, nowMs);
  const passed = new Set(run.outcomes.map(({ stepKey }) => stepKey));
  let next: Next = "next";
  let stepKey = run.stepKey;
  if (at !== -1) next = await passage.resume(steps[at]!);
  for (const step of steps.slice(at + 1)) {
    if (next !== "next") break;
    if (passed.has(step.key)) continue;
    stepKey = step.key;
    next = await passage.enter(step);
  }
  const { outcomes, digest, rows, digested } = passage.result();
  const end = next === "next" ? ({ ...ending, status: "completed", reason: "" } as const) : next;
  const isWaiting = end.status === "waiting" || end.status === "collected";
  const ended = outcomes.filter((each) => each.outcome !== "waiting" && !run.outcomes.includes(each));
  return { state: { ...end, stepKey: isWaiting ? stepKey : "", outcomes, digest }, rows, ended, digested };
}

/** One advance of a run, step by step. */
function createPassage(parts: AdvanceParts, tx: Sql, run: LeasedRun, facts: RunFacts, nowMs: number) {
  let outcomes: StepOutcome[] = [...run.outcomes];
  let digest: DigestValues | null = run.digest;
  let digested: readonly EndedRun[] = [];
  const rows: DeliveryRow[] = [];
  const now = new Date(nowMs);
  const { timezone } = facts.recipient.subscriber;

  const values = (): StepValues => stepValues(parts.preferences, run, facts, outcomes, digest, nowMs);

  /** Notes what happened in a step; the note of the same step before is replaced. */
  function note(step: Step, outcome: StepOutcome["outcome"], fields: Partial<StepOutcome> = {}): void {
    const noted: StepOutcome = { stepKey: step.key, kind: step.kind, outcome, ...fields, atMs: nowMs };
    outcomes = [...outcomes.filter(({ stepKey }) => stepKey !== step.key), noted];
  }

  function fails(step: Step, detail: string): Next {
    note(step, "skipped", { detail });
    return stopped("expression_error");
  }

  async function send(step: Step, { channels }: StepAction & { kind: "send" }): Promise<Next> {
    const wanted = channels.filter((channel) => run.channels?.includes(channel) ?? true);
    if (wanted.length === 0) {
      note(step, "skipped", { reason: "not_requested" });
      return "next";
    }
    const { tenantId, transactionId, workflowKey, topicKey, userId, contextKeys } = run;
    const trigger = { tenantId, transactionId, workflowKey, topicKey, userId, channels: wanted, nowMs };
    const context = {
      ...{ ...trigger, ...facts.stored.body, workflow: facts.workflow, leaseToken: undefined },
      run: { id: run.id, stepKey: step.key },
    };
    const initial = await createInitialDeliveries(parts, context, facts.recipient, contextKeys);
    rows.push(...initial.map(({ row }) => row));
    const deliveryIds = initial.map(({ row }) => row.id);
    if (initial.some(({ plan }) => plan.skipped === undefined)) note(step, "sent", { deliveryIds });
    else {
      const isDenied = initial.every(({ plan }) => plan.skipped === "preference");
      note(step, "skipped", { reason: isDenied ? "not_allowed" : "no_address", deliveryIds });
    }
    return "next";
  }

  function delay(step: Step, { wait }: StepAction & { kind: "delay" }): Next {
    const untilMs = waitEndMs(wait, values(), timezone, nowMs);
    if (untilMs === undefined) return fails(step, "The time cannot be evaluated, or is more than a year away.");
    if (untilMs <= nowMs) {
      note(step, "waited", { untilMs });
      return "next";
    }
    note(step, "waiting", { untilMs });
    return waitingUntil(untilMs);
  }

  async function collect(step: Step, action: StepAction & { kind: "digest" }): Promise<Next> {
    const known = values();
    const digestKey = evaluateKey(action.digestKey, known);
    const closesMs = waitEndMs(action.window, known, timezone, nowMs);
    if (digestKey === undefined) return fails(step, "The key of the digest cannot be evaluated.");
    if (closesMs === undefined) return fails(step, "The end of the window cannot be evaluated.");
    const entry = { run, stepKey: step.key, digestKey, eventsMax: action.eventsMax, closesAt: new Date(closesMs) };
    const { payload } = facts.stored.body;
    const open = await digestStore(tx).add({ ...entry, newId: ulid(nowMs), payload });
    const untilMs = open.closesAt.getTime();
    if (open.runId === run.id) {
      note(step, "waiting", { untilMs });
      return waitingUntil(untilMs);
    }
    note(step, "collected", { untilMs, detail: `The run ${open.runId} leads the digest.` });
    const collected = { ...ending, leaderRunId: open.runId };
    // Only a run whose payload is kept can still leave the digest.
    return open.isKept
      ? { ...collected, status: "collected", reason: "" }
      : { ...collected, status: "completed", reason: "digested" };
  }

  async function throttle(
    step: Step,
    { limit, windowS, throttleKey }: StepAction & { kind: "throttle" },
  ): Promise<Next> {
    const key = evaluateKey(throttleKey, throttleKey === "" ? {} : values());
    if (key === undefined) return fails(step, "The key of the throttle cannot be evaluated.");
    if (await throttleStore(tx).pass({ run, stepKey: step.key, throttleKey: key, limit, windowS, now })) {
      note(step, "passed");
      return "next";
    }
    note(step, "throttled", { detail: `The limit of ${limit} within ${windowS} seconds is reached.` });
    return stopped("throttled");
  }

  function awaitInbox(step: Step, action: StepAction & { kind: "await_inbox" }, untilMs: number): Next {
    const message = inboxMessage(facts, action.step);
    // The step may have created the message in this very advance.
    const isNew = (row: DeliveryRow) =>
      row.step_key === action.step && row.channel === "in_app" && row.status === "queued";
    const messageId = message?.id ?? rows.find(isNew)?.id;
    if (messageId === undefined) note(step, "skipped", { reason: "no_message" });
    else if (hasState(message, action.state)) note(step, action.state);
    else if (nowMs >= untilMs) note(step, "timed_out", { untilMs });
    else {
      note(step, "waiting", { untilMs });
      return { ...waitingUntil(untilMs), awaitedId: messageId, awaitedState: action.state };
    }
    return "next";
  }

  return {
    /** Begins a step. */
    async enter(step: Step): Promise<Next> {
      const checked = checkStepCondition(step.condition, step.condition === "" ? {} : values());
      if (checked !== "true") {
        note(step, "skipped", { reason: checked });
        return "next";
      }
      switch (step.kind) {
        case "send":
          return send(step, step);
        case "delay":
          return delay(step, step);
        case "digest":
          return collect(step, step);
        case "throttle":
          return throttle(step, step);
        case "await_inbox":
          return awaitInbox(step, step, nowMs + step.seconds * 1000);
      }
    },

    /** Continues a step that the run waited in. */
    async resume(step: Step): Promise<Next> {
      const untilMs = run.outcomes.findLast(({ stepKey }) => stepKey === step.key)?.untilMs ?? nowMs;
      if (step.kind === "await_inbox") return awaitInbox(step, step, untilMs);
      const closed = await digestStore(tx).close(run, now);
      if (closed === undefined) {
        note(step, "waited", { untilMs });
        return "next";
      }
      digest = closed.values;
      digested = closed.digested;
      note(step, "collected", { untilMs, detail: `The digest collected ${digest.count} triggers.` });
      return "next";
    },

    result: () => ({ outcomes, digest, rows, digested }),
  };
}
