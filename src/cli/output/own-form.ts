import type { OwnForm } from "./printed-form.ts";

/** The form of a response; undefined if it has the form of all responses. */
export async function findOwnForm(operationId: string, body: Buffer): Promise<OwnForm | undefined> {
  if (operationId !== "service.api.OperationalHealthService/GetOperationalHealthReport") return undefined;
  const { healthReportForm } = await import("./health-report.ts");
  return healthReportForm(JSON.parse(body.toString()).data);
}
