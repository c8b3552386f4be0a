import { invalid } from "../../../../errors/index.ts";
import { checkCondition, checkExpression, compileCel } from "../../../../platform/cel/index.ts";
import { type Step, type StepWait, stepVariables } from "./step.ts";
import { isTimezone } from "./wall-clock.ts";
import type { WorkflowContent } from "./workflow.ts";

/** Throws when a step is invalid. Field names in errors start with its path, such as steps[1].delay. */
export function checkSteps({ steps, channels }: Pick<WorkflowContent, "steps" | "channels">): void {
  const earlier = new Map<string, Step>();
  for (const [at, step] of steps.entries()) {
    const path = `steps[${at}]`;
    if (earlier.has(step.key)) throw invalid(`${path}.key`, "unique", `must be unique: ${step.key} is used twice`);
    checkCondition(`${path}.condition`, step.condition, stepVariables);
    checkReferences(`${path}.condition`, step.condition, earlier);
    checkAction(`${path}.${step.kind}`, step, channels, earlier);
    earlier.set(step.key, step);
  }
  if (steps.filter(({ kind }) => kind === "digest").length > 1) {
    throw invalid("steps", "one_digest", "must have at most one digest");
  }
  if (steps.length > 0 && !steps.some(({ kind }) => kind === "send")) {
    throw invalid("steps", "sends", "must have at least one step that sends");
  }
}

type Earlier = ReadonlyMap<string, Step>;

function checkAction(path: string, step: Step, channels: WorkflowContent["channels"], earlier: Earlier): void {
  switch (step.kind) {
    case "send":
      for (const [at, channel] of step.channels.entries()) {
        if (channels[channel] !== undefined) continue;
        throw invalid(
          `${path}.channels[${at}]`,
          "has_content",
          `must be a channel with content in channels.${channel}`,
        );
      }
      return;
    case "delay":
      checkWait(path, step.wait, earlier);
      return;
    case "digest":
      checkKey(`${path}.key`, step.digestKey, earlier);
      checkWait(`${path}.window`, step.window, earlier);
      return;
    case "throttle":
      checkKey(`${path}.key`, step.throttleKey, earlier);
      return;
    case "await_inbox": {
      const awaited = earlier.get(step.step);
      if (awaited?.kind === "send" && awaited.channels.includes("in_app")) return;
      throw invalid(`${path}.step`, "inbox_step", "must be the key of an earlier step that sends to in_app");
    }
  }
}

function checkWait(path: string, wait: StepWait, earlier: Earlier): void {
  if (wait.kind === "until") {
    checkExpression(`${path}.until`, wait.expression, stepVariables);
    const { type } = compileCel(wait.expression, stepVariables);
    if (type !== "any" && type !== "timestamp" && type !== "string") {
      throw invalid(`${path}.until`, "cel.type", `must return a timestamp or RFC 3339 text, not ${type}`);
    }
    checkReferences(`${path}.until`, wait.expression, earlier);
  }
  if (wait.kind === "at" && wait.timezone !== "" && !isTimezone(wait.timezone)) {
    throw invalid(`${path}.timezone`, "iana", "must be an IANA time zone name (for example: Europe/Berlin)");
  }
}

function checkKey(path: string, expression: string, earlier: Earlier): void {
  if (expression === "") return;
  checkExpression(path, expression, stepVariables);
  const { type } = compileCel(expression, stepVariables);
  if (type === "list" || type === "map") throw invalid(path, "cel.type", `must return a single value, not a ${type}`);
  checkReferences(path, expression, earlier);
}

/** Refuses expressions that read steps that do not come earlier. */
function checkReferences(path: string, expression: string, earlier: Earlier): void {
  if (expression === "") return;
  for (const read of compileCel(expression, stepVariables).paths) {
    const [root, key] = read.split(".");
    if (root !== "steps" || key === undefined || earlier.has(key)) continue;
    throw invalid(path, "earlier_step", `must read earlier steps only: there is no earlier step ${key}`);
  }
}
