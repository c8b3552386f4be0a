import type { OwnForm } from "./printed-form.ts";

/** The form of a response; undefined if it has the form of all responses. */
export async function findOwnForm(operationId: string, body: Buffer): Promise<OwnForm | undefined> {
  switch (operationId) {
    case "service.api.OperationalHealthService/GetOperationalHealthReport": {
      const { healthReportForm } = await import("./health-report.ts");
      return healthReportForm(JSON.parse(body.toString()).data);
    }
    case "service.api.PromotionService/ListCandidateHistory": {
      const { promotionTimelineForm } = await import("./promotion-timeline.ts");
      return promotionTimelineForm(JSON.parse(body.toString()).data);
    }
    case "service.api.WorkflowRunService/GetWorkflowRunHistory": {
      const { runHistoryForm } = await import("./run-history.ts");
      return runHistoryForm(JSON.parse(body.toString()).data);
    }
    default:
      return undefined;
  }
}
