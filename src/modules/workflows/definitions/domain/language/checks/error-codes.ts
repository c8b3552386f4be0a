import { memberPath, type Violations } from "../../../../../../platform/document/index.ts";
import type { Definition, Retryable, Step, Work } from "../definition.ts";
import { blocksOf, stepsOf } from "../step-tree.ts";

const everyKind = ["expression_error", "state_too_large", "internal"];

/** The codes that the service uses for each kind of step. */
const serviceCodes: Readonly<Record<Work["kind"], readonly string[]>> = {
  task: [
    "attempt_timeout",
    "heartbeat_timeout",
    "timeout",
    "worker_lost",
    "task_failed",
    "quota_exceeded",
    ...everyKind,
  ],
  route: ["route_rejected", "pool_not_found", "timeout", "quota_exceeded", ...everyKind],
  notify: ["notify_failed", "timeout", "quota_exceeded", ...everyKind],
  action: [
    ...["rate_limited", "auth_expired", "permission_denied", "not_found", "conflict", "invalid_input", "unavailable"],
    ...["failed", "malformed", "outcome_unknown", "connection_unusable", "action_failed", "timeout", "quota_exceeded"],
    ...everyKind,
  ],
  subworkflow: ["subworkflow_failed", "timeout", "quota_exceeded", ...everyKind],
  branch: everyKind,
  parallel: everyKind,
  map: ["map_too_large", ...everyKind],
  wait_event: ["wait_timeout", ...everyKind],
  wait_timer: everyKind,
  approval: ["approval_rejected", "approval_timeout", ...everyKind],
  transform: everyKind,
  fail: everyKind,
  continue_as_new: ["continue_failed", ...everyKind],
  experiment: ["experiment_failed", "experiment_not_found", "timeout", "quota_exceeded", ...everyKind],
  stream_append: [
    ...["stream_closed", "stream_full", "stream_backpressure", "region_not_allowed", "invalid_input", "append_failed"],
    ...["timeout", "quota_exceeded"],
    ...everyKind,
  ],
  stream_read: [
    "stream_not_found",
    "resync_required",
    "region_not_allowed",
    "invalid_input",
    "read_failed",
    "timeout",
    ...everyKind,
  ],
};

/** Codes that are never retried, whatever a policy lists. */
const neverRetried = new Set(["expression_error", "state_too_large", "timeout", "outcome_unknown"]);

/** The codes of a step's own work: the service's, the `errors` of a task and the code of a `fail`. */
function ownCodes(work: Work): ReadonlySet<string> {
  const codes = new Set(serviceCodes[work.kind]);
  if (work.kind === "task") for (const code of work.errors) codes.add(code);
  if (work.kind === "fail") codes.add(work.code);
  return codes;
}

/** The codes that `catch` of a step may name: its own and those of all steps inside, without its `catch` entries. */
function failureCodes(step: Step): ReadonlySet<string> {
  const codes = new Set(ownCodes(step.work));
  for (const { steps, role } of blocksOf(step, "")) {
    if (role !== "catch") collectCodes(steps, codes);
  }
  return codes;
}

/** Adds the codes of all steps of a list, at any depth. */
function collectCodes(steps: readonly Step[], codes: Set<string>): void {
  for (const step of steps) {
    for (const code of ownCodes(step.work)) codes.add(code);
    for (const block of blocksOf(step, "")) collectCodes(block.steps, codes);
  }
}

/** Reports codes in `catch` and `retry.on` that the step cannot fail with. */
export function checkErrorCodes(definition: Definition, violations: Violations): void {
  const retried = new Set<string>();
  for (const { step, path } of stepsOf(definition)) {
    if (violations.isFull) return;
    checkCatches(step, path, violations);
    checkRetryCodes(step, step.work, `${path}.retry`, violations);
    for (const code of ownCodes(step.work)) retried.add(code);
    const { compensate } = step;
    if (compensate === undefined) continue;
    checkRetryCodes(compensate, compensate.work, `${path}.compensate.retry`, violations);
    for (const code of ownCodes(compensate.work)) retried.add(code);
  }
  const { retry } = definition;
  if (retry?.on !== undefined) checkRetried(retry.on, retried, "retry", "no step can", violations);
}

function checkCatches(step: Step, path: string, violations: Violations): void {
  if (step.catch.length === 0) return;
  const possible = failureCodes(step);
  const caught = new Set<string>();
  for (const [at, { on }] of step.catch.entries()) {
    const entryPath = `${path}.catch[${at}]`;
    if (caught.has("*")) {
      violations.add(entryPath, "unreachable", 'can never run, because an entry before it catches "*": move it up');
      continue;
    }
    for (const [position, code] of on.entries()) {
      const codePath = `${entryPath}.on[${position}]`;
      if (caught.has(code)) violations.add(codePath, "unreachable", `an entry before it catches ${code}: remove it`);
      else if (code !== "*" && !possible.has(code)) {
        violations.add(codePath, "unknown_code", `the step cannot fail with ${code}; ${listCodes(possible)}`);
      }
      caught.add(code);
    }
  }
}

function checkRetryCodes({ retry }: Retryable, work: Work, path: string, violations: Violations): void {
  if (retry?.on !== undefined) checkRetried(retry.on, ownCodes(work), path, "the step cannot", violations);
}

function checkRetried(
  on: readonly string[],
  possible: ReadonlySet<string>,
  path: string,
  subject: string,
  violations: Violations,
): void {
  const retryable = new Set([...possible].filter((code) => !neverRetried.has(code)));
  for (const [at, code] of on.entries()) {
    const codePath = `${memberPath(path, "on")}[${at}]`;
    if (neverRetried.has(code)) {
      violations.add(codePath, "unknown_code", `${code} is never retried; ${listCodes(retryable)}`);
    } else if (!retryable.has(code)) {
      violations.add(codePath, "unknown_code", `${subject} fail with ${code}; ${listCodes(retryable)}`);
    }
  }
}

const listedMax = 40;

function listCodes(possible: ReadonlySet<string>): string {
  const sorted = [...possible].sort();
  const more = sorted.length > listedMax ? ", …" : "";
  return `possible are ${sorted.slice(0, listedMax).join(", ")}${more}`;
}
