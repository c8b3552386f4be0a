import type { EventRecorder } from "../../../operations/index.ts";
import type { NotificationRun, StepOutcome } from "../domain/run.ts";
import type { EndedRun, RunState } from "./run-store.ts";

type EventEntry = Parameters<EventRecorder["recordMany"]>[1][number];

type Subject = Pick<NotificationRun, "tenantId" | "id" | "transactionId" | "workflowKey" | "subscriberId">;

/** The events of an advance: one for each step that ended, and one for the run if it ended. */
export function eventsOf(run: Subject, state: RunState, ended: readonly StepOutcome[]): EventEntry[] {
  const steps = ended.map(({ stepKey, kind, outcome, reason, deliveryIds }): EventEntry => {
    const step = { step: stepKey, kind, outcome, reason: reason ?? "", delivery_ids: deliveryIds ?? [] };
    return {
      tenantId: run.tenantId,
      type: "notification.step.completed",
      subject: run.id,
      data: { ...about(run), ...step },
    };
  });
  const { status, reason } = state;
  return status === "waiting" || status === "collected" ? steps : [...steps, endedEvent({ ...run, status, reason })];
}

export function endedEvent(run: Subject & Pick<EndedRun, "status" | "reason">): EventEntry {
  const data = { ...about(run), status: run.status, reason: run.reason };
  return { tenantId: run.tenantId, type: "notification.run.completed", subject: run.id, data };
}

function about({ transactionId, workflowKey, subscriberId }: Subject) {
  return { transaction_id: transactionId, workflow_key: workflowKey, subscriber_id: subscriberId };
}
