// A node of Switchyard in this process, without the protocol and the chain.
import { createHash } from "node:crypto";
import { compose } from "../../../src/app/compose.ts";
import { openStorage } from "../../../src/app/storage.ts";
import { loadConfig } from "../../../src/config/index.ts";
import { systemClock } from "../../../src/platform/clock/clock.ts";
import { createLog } from "../../../src/platform/log/log.ts";
import { createMetrics } from "../../../src/platform/telemetry/index.ts";

const encryptionKey = createHash("sha256").update("only for measuring").digest("base64");

/** Composes a node on a migrated database; `context` creates the context of a call. */
export async function openNode(databaseUrl) {
  const { config } = loadConfig({
    overrides: [
      `database.url=${databaseUrl}`,
      `connector.encryption_key=${encryptionKey}`,
      "server.internal_addr=127.0.0.1:0",
    ],
  });
  const log = createLog("error");
  const storage = await openStorage(config, log);
  const node = await compose({
    ...{ config, db: storage.db, cacheLoadDb: storage.cacheLoadDb, clock: systemClock, log, metrics: createMetrics() },
    ...{ tracing: undefined, audit: undefined, limiter: undefined, isCacheReachable: undefined },
    areTracesLost: () => false,
  });
  await node.signals.start();
  await node.changes.start();
  const { id: tenantId } = await node.loadPlatformTenant();
  const constant = contextOf(tenantId, storage.db);
  return {
    handlers: node.workflows.handlers,
    context: () => ({ ...constant, nowMs: Date.now() }),
    async close() {
      await node.workflows.idle();
      await node.changes.stop();
      await node.signals.stop();
      await storage.close();
    },
  };
}

function contextOf(tenantId, db) {
  return {
    ...{ tenantId, plane: "internal", platform: false, requestId: "bench", sql: db.sql },
    signal: new AbortController().signal,
    principal: { tenantId, subject: "bench", kind: "service", roles: [], scopes: new Set(), environmentMode: "any" },
    quotaOf: () => undefined,
    takeQuota: () => undefined,
    recheckAccess: async () => {},
    waited: () => {},
    afterCommit: (action) => void action(),
  };
}
