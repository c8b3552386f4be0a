import { createQuietTracing } from "./quiet-tracing.ts";
import type { Tracing, TracingSettings } from "./tracing.ts";

/** Traces to a collector, or, without an endpoint, spans that only have ids for the log. */
export async function createTracing(settings: TracingSettings): Promise<Tracing> {
  if (!settings.endpoint) return createQuietTracing();
  // Loaded only here: the SDK costs some 25 MB that nobody should pay who does not trace.
  const { createOtlpTracing } = await import("./otlp-tracing.ts");
  return createOtlpTracing({ ...settings, endpoint: settings.endpoint });
}
