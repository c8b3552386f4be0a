import type { Metrics } from "../../../platform/telemetry/index.ts";

/** The metrics of browser sessions. */
export type SessionMetrics = ReturnType<typeof createSessionMetrics>;

export function createSessionMetrics(metrics: Pick<Metrics, "counter">) {
  const starts = metrics.counter({
    name: "browser_sessions_started_total",
    help: "Browser sessions that were started, by the method of the sign-in.",
    labels: ["method"],
  });
  const ends = metrics.counter({
    name: "browser_sessions_ended_total",
    help: "Browser sessions that were ended before they expired, by reason.",
    labels: ["reason"],
  });
  const refusals = metrics.counter({
    name: "sign_ins_refused_total",
    help: "Sign-ins that were refused, by reason.",
    labels: ["reason"],
  });
  return {
    started: (method: string) => starts.inc({ method }),
    ended: (reason: string) => ends.inc({ reason }),
    refused: (reason: string) => refusals.inc({ reason }),
  };
}
