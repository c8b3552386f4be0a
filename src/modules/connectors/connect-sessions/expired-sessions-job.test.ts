import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, recordedEvents, testDatabase } from "../../../../test/harness/context.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import { createMetrics } from "../../../platform/telemetry/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { type ConnectSessionId, hashOf, retentionMs } from "./domain/connect-session.ts";
import { expiredSessionsJob } from "./expired-sessions-job.ts";
import { createSessionEnder } from "./session-end.ts";
import { createSessionMetrics } from "./session-metrics.ts";
import { connectSessionStore } from "./store.ts";

test("the job expires open sessions, erases their one-time values, and deletes sessions that ended long ago", async () => {
  const db = await testDatabase();
  const events = recordedEvents();
  const metrics = createMetrics();
  const ender = createSessionEnder({
    db,
    connections: { recordAttempt: async () => assert.fail("an expired session attempts nothing") },
    events: events as unknown as EventRecorder,
    metrics: createSessionMetrics(metrics),
  });
  let nowMs = Date.now();
  const job = expiredSessionsJob({ db, clock: { now: () => nowMs }, ender, platformTenantId: freshTenant });
  const run = () => job.handler({ tenantId: "", id: "", payload: {}, attempt: 1, signal: AbortSignal.timeout(60_000) });
  const store = connectSessionStore(db.sql);
  const tenantId = freshTenant();
  const create = async (expiresInMs: number) => {
    const session = await store.insert(
      {
        ...{ tenantId, id: ulid(nowMs) as ConnectSessionId, environmentId: ulid(nowMs), environmentKey: "production" },
        ...{ status: "pending", allowedProviderKeys: ["acme"], providerConfigId: "", connectionId: "" },
        ...{ endUser: { id: "u1", email: "", displayName: "" }, connectionName: "", scopes: [], allowedOrigins: [] },
        ...{ successRedirectUri: "", errorRedirectUri: "", requireCompletion: false, awaitingCompletion: false },
        ...{ resultConnectionId: "", errorCode: "", errorDetail: "", endedAt: null },
        expiresAt: new Date(nowMs + expiresInMs),
        ...newStamps(nowMs),
      } as const,
      hashOf(ulid(nowMs)),
    );
    return (await store.lock(tenantId, session.id))!;
  };
  const many = [];
  for (let n = 0; n < 150; n++) many.push(await create(1000));
  const authorizing = await store.authorize(
    await create(1000),
    {
      ...{ providerKey: "acme", authMode: "oauth2", usedConfigId: "", manifestDigest: "" },
      ...{ stateHash: hashOf("state"), stateExpiresAt: new Date(nowMs + 1000), ciphertext: "sealed" },
    },
    new Date(nowMs),
  );
  const open = await create(2000);
  await run();
  assert.equal(events.recorded.length, 0, "nothing has expired yet");

  nowMs += 1000;
  await run();
  for (const { id } of many) assert.equal((await store.lock(tenantId, id))!.status, "expired");
  const ended = (await store.lock(tenantId, authorizing!.id))!;
  assert.deepEqual([ended.status, ended.ciphertext, ended.stateHash], ["expired", "", null]);
  assert.equal((await store.lock(tenantId, open.id))!.status, "pending");
  assert.equal(events.recorded.filter(({ type }) => type === "connect_session.expired").length, 151);
  assert.match(await metrics.render(), /connect_sessions_ended_total\{status="expired",error_code=""\} 151/);

  await run();
  assert.equal(events.recorded.length, 151, "a second run finds nothing");
  nowMs += retentionMs + 1;
  await run();
  assert.equal(await store.lock(tenantId, authorizing!.id), undefined);
  assert.equal((await store.lock(tenantId, open.id))!.status, "expired", "it is kept from its end on");
  const keys = await db.sql<{ key: string }[]>`select key from tenant_directory where tenant_id = ${tenantId}`;
  assert.deepEqual([...keys], [{ key: open.id }], "the directory knows only sessions that exist");
});
