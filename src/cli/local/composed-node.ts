import { compose, type Node } from "../../app/compose.ts";
import type { LoadedConfig } from "../../config/index.ts";
import { systemClock } from "../../platform/clock/clock.ts";
import { openDatabase } from "../../platform/db/index.ts";
import { createLog } from "../../platform/log/log.ts";
import { createMetrics, createNonRecordingTracing } from "../../platform/telemetry/index.ts";

/** Runs work with the parts of a node, such as its encrypted records. The node is composed and never started. */
export async function withComposedNode<T>(
  { config }: LoadedConfig,
  url: string,
  command: string,
  work: (node: Node) => Promise<T>,
): Promise<T> {
  const db = openDatabase(url, { maxConnections: 3, applicationName: `switchyard ${command}` });
  try {
    const node = await compose({
      config,
      db,
      cacheLoadDb: db,
      clock: systemClock,
      log: createLog(config["log.level"]),
      metrics: createMetrics(),
      tracing: createNonRecordingTracing(),
      audit: undefined,
      limiter: undefined,
      isCacheReachable: undefined,
      replica: undefined,
      storage: undefined,
      areTracesLost: () => false,
    });
    return await work(node);
  } finally {
    await db.close();
  }
}
