import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testDatabase } from "../../../../../test/harness/context.ts";
import { createAdmissionKeys, createAdmissionRequests } from "../../admission/index.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import { admissionStage, constraints } from "../testing/admission-stage.ts";
import { createReadmission } from "./dead-letter-readmission.ts";

const db = await testDatabase();
const stage = admissionStage(db);
const { singleton, concurrency } = constraints;

test("keys of letters are evaluated in slices of the event loop, while nothing is locked", async () => {
  const pool = await stage.pool({ singleton, concurrency });
  const { tenantId, poolId, environmentId } = pool;
  const ids: string[] = [];
  for (const key of ["a", "b", "c"]) ids.push((await stage.enqueue(pool, { key })).id);
  await db.sql`update decisions set key = id where tenant_id = ${tenantId}`;
  await db.sql`update queue_items set state = 'dead_lettered' where tenant_id = ${tenantId}`;
  const snapshot = {
    pool: { tenantId, id: poolId, environmentId, name: "pool", config: { admission: { singleton, concurrency } } },
  } as unknown as PoolSnapshot;

  const steps: string[] = [];
  const requests = createAdmissionRequests(createAdmissionKeys(randomBytes(32)));
  const readmission = createReadmission(
    (...asked) => {
      steps.push("key");
      return requests(...asked);
    },
    {
      forCall: () => ({
        isOver: () => true,
        async next() {
          // Fails at once where somebody has one of them locked.
          await db.sql`select from queue_items where tenant_id = ${tenantId} for update nowait`;
          await db.sql`select from admission_groups where tenant_id = ${tenantId} for update nowait`;
          steps.push("slice");
        },
      }),
      forBackground: () => assert.fail("somebody waits for the call"),
    },
  );
  const placed = await db.transaction(async (tx) => {
    const prepared = await readmission.prepare(tx, snapshot, ids);
    return prepared.run(tx, Date.now(), async (_tx, round) => round.admit(ids, ids.length).placed);
  });
  assert.deepEqual(steps, ["slice", "key", "slice", "key", "slice", "key"]);
  assert.deepEqual(
    placed.map(({ queueItemId }) => queueItemId),
    ids,
  );
});
