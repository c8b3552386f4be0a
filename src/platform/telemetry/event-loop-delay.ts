import { monitorEventLoopDelay } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";

const resolutionMs = 10;
const quantiles = [0.5, 0.9, 0.99, 0.999, 1] as const;

/** Adds a gauge of the event loop's delay since the previous scrape, by quantile. */
export function addEventLoopDelay(registry: Registry): void {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  const gauge: Gauge = new Gauge({
    name: "nodejs_eventloop_delay_seconds",
    help: "Delay of event loop timers since the previous scrape, by quantile.",
    labelNames: ["quantile"],
    registers: [registry],
    collect() {
      for (const quantile of quantiles) {
        const nanoseconds = quantile === 1 ? delay.max : delay.percentile(quantile * 100);
        // The histogram measures the time between two ticks of a timer, so the timer's interval is subtracted.
        const late = delay.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000);
        gauge.set({ quantile: String(quantile) }, late);
      }
      delay.reset();
    },
  });
}
