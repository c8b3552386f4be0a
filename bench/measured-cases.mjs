import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "../src/platform/db/embedded/embedded.ts";
import { startService } from "./routing/ours/service.mjs";

/**
 * Measures cases sequentially, each on a new service with the case's settings, so that the state of one case does not
 * affect the next. They share a database. `measure` takes the port and the case, and returns its results.
 */
export async function measureCases(cases, measure) {
  const dataDir = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  const database = await startEmbedded({ dataDir });
  const results = [];
  try {
    for (const each of cases) {
      const service = await startService({ databaseUrl: database.url, settings: each.settings });
      try {
        results.push(await measure(service.port, each));
      } finally {
        await service.stop();
      }
    }
  } finally {
    await database.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  return results;
}
