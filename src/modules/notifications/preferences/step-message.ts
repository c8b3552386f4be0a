import { create } from "@bufbuild/protobuf";
import {
  type NotificationStep,
  StepWaitSchema,
  type StepWait as WaitMessage,
} from "../../../../gen/service/api/notification_workflow_pb.ts";
import { invalid } from "../../../errors/index.ts";
import type { Channel } from "../subscribers/index.ts";
import type { Day } from "./domain/settings.ts";
import type { InboxState, Step, StepAction, StepWait } from "./domain/step.ts";

/** How many payloads a digest keeps by default. */
const eventsDefault = 100;

/** Converts the steps of a request. */
export function toSteps(messages: readonly NotificationStep[]): Step[] {
  return messages.map((message, at) => {
    const { key, condition } = message;
    return { key, condition, ...toAction(`steps[${at}]`, message) };
  });
}

function toAction(path: string, message: NotificationStep): StepAction {
  const { send, delay, digest, throttle, awaitInbox } = message;
  const actions: StepAction[] = [];
  if (send !== undefined) actions.push({ kind: "send", channels: send.channels as Channel[] });
  if (delay !== undefined) actions.push({ kind: "delay", wait: toWait(`${path}.delay`, delay) });
  if (digest !== undefined) {
    const window = toWait(`${path}.digest.window`, digest.window!);
    actions.push({ kind: "digest", digestKey: digest.key, window, eventsMax: digest.eventsMax || eventsDefault });
  }
  if (throttle !== undefined) {
    const { limit, windowS, key } = throttle;
    actions.push({ kind: "throttle", limit, windowS: Number(windowS), throttleKey: key });
  }
  if (awaitInbox !== undefined) {
    const { step, state, forS } = awaitInbox;
    actions.push({ kind: "await_inbox", step, state: state as InboxState, seconds: Number(forS) });
  }
  if (actions.length !== 1) {
    throw invalid(path, "one_action", "must have exactly one of send, delay, digest, throttle and await_inbox");
  }
  return actions[0]!;
}

function toWait(path: string, { forS, until, at, days, timezone }: WaitMessage): StepWait {
  const waits: StepWait[] = [];
  if (forS > 0n) waits.push({ kind: "for", seconds: Number(forS) });
  if (until !== "") waits.push({ kind: "until", expression: until });
  if (at !== "") waits.push({ kind: "at", time: at, days: days as Day[], timezone });
  if (waits.length !== 1) throw invalid(path, "one_wait", "must have exactly one of for_s, until and at");
  if (at === "" && (days.length > 0 || timezone !== "")) {
    throw invalid(`${path}.${days.length > 0 ? "days" : "timezone"}`, "with_at", "may only be set together with at");
  }
  return waits[0]!;
}

export function fromSteps(steps: readonly Step[]) {
  return steps.map((step) => ({ key: step.key, condition: step.condition, ...fromAction(step) }));
}

function fromAction(action: StepAction) {
  switch (action.kind) {
    case "send":
      return { send: { channels: action.channels } };
    case "delay":
      return { delay: fromWait(action.wait) };
    case "digest": {
      const { digestKey, window, eventsMax } = action;
      return { digest: { key: digestKey, window: fromWait(window), eventsMax } };
    }
    case "throttle": {
      const { limit, windowS, throttleKey } = action;
      return { throttle: { limit, windowS, key: throttleKey } };
    }
    case "await_inbox": {
      const { step, state, seconds } = action;
      return { awaitInbox: { step, state, forS: seconds } };
    }
  }
}

function fromWait(wait: StepWait): WaitMessage {
  switch (wait.kind) {
    case "for":
      return create(StepWaitSchema, { forS: BigInt(wait.seconds) });
    case "until":
      return create(StepWaitSchema, { until: wait.expression });
    case "at":
      return create(StepWaitSchema, { at: wait.time, days: [...wait.days], timezone: wait.timezone });
  }
}
