import { createNonRecordingTracing } from "./non-recording-tracing.ts";
import type { Tracing, TracingSettings } from "./tracing.ts";

/** Creates tracing that exports to a collector or, without an endpoint, only provides trace ids for the log. */
export async function createTracing(settings: TracingSettings): Promise<Tracing> {
  if (!settings.endpoint) return createNonRecordingTracing();
  // Loaded on demand, because the SDK takes about 25 MB of memory.
  const { createOtlpTracing } = await import("./otlp-tracing.ts");
  return createOtlpTracing({ ...settings, endpoint: settings.endpoint });
}
