// The time to open a connection whose sealed credentials are in memory.
import { createHash } from "node:crypto";
import { createConnectionCache } from "../../src/modules/connectors/connections/connection-cache.ts";
import { createConnectionOpener } from "../../src/modules/connectors/connections/connection-opener.ts";
import { createKeyring } from "../../src/platform/crypto/index.ts";
import { createSignals, openDatabase } from "../../src/platform/db/index.ts";
import { quantile } from "./overhead.mjs";

export async function measureOpening(databaseUrl, { tenant_id: tenantId, id }, seconds) {
  const db = openDatabase(databaseUrl, { maxConnections: 2 });
  const signals = createSignals(db);
  await signals.start();
  const key = createHash("sha256").update("only for measuring").digest("base64");
  const keyring = createKeyring({ activeKeyId: "k1", keys: { k1: key } });
  const cache = createConnectionCache({ db, signals });
  const open = createConnectionOpener({
    ...{ cache, clock: { now: () => Date.now() }, keyring },
    configs: { read: async () => undefined },
    refresher: { refresh: async () => ({ kind: "failed" }), refreshLater() {} },
  });
  try {
    const first = await open(tenantId, id);
    if (typeof first === "string") throw new Error(`the connection cannot be opened: ${first}`);
    const times = [];
    const untilMs = performance.now() + Math.min(seconds, 3) * 1000;
    for (let nth = 0; performance.now() < untilMs; nth++) {
      const startedAt = performance.now();
      await open(tenantId, id);
      if (nth > 1000) times.push((performance.now() - startedAt) * 1000);
    }
    return { p50Us: quantile(times, 0.5), p99Us: quantile(times, 0.99), count: times.length };
  } finally {
    await signals.stop();
    await db.close();
  }
}
