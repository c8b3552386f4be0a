import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase } from "../../../../../test/harness/context.ts";
import { createSignals } from "../../../../platform/db/index.ts";
import { admissionStage, type StagedPool } from "../testing/admission-stage.ts";
import { createLeasing, queueTopic, type WorkAsked } from "./lease-service.ts";

const db = await testDatabase();
const stage = admissionStage(db);
const signals = createSignals(db);
const leasing = createLeasing({ db, signals });

function workOf({ tenantId, poolId, environmentId }: StagedPool, recheckAccess: () => Promise<void>): WorkAsked {
  return {
    tenantId,
    poolId,
    environmentId,
    recipientId: "",
    limits: undefined,
    recipientIds: [],
    unchosen: true,
    delivery: "pull",
    capacity: 0,
    leaseS: 600,
    ageingMs: 60_000,
    max: 1,
    waitMs: 20_000,
    signal: new AbortController().signal,
    recheckAccess,
  };
}

test("a worker's access is checked again only after it has waited", async () => {
  const pool = await stage.pool({});
  let checks = 0;
  const recheckAccess = async () => void checks++;
  const { id } = await stage.enqueue(pool);
  const { rows } = await leasing.lease(workOf(pool, recheckAccess));
  assert.deepEqual([rows.map((row) => row.id), checks], [[id], 0]);

  const hasWaited = Promise.withResolvers<void>();
  const waiting = leasing.lease({ ...workOf(pool, recheckAccess), onWaited: () => hasWaited.resolve() });
  signals.wake(queueTopic(pool.tenantId, pool.poolId));
  await hasWaited.promise;
  const next = await stage.enqueue(pool);
  signals.wake(queueTopic(pool.tenantId, pool.poolId));
  assert.deepEqual(
    (await waiting).rows.map((row) => row.id),
    [next.id],
  );
  // Before the look that found the item, and after it.
  assert.ok(checks >= 2, `${checks} checks`);
});
