import { type Explainer, linkTo } from "../../explainer.ts";
import type { ActionService } from "./action-service.ts";
import type { Execution } from "./domain/execution.ts";
import type { Explanation } from "./domain/explanation.ts";

/** Explains executions of connector actions. */
export function createExecutionExplainer(service: Pick<ActionService, "findExecution" | "explainFound">): Explainer {
  return {
    kind: "connector_execution",
    scope: "connector_action:read",
    async explain(context, { id }) {
      const execution = await service.findExecution(context, id);
      if (execution === undefined) return undefined;
      const explanation = await service.explainFound(context, execution);
      const { status, summary, remedies } = explanation;
      return {
        ...{ status, summary, remedies },
        steps: stepsOf(execution, explanation),
        waits: waitsOf(execution),
        links: linksOf(execution),
      };
    },
  };
}

function stepsOf({ startedAt, attempts, endedAt, status }: Execution, { attempts: explained, effect }: Explanation) {
  return [
    { at: startedAt, code: "started", message: "The execution started." },
    ...explained.map(({ number, outcome, consequence }, nth) => ({
      at: new Date(attempts[nth]!.startedAtMs),
      code: "attempt",
      message: `Request ${number}: ${outcome} ${consequence}`,
    })),
    ...(endedAt === null
      ? []
      : [{ at: endedAt, code: status, message: `It ended. Effect at the provider: ${effect}.` }]),
  ];
}

function waitsOf({ status, startedAt }: Execution) {
  if (status !== "running") return [];
  const message = "It waits for the provider.";
  return [
    { code: "waiting_for_provider", message, remedy: "It ends by itself, also if its node stops.", since: startedAt },
  ];
}

function linksOf({ id, connectionId, origin, originId }: Execution) {
  return [
    ...linkTo("execution", id, `/api/v2/connector/executions/${id}`),
    ...linkTo("connection", connectionId, `/api/v2/connector/connections/${connectionId}`),
    ...(origin === "workflow" ? linkTo("workflow_run", originId, `/api/workflow-runs/${originId}`, true) : []),
    ...(origin === "routing" ? linkTo("decision", originId, `/api/decisions/${originId}`, true) : []),
  ];
}
