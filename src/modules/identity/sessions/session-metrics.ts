import type { Metrics } from "../../../platform/telemetry/index.ts";

/** The metrics of browser sessions. */
export interface SessionMetrics {
  started(method: string): void;
  ended(reason: string): void;
  refused(reason: string): void;
}

/** Creates the metrics of browser sessions. */
export function createSessionMetrics(metrics: Pick<Metrics, "counter">): SessionMetrics {
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
    started: (method) => starts.inc({ method }),
    ended: (reason) => ends.inc({ reason }),
    refused: (reason) => refusals.inc({ reason }),
  };
}
