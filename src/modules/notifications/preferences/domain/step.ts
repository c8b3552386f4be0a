import type { CelVariables } from "../../../../platform/cel/index.ts";
import type { Channel } from "../../subscribers/index.ts";
import type { Day } from "./settings.ts";

/** When a wait ends: after a duration, at a time that an expression returns, or at a local time of day. */
export type StepWait =
  | { readonly kind: "for"; readonly seconds: number }
  | { readonly kind: "until"; readonly expression: string }
  | {
      readonly kind: "at";
      /** Such as 09:00. */
      readonly time: string;
      /** Empty for all days. */
      readonly days: readonly Day[];
      /** IANA time zone name; empty for the subscriber's. */
      readonly timezone: string;
    };

/** Whether an inbox message was seen or read. */
export type InboxState = "seen" | "read";

export type StepAction =
  | { readonly kind: "send"; readonly channels: readonly Channel[] }
  | { readonly kind: "delay"; readonly wait: StepWait }
  | { readonly kind: "digest"; readonly digestKey: string; readonly window: StepWait; readonly eventsMax: number }
  | { readonly kind: "throttle"; readonly limit: number; readonly windowS: number; readonly throttleKey: string }
  | { readonly kind: "await_inbox"; readonly step: string; readonly state: InboxState; readonly seconds: number };

/** One step of a workflow. */
export type Step = StepAction & {
  /** Unique in the workflow. */
  readonly key: string;
  /** CEL; empty for none. */
  readonly condition: string;
};

/** The variables of conditions and other expressions of steps. */
export const stepVariables: CelVariables = {
  payload: "map",
  subscriber: "map",
  preferences: "map",
  steps: "map",
  digest: "map",
  workflow_key: "string",
  topic_key: "string",
  context_keys: "list",
  user_id: "string",
};

/** No wait is longer than this. */
export const waitSecondsMax = 366 * 86_400;

const daySeconds = 86_400;

/** The longest time that a run may take, in milliseconds. */
export function longestRunMs(steps: readonly Step[]): number {
  return 1000 * steps.reduce((sum, step) => sum + longestStepS(step), 0);
}

function longestStepS(step: Step): number {
  switch (step.kind) {
    case "delay":
      return longestWaitS(step.wait);
    case "digest":
      return longestWaitS(step.window);
    case "await_inbox":
      return step.seconds;
    case "send":
    case "throttle":
      return 0;
  }
}

function longestWaitS(wait: StepWait): number {
  switch (wait.kind) {
    case "for":
      return wait.seconds;
    case "until":
      return waitSecondsMax;
    case "at":
      // A week, and an hour more when clocks go back.
      return 8 * daySeconds;
  }
}
