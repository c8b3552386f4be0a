// Switchyard without the protocol and the chain: the handlers of a composed node, called in this process.
import { createHash } from "node:crypto";
import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { StartWorkflowRunRequestSchema } from "../../../gen/service/api/workflow_run_pb.ts";
import { compose } from "../../../src/app/compose.ts";
import { openStorage } from "../../../src/app/storage.ts";
import { loadConfig } from "../../../src/config/index.ts";
import { systemClock } from "../../../src/platform/clock/clock.ts";
import { createLog } from "../../../src/platform/log/log.ts";
import { createMetrics } from "../../../src/platform/telemetry/index.ts";
import { connection } from "../../routing/http-connection.mjs";
import { authorized, startService } from "../../routing/ours/service.mjs";
import { nextInput } from "../input.mjs";
import { publishDefinitions } from "./api.mjs";

export async function open({ databaseUrl }) {
  await publish(databaseUrl);
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
    ...{ config, db: storage.db, side: storage.side, clock: systemClock, log, metrics: createMetrics() },
    ...{ tracing: undefined, audit: undefined, limiter: undefined, isCacheReachable: undefined },
    areTracesLost: () => false,
  });
  await node.signals.start();
  await node.changes.start();
  const { id: tenantId } = await node.loadPlatformTenant();
  const context = contextOf(tenantId, storage.db);
  const handler = node.workflows.handlers["service.api.WorkflowRunService"].startWorkflowRun.grouped;
  return {
    internal: {
      name: "handler",
      ahead: 1,
      async begin() {
        const input = fromJson(ValueSchema, nextInput());
        const request = create(StartWorkflowRunRequestSchema, { definition: "internal", input });
        const { run } = await handler({ ...context, nowMs: Date.now() }, request, undefined);
        if (run.status !== "succeeded") throw new Error(`a run came out as ${run.status}`);
        return {};
      },
    },
    async close() {
      await node.workflows.idle();
      await node.changes.stop();
      await node.signals.stop();
      await storage.close();
    },
  };
}

const encryptionKey = createHash("sha256").update("only for measuring").digest("base64");

/** Publishes the definitions through the API. */
async function publish(databaseUrl) {
  const service = await startService({ databaseUrl });
  const caller = connection(service.port, { headers: authorized });
  await publishDefinitions(caller);
  caller.close();
  await service.stop();
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
