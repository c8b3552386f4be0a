import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { EndStatus } from "./domain/session-status.ts";

/** Why the hosted page refused a request. */
export type PageRefusal = "token" | "cookie" | "state" | "state_expired" | "redirect" | "issuer" | "ended";

export type SessionMetrics = ReturnType<typeof createSessionMetrics>;

export function createSessionMetrics(metrics: Pick<Metrics, "counter">) {
  const creations = metrics.counter({
    name: "connect_sessions_created_total",
    help: "Connect sessions that were created.",
    labels: [],
  });
  const ends = metrics.counter({
    name: "connect_sessions_ended_total",
    help: "Connect sessions that ended, by status and error code.",
    labels: ["status", "error_code"],
  });
  const refusals = metrics.counter({
    name: "connect_page_refusals_total",
    help: "Requests that the hosted connect page refused, by reason.",
    labels: ["reason"],
  });
  return {
    created: () => creations.inc({}),
    ended: (status: EndStatus, errorCode: string) => ends.inc({ status, error_code: errorCode }),
    refused: (reason: PageRefusal) => refusals.inc({ reason }),
  };
}
