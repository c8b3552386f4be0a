import { monitorEventLoopDelay } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";

const resolutionMs = 10;
const quantiles = [0.5, 0.9, 0.99, 0.999, 1] as const;

/** Adds how late the event loop was, by quantile, since the scrape before. */
export function addEventLoopDelay(registry: Registry): void {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  const gauge: Gauge = new Gauge({
    name: "nodejs_eventloop_delay_seconds",
    help: "How much later than due the event loop ran a timer since the scrape before, by quantile.",
    labelNames: ["quantile"],
    registers: [registry],
    collect() {
      for (const quantile of quantiles) {
        const nanoseconds = quantile === 1 ? delay.max : delay.percentile(quantile * 100);
        // What is measured is the time between two ticks of a timer.
        const late = delay.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000);
        gauge.set({ quantile: String(quantile) }, late);
      }
      delay.reset();
    },
  });
}
