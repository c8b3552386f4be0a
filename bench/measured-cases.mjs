import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "../src/platform/db/embedded/embedded.ts";
import { startService } from "./routing/ours/service.mjs";

/**
 * Measures cases one after the other, each on a service of its own with the case's settings, so that what one leaves
 * behind does not disturb the next. They share a database. `measure` takes the port and the case; answers with its results.
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
