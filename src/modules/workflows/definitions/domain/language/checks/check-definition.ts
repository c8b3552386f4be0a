import { type DocumentViolation, Violations } from "../../../../../../platform/document/index.ts";
import type { Definition, Retryable, Step, Work } from "../definition.ts";
import { stepsOf } from "../step-tree.ts";
import { checkExpressions } from "./check-expressions.ts";
import { checkReferences, type DefinitionLookups } from "./check-references.ts";
import { checkErrorCodes } from "./error-codes.ts";
import { checkStepCount } from "./step-count.ts";

/** Kinds that are tried again when they fail. */
const retriedKinds: readonly Work["kind"][] = [
  ...(["task", "route", "notify", "action", "experiment", "subworkflow", "stream_append", "stream_read"] as const),
];
/** Kinds that cannot be undone as a whole. */
const uncompensatedKinds: readonly Work["kind"][] = ["branch", "parallel", "map", "fail", "continue_as_new"];

/**
 * Checks what the parts of a definition mean together. An empty list means that it can be published. Yields after each
 * expression, the only part that takes noticeable time. Without lookups, it checks only what does not depend on other records.
 */
export function* checkInSlices(
  definition: Definition,
  lookups: DefinitionLookups | undefined,
): Generator<void, readonly DocumentViolation[]> {
  const violations = new Violations();
  checkSteps(definition, violations);
  checkErrorCodes(definition, violations);
  checkStepCount(definition, violations);
  if (lookups !== undefined) checkReferences(definition, lookups, violations);
  yield* checkExpressions(definition, violations);
  return violations.list;
}

function checkSteps(definition: Definition, violations: Violations): void {
  const paths = new Map<string, string>();
  for (const { step, path, scope } of stepsOf(definition)) {
    if (violations.isFull) return;
    const first = paths.get(step.id);
    if (first === undefined) paths.set(step.id, path);
    else
      violations.add(`${path}.id`, "duplicate_id", `the id "${step.id}" is already used at ${first}: choose another`);
    checkStep(step, path, violations);
    if (step.work.kind === "continue_as_new" && scope.isConcurrent) {
      const message = "ends the run, so it must not be inside a parallel or a map: move it after that block";
      violations.add(`${path}.continue_as_new`, "continue_as_new", message);
    }
    const answer = step.work.kind === "wait_event" ? (step.work.update?.answer ?? "") : "";
    if (answer !== "" && !scope.leadsTo(answer)) {
      const message = `must be a step that always runs after "${step.id}": a later step of its list or of a list around it`;
      violations.add(`${path}.wait_event.update.answer`, "step_reference", message);
    }
  }
}

function checkStep(step: Step, path: string, violations: Violations): void {
  const { work, compensate } = step;
  const { kind } = work;
  checkPolicy(step, kind, path, violations);
  if (compensate !== undefined) {
    checkPolicy(compensate, compensate.work.kind, `${path}.compensate`, violations);
    if (uncompensatedKinds.includes(kind)) {
      const message =
        kind === "fail" || kind === "continue_as_new"
          ? `${kind} never completes, so there is nothing to undo: remove compensate`
          : `${kind} is undone step by step: move compensate to the steps inside it`;
      violations.add(`${path}.compensate`, "compensate", message);
    }
  }
  if (work.kind === "approval") {
    const users = work.by.every((each) => each.startsWith("user:")) ? work.by.length : Number.POSITIVE_INFINITY;
    if (work.quorum > users) {
      const message = `must be at most ${users}, because only ${users} can approve: lower it or add to by`;
      violations.add(`${path}.approval.quorum`, "range", message);
    }
  }
}

function checkPolicy({ retry, timeout }: Retryable, kind: Work["kind"], path: string, violations: Violations): void {
  if (retry !== undefined && !retriedKinds.includes(kind)) {
    const message = `${kind} is not retried: retry is for ${retriedKinds.join(", ")}`;
    violations.add(`${path}.retry`, "retry", message);
  }
  const limits = { attempt: timeout.attemptMs, heartbeat: timeout.heartbeatMs, total: timeout.totalMs };
  for (const [name, ms] of Object.entries(limits)) {
    if (ms === undefined || kind === "task" || (name === "total" && retriedKinds.includes(kind))) continue;
    violations.add(`${path}.timeout.${name}`, "timeout", timeoutMessage(name, kind));
  }
}

function timeoutMessage(name: string, kind: Work["kind"]): string {
  if (name !== "total")
    return `is only for task steps: remove it${retriedKinds.includes(kind) ? ", or use total" : ""}`;
  if (kind === "wait_event" || kind === "approval") return `${kind} has a timeout of its own: write it inside ${kind}`;
  return `${kind} has no timeout: set it on the steps that take time`;
}
