import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  RetryAllDeadLettersRequestSchema,
  type RetryAllDeadLettersResponse,
  RetryDeadLettersRequestSchema,
  type RetryDeadLettersResponse,
} from "../../../../../gen/service/api/dead_letter_pb.ts";
import { contextFor, recordedEvents, testDatabase } from "../../../../../test/harness/context.ts";
import type { Call } from "../../../../chain/call.ts";
import { createExecutor } from "../../../../chain/execute.ts";
import { readOperations } from "../../../../definitions/index.ts";
import { createCursors } from "../../../../platform/cursor/index.ts";
import { createAdmissionKeys, createAdmissionRequests } from "../../admission/index.ts";
import { createDeadLetters } from "../../dead-letters/index.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import { admissionFixture, constraints } from "../testing/admission-fixture.ts";
import { createReadmission } from "./dead-letter-readmission.ts";

const db = await testDatabase();
const fixture = admissionFixture(db);
const { singleton, concurrency } = constraints;

test("keys of letters are evaluated in slices of the event loop, each once", async () => {
  const pool = await fixture.pool({ singleton, concurrency });
  const { tenantId, poolId, environmentId } = pool;
  const ids: string[] = [];
  for (const key of ["a", "b", "c"]) ids.push((await fixture.enqueue(pool, { key })).id);
  await db.sql`update queue_items set key = id where tenant_id = ${tenantId}`;
  await db.sql`update queue_items set state = 'dead_lettered' where tenant_id = ${tenantId}`;
  const snapshot = {
    pool: { tenantId, id: poolId, environmentId, name: "pool", config: { admission: { singleton, concurrency } } },
  } as unknown as PoolSnapshot;

  const steps: string[] = [];
  const requests = createAdmissionRequests(createAdmissionKeys(randomBytes(32)));
  const readmission = createReadmission(
    (...args) => {
      steps.push("key");
      return requests(...args);
    },
    {
      forCall: () => ({
        isOver: () => true,
        async next() {
          steps.push("slice");
        },
      }),
      forBackground: () => assert.fail("a call must not run as background work"),
    },
  );
  const prepared = await readmission.prepare(db.sql, snapshot, ids);
  const placed = await db.transaction((tx) =>
    prepared.run(tx, Date.now(), async (_tx, round) => round.admit(ids, ids.length).placed),
  );
  assert.deepEqual(steps, ["slice", "key", "slice", "key", "slice", "key"]);
  assert.deepEqual(
    placed.map(({ queueItemId }) => queueItemId),
    ids,
  );
});

