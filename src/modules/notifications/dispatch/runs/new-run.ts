import { type Failure, fail } from "../../../../errors/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { NotificationWorkflow } from "../../preferences/index.ts";
import type { TriggerContext } from "../delivery/initial-delivery.ts";
import type { RunRow } from "./run-store.ts";

/** Whether a workflow does more than send all channels at once. */
function hasSteps(workflow: NotificationWorkflow | undefined): boolean {
  return workflow !== undefined && workflow.steps.length > 0;
}

/** The run of a recipient; undefined if the workflow has no steps. */
export function newRun(
  { workflow, channels, nowMs }: TriggerContext,
  subscriberId: string,
  contextKeys: readonly string[],
): RunRow | undefined {
  if (!hasSteps(workflow)) return undefined;
  return { id: ulid(nowMs), subscriber_id: subscriberId, context_keys: contextKeys, channels: channels ?? null };
}

/** Throws when a workflow has steps and there is no queue for them. */
export function requireQueue(workflow: NotificationWorkflow | undefined, hasQueue: boolean): void {
  if (hasSteps(workflow) && !hasQueue) throw queueUnavailable("a workflow with steps needs");
}

/** The refusal of a call that needs the queue. */
export function queueUnavailable(what: string): Failure {
  return fail("FAILED_PRECONDITION", {
    public: `queue_unavailable: ${what} a durable queue; set notification.dispatch.queue to tiered or flat.`,
  });
}
