import type { Metrics } from "../../../platform/telemetry/index.ts";

export interface PromotionMetrics {
  /** Counts a step that was committed. */
  stepped(call: string, state: string): void;
}

export function createPromotionMetrics(metrics: Pick<Metrics, "counter">): PromotionMetrics {
  const steps = metrics.counter({
    name: "promotion_steps_total",
    help: "Steps of promotion candidates, by call and by the state that it led to.",
    labels: ["call", "state"],
  });
  return { stepped: (call, state) => steps.inc({ call, state }) };
}
