<<<<<<< HEAD
/** How a response is printed. */
export interface PrintStyle {
  readonly isColoured: boolean;
  readonly width: number;
}

/** The output of a command whose response has a form of its own and decides the exit code. */
export interface OwnForm {
  readonly exitCode: number;
  text(style: PrintStyle): string;
=======
import type { OwnForm } from "./printed-form.ts";

/** The form of a response; undefined if it has the form of all responses. */
export async function findOwnForm(operationId: string, body: Buffer): Promise<OwnForm | undefined> {
  if (operationId !== "service.api.OperationalHealthService/GetOperationalHealthReport") return undefined;
  const { healthReportForm } = await import("./health-report.ts");
  return healthReportForm(JSON.parse(body.toString()).data);
>>>>>>> health
}
