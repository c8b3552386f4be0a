import { type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import { fail } from "../../../errors/index.ts";
import type { OtlpSettings, OtlpSignal } from "./otlp-settings.ts";

/** How long one request to the collector may take, with its repetitions. */
export const sendMs = 5_000;

/** How long an export may take until its data is dropped. */
export const exportMs: number = sendMs + 1_000;

/** Creates the options of the exporter of a signal. */
export function exporterOptions(settings: OtlpSettings, signal: OtlpSignal) {
  return { url: signalUrl(settings.endpoint, signal), headers: { ...settings.headers }, timeoutMillis: sendMs };
}

/** What sends the data: the service, and this process of it. */
export function resourceOf({ serviceName, resource }: OtlpSettings): Resource {
  return resourceFromAttributes({ "service.name": serviceName, ...resource });
}

/** The URL of a signal below the endpoint. An endpoint may already name the path of traces. */
function signalUrl(endpoint: string, signal: OtlpSignal): string {
  if (!URL.canParse(endpoint))
    throw fail("FAILED_PRECONDITION", {
      public: `The telemetry endpoint ${endpoint} is not a URL (for example: http://collector:4318).`,
    });
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/(?:v1\/traces)?\/*$/, "")}/v1/${signal}`;
  return url.href;
}

interface Exporter<Items> {
  export(items: Items, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
  forceFlush?(): Promise<void>;
  shutdown(): Promise<void>;
}

/** Reports failed exports, which the SDK reports only to its own global logger. */
export function withErrorReporting<Items>(
  exporter: Exporter<Items>,
  { onError }: OtlpSettings,
  signal: OtlpSignal,
): Required<Exporter<Items>> {
  return {
    export: (items, done) =>
      exporter.export(items, (result) => {
        if (result.error !== undefined) onError?.(result.error, signal);
        done(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