/** Retries of a pool's letters through the call chain; `inSlice` runs in each slice of the event loop. */
async function retriesWith(
  inSlice: (fixture: { tenantId: string; poolId: string; config: { admission: object } }) => Promise<void>,
) {
  const pool = await fixture.pool({ singleton });
  const { tenantId, poolId, environmentId } = pool;
  const ids: string[] = [];
  for (const key of ["a", "b", "c"]) ids.push((await fixture.enqueue(pool, { key })).id);
  await db.sql`update queue_items set key = id where tenant_id = ${tenantId}`;
  await db.sql`update queue_items set state = 'dead_lettered' where tenant_id = ${tenantId}`;
  await db.sql`update admission_groups set item_id = '' where tenant_id = ${tenantId}`;
  const config = {
    admission: { singleton } as object,
    queue: { ttlS: 60, ageingS: 60 },
  };
  // A change of the pool replaces its snapshot.
  const snapshotNow = () =>
    ({ pool: { tenantId, id: poolId, environmentId, name: "pool", config: { ...config } } }) as unknown as PoolSnapshot;
  let evaluated = 0;
  const requests = createAdmissionRequests(createAdmissionKeys(randomBytes(32)));
  const readmission = createReadmission(
    (...args) => {
      evaluated++;
      return requests(...args);
    },
    {
      forCall: () => ({ isOver: () => true, next: () => inSlice({ tenantId, poolId, config }) }),
      forBackground: () => assert.fail("a call must not run as background work"),
    },
  );
  const deadLetters = createDeadLetters({
    sql: db.sql,
    events: recordedEvents(),
    clock: { now: Date.now },
    platformTenantId: () => "",
    wake: () => {},
    readmission: () => readmission,
    pools: { requireKnownPool: async () => snapshotNow(), requireRetryPool: async () => snapshotNow() },
  });
  const letters = ids.map((queueItemId) => ({
    poolId,
    queueItemId,
    reasonCode: "worker_failed",
    phase: "work" as const,
    attempts: [],
    maxRetries: 3,
    failedAt: new Date(),
  }));
  await db.transaction((tx) => deadLetters.record(tx, tenantId, letters));
  const operations = readOperations().filter(({ service }) => service.typeName.endsWith(".DeadLetterService"));
  const execute = createExecutor(operations, {
    db,
    clock: { now: Date.now },
    cursors: createCursors(randomBytes(32)),
    timeoutMs: 60_000,
    takeQuota: () => assert.fail("no quota"),
    fingerprintSecret: "",
    recheckAccess: { external: async () => {}, internal: async () => {} },
    handlers: { [operations[0]!.service.typeName]: deadLetters.handlers },
  });
  const call = (method: string, message: Call["message"], key?: string) => {
    const { principal, signal } = contextFor(db, { tenantId });
    const responseHeaders: Record<string, string> = {};
    const response = execute({
      operation: operations.find(({ method: { localName } }) => localName === method)!,
      plane: "external",
      header: (name: string) => (name === "idempotency-key" ? key : undefined),
      signal,
      responseHeaders,
      startedAtMs: performance.now(),
      requestId: "test",
      principal,
      tenantId,
      tenantState: { platform: false, quotas: {}, settings: {} },
      message,
    } as unknown as Call);
    return { response, responseHeaders };
  };
  return {
    ids,
    evaluated: () => evaluated,
    retry: (key?: string) => {
      const message = create(RetryDeadLettersRequestSchema, { poolId, queueItemIds: ids });
      const { response, responseHeaders } = call("retryDeadLetters", message, key);
      return { response: response as Promise<RetryDeadLettersResponse>, responseHeaders };
    },
    retryAll: () =>
      call("retryAllDeadLetters", create(RetryAllDeadLettersRequestSchema, { poolId }))
        .response as Promise<RetryAllDeadLettersResponse>,
  };
}

for (const which of ["named letters", "all letters"]) {
  test(`no transaction is open while the keys of ${which} are evaluated`, async () => {
    let open = 0;
    const retries = await retriesWith(async () => {
      const rows = await db.sql`
        select from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
      open += rows.length;
    });
    const { retriedCount } = await (which === "all letters" ? retries.retryAll() : retries.retry().response);
    assert.deepEqual([Number(retriedCount), retries.evaluated(), open], [3, 3, 0]);
  });
}

test("a letter that is quarantined while keys are evaluated is skipped with the reason", async () => {
  const retries = await retriesWith(async ({ tenantId }) => {
    await db.sql`
      update dead_letters set state = 'quarantined'
      where tenant_id = ${tenantId} and queue_item_id = ${retries.ids[1]!}`;
  });
  const { retriedCount, skipped } = await retries.retry().response;
  assert.equal(retriedCount, 2n);
  assert.deepEqual(
    skipped.map(({ queueItemId, reason }) => [queueItemId, reason]),
    [[retries.ids[1], "quarantined"]],
  );
});

test("keys are evaluated again when the pool's constraints change in the meantime", async () => {
  const retries = await retriesWith(async ({ config }) => {
    config.admission = { concurrency };
  });
  const { retriedCount } = await retries.retry().response;
  assert.deepEqual([retriedCount, retries.evaluated()], [3n, 6]);
  const items = await db.sql`
    select from queue_items where id = any(${retries.ids}::text[]) and singleton_group = '' and concurrency_group <> ''`;
  assert.equal(items.length, 3);
});

test("a retry repeated with its idempotency key evaluates nothing and returns the same response", async () => {
  const retries = await retriesWith(async () => {});
  const first = await retries.retry("once").response;
  const again = retries.retry("once");
  assert.deepEqual(await again.response, first);
  assert.deepEqual([again.responseHeaders["idempotency-replayed"], retries.evaluated()], ["true", 3]);
});
