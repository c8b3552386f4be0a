import { CelError } from "../../../../../../platform/cel/index.ts";
import type { Json } from "../../../../definitions/index.ts";
import { evaluate } from "../evaluation.ts";
import { type Execution, noteApproval, stepError } from "../execution.ts";
import type { PlanStep, PlanWork } from "../plan.ts";
import { readDuration, readScope, readTime } from "../readers.ts";
import type { Decision, Mail, WaitedEvent } from "../state.ts";
import { roomFor } from "../state-room.ts";
import type { Positions, StepKey } from "../step-key.ts";
import { timesOf } from "./external-work.ts";
import { completeStep, failStep, failTooLarge, startList } from "./step-end.ts";

type WorkOf<Kind extends PlanWork["kind"]> = Extract<PlanWork, { readonly kind: Kind }>;

const waitMsMax = 365 * 86_400_000;

/** Starts to wait for an event, or consumes one that has arrived before. */
export function startEventWait(
  execution: Execution,
  step: PlanStep,
  work: WorkOf<"wait_event">,
  key: StepKey,
  at: Positions,
): void {
  const any: WaitedEvent[] = work.any.map(({ event, scope }) => ({
    ...{ event, scope: readScope(evaluate(execution, scope, step, at)) },
    ...(work.update !== undefined && { update: true }),
  }));
  const dueMs = execution.context.nowMs + work.timeoutMs;
  execution.state.active[key] = { s: "event", ...timesOf(execution, step), dueMs, any };
  const bytes = roomFor(execution, [any as unknown as Json]);
  if (bytes === undefined) {
    failTooLarge(execution, key);
    return;
  }
  execution.size.recordedBytes += bytes;
  execution.history.push({ kind: "wait_started", step: key, any });
  consumeMail(execution, key, any);
}

export function startTimer(
  execution: Execution,
  step: PlanStep,
  work: WorkOf<"wait_timer">,
  key: StepKey,
  at: Positions,
): void {
  const { nowMs } = execution.context;
  const dueMs = timerEnd(execution, step, work, at);
  if (dueMs - nowMs > waitMsMax) throw new CelError("evaluation", "A timer may wait 365 days at most.");
  if (dueMs <= nowMs) {
    completeStep(execution, key, null);
    return;
  }
  execution.state.active[key] = { s: "timer", ...timesOf(execution, step), dueMs };
  execution.history.push({ kind: "timer_started", step: key, until: new Date(dueMs).toISOString() });
}

function timerEnd(execution: Execution, step: PlanStep, work: WorkOf<"wait_timer">, at: Positions): number {
  const { nowMs } = execution.context;
  if (work.forMs !== undefined) return nowMs + work.forMs;
  if (work.for !== undefined) return nowMs + readDuration(evaluate(execution, work.for, step, at));
  return readTime(evaluate(execution, work.until!, step, at));
}

/** Starts to wait for people's decisions. */
export function startApproval(
  execution: Execution,
  step: PlanStep,
  work: WorkOf<"approval">,
  key: StepKey,
  at: Positions,
): void {
  const request = evaluate(execution, work.request, step, at);
  const dueMs = execution.context.nowMs + work.timeoutMs;
  execution.state.active[key] = { s: "approval", ...timesOf(execution, step), dueMs, request, decisions: [] };
  execution.approvals.set(key, "opened");
  if (roomFor(execution, [request]) === undefined) {
    failTooLarge(execution, key);
    return;
  }
  execution.history.push({ kind: "approval_requested", step: key });
}

/** Puts an event into the mailbox. The wait that started first of those that match consumes it. */
export function receiveMail(execution: Execution, mail: Mail): void {
  const { event, scope, eventId, update } = mail;
  execution.history.push({ kind: "event_received", event, scope, event_id: eventId, ...(update && { update }) });
  execution.mail.push(mail);
  // No wait in progress matches the earlier events, or it would have consumed one of them.
  if (!execution.state.paused) offerMail(execution, execution.mail.length - 1);
}

/** The wait in progress that would take an update; undefined if there is none. */
export function findUpdateWait({ state }: Execution, { event, scope }: WaitedEvent): StepKey | undefined {
  const takes = (each: WaitedEvent) => each.update === true && each.event === event && each.scope === scope;
  return Object.entries(state.active).find(([, activity]) => activity.s === "event" && activity.any.some(takes))?.[0];
}

/** Gives the events of the mailbox to the waits in progress, in the order in which the waits started. */
export function offerMail(execution: Execution, from = 0): void {
  const { active } = execution.state;
  for (const [key, activity] of Object.entries(active)) {
    // The end of an earlier wait may have cancelled this one.
    if (activity.s === "event" && active[key] === activity) consumeMail(execution, key, activity.any, from);
  }
}

/** Completes a wait with the oldest event that matches, if there is one. */
function consumeMail(execution: Execution, key: StepKey, any: readonly WaitedEvent[], from = 0): void {
  const { mail, consumed, context } = execution;
  let at = from;
  const matches = ({ event, scope, update }: Mail) =>
    any.some(
      (each) =>
        each.event === event && each.scope === scope && (each.update === update || context.isSimulated === true),
    );
  while (at < mail.length && !matches(mail[at]!)) at++;
  if (at >= mail.length) return;
  const [{ event, scope, payload, eventId }] = mail.splice(at, 1) as [Mail];
  consumed.push({ eventId, key });
  completeStep(execution, key, { event, scope, payload, event_id: eventId });
}

/** Counts a decision on an approval. */
export function decideApproval(execution: Execution, key: StepKey, decision: Decision): void {
  const activity = execution.state.active[key];
  // Of two decisions of one person, which may arrive while the run is paused, the first one counts.
  if (activity?.s !== "approval" || activity.decisions.some(({ by }) => by === decision.by)) return;
  activity.decisions.push(decision);
  noteApproval(execution, key);
  execution.history.push({ kind: "approval_decided", step: key, ...decision });
  const bytes = roomFor(execution, [decision as unknown as Json]);
  if (bytes === undefined) {
    failTooLarge(execution, key);
    return;
  }
  execution.size.recordedBytes += bytes;
  const decisions = activity.decisions as unknown as Json;
  if (!decision.approved) {
    const { by, comment } = decision;
    const message = comment === "" ? `${by} rejected it.` : `${by} rejected it: ${comment}`;
    failStep(execution, key, stepError(key, "approval_rejected", message, { decisions }));
    return;
  }
  const { work } = execution.stepOf(key).step;
  if (work.kind === "approval" && activity.decisions.length >= work.quorum) {
    completeStep(execution, key, { approved: true, decisions });
  }
}

/** Ends a wait for an event or an approval whose time is over. */
export function timeOutWait(execution: Execution, key: StepKey, kind: "event" | "approval"): void {
  const { step, positions } = execution.stepOf(key);
  const list = "onTimeout" in step.work ? step.work.onTimeout : undefined;
  if (list === undefined) {
    const code = kind === "event" ? "wait_timeout" : "approval_timeout";
    failStep(execution, key, stepError(key, code, "Nothing arrived before the time-out."));
    return;
  }
  execution.history.push({ kind: "wait_timed_out", step: key });
  if (kind === "approval") noteApproval(execution, key);
  execution.state.active[key] = { s: "timeout", sinceMs: execution.context.nowMs };
  startList(execution, list, positions);
}
