import { ulid } from "../../../../platform/ids/ulid.ts";
import type { Json } from "../../definitions/index.ts";
import type { Advance } from "../domain/engine/advance.ts";
import { type Activity, decisionsOf } from "../domain/engine/state.ts";
import type { StepKey } from "../domain/engine/step-key.ts";
import type { LiveRun } from "../storage/run-loader.ts";
import type { ApprovalDecisions, ApprovalWrite, RunWrite } from "../storage/run-write.ts";

type Identity = Pick<LiveRun, "definitionId" | "runKey" | "origin">;
type ApprovalWrites = Pick<RunWrite, "newApprovals" | "decidedApprovals" | "closedApprovals">;
type OpenApproval = Activity & { readonly s: "approval" };

const titleLengthMax = 1000;
/** A page of the list has up to 1,000 approvals, so each of them must be small. */
const detailsBytesMax = 32 * 1024;

const none: ApprovalWrites = { newApprovals: [], decidedApprovals: [], closedApprovals: [] };

/** The rows of open approvals that an advance inserts, changes and deletes. */
export function approvalsOf(run: Identity, advance: Advance, nowMs: number): ApprovalWrites {
  const { approvals, state } = advance;
  if (approvals.size === 0) return none;
  const newApprovals: ApprovalWrite[] = [];
  const decidedApprovals: ApprovalDecisions[] = [];
  const closedApprovals: StepKey[] = [];
  for (const [key, change] of approvals) {
    const activity = state.active[key];
    if (activity?.s !== "approval") {
      // One that opened and closed in the same advance was never stored.
      if (change === "changed") closedApprovals.push(key);
      continue;
    }
    if (change === "changed") decidedApprovals.push(toDecisions(advance, key));
    else newApprovals.push(toNewApproval(run, advance, key, activity, nowMs));
  }
  return { newApprovals, decidedApprovals, closedApprovals };
}

function toDecisions({ state }: Advance, key: StepKey): ApprovalDecisions {
  const decisions = decisionsOf(state, key);
  return { stepKey: key, decisionsJson: JSON.stringify(decisions), decidedBy: decisions.map(({ by }) => by) };
}

function toNewApproval(
  { definitionId, runKey, origin }: Identity,
  advance: Advance,
  key: StepKey,
  { request, sinceMs, dueMs }: OpenApproval,
  nowMs: number,
): ApprovalWrite {
  const { work } = advance.stepOf(key).step;
  if (work.kind !== "approval") throw new Error(`The step ${key} is no approval.`);
  const { title, details } = request as { readonly title: Json; readonly details: Json };
  const detailsJson = JSON.stringify(details);
  return {
    ...toDecisions(advance, key),
    ...{ id: ulid(nowMs), definitionId, runKey, definitionKey: origin.definition, environmentKey: origin.environment },
    ...{ by: work.by, quorum: work.quorum, commentRequired: work.commentRequired },
    title: titleText(title ?? ""),
    detailsJson: Buffer.byteLength(detailsJson) > detailsBytesMax ? undefined : detailsJson,
    ...{ openedAtMs: sinceMs, dueAtMs: dueMs! },
  };
}

/** A title as the database can store it. An expression may yield U+0000, halves of a character, or another value. */
function titleText(title: Json): string {
  const text = typeof title === "string" ? title : JSON.stringify(title);
  return text.slice(0, titleLengthMax).replaceAll("\u0000", "\ufffd").toWellFormed();
}
