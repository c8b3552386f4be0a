import type { EventEntry } from "../../../operations/index.ts";
import type { Execution, ExecutionOutcome } from "../domain/execution.ts";
import type { NewExecution } from "./begin-store.ts";

type Subject = Pick<
  NewExecution,
  "tenantId" | "id" | "actionKey" | "providerKey" | "connectionId" | "origin" | "originId"
>;

export function endEvent(
  { tenantId, id, actionKey, providerKey, connectionId, origin, originId }: Subject,
  { status, class: answerClass, code }: Pick<ExecutionOutcome, "status" | "class" | "code">,
  { attempts, durationMs }: { readonly attempts: number; readonly durationMs: number },
): EventEntry {
  const common = {
    ...{ action_key: actionKey, provider_key: providerKey, connection_id: connectionId },
    ...{ origin, origin_id: originId, attempts, duration_ms: durationMs },
  };
  return status === "succeeded"
    ? { tenantId, type: "connector.action.executed", subject: id, data: common }
    : {
        tenantId,
        type: "connector.action.failed",
        subject: id,
        data: { ...common, status, class: answerClass, code },
      };
}

/** The event of an execution whose node died. */
export function abandonedEvent(
  execution: Subject & Pick<Execution, "status" | "class" | "code" | "startedAt">,
  nowMs: number,
) {
  const { status, class: answerClass, code, startedAt } = execution;
  const outcome = { status, class: answerClass, code } as Pick<ExecutionOutcome, "status" | "class" | "code">;
  return endEvent(execution, outcome, { attempts: 0, durationMs: nowMs - startedAt.getTime() });
}
