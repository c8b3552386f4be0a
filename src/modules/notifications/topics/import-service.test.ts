import assert from "node:assert/strict";
import { test } from "node:test";
import { contextFor, freshTenant } from "../../../../test/harness/context.ts";
import { createLog } from "../../../platform/log/log.ts";
import { createSubscribers } from "../subscribers/index.ts";
import { createImportService } from "./import-service.ts";
import { createTopicFixture } from "./testing/topic-fixture.ts";

const aheadMs = { now: 0 };
const clock = { now: () => Date.now() + aheadMs.now };
const { db, events, topics, createTopic } = await createTopicFixture(createSubscribers, clock);

/** Starts an import whose batches always fail. */
async function failingImport() {
  const tenantId = freshTenant();
  const topic = await createTopic({ tenantId }, "news");
  const parts = { db, clock, log: createLog("silent"), events, wakeJobs: () => {} };
  const failing = {
    getTopic: async () => topic as never,
    addKnown: async () => {
      throw new Error("no");
    },
  };
  const imports = createImportService({ ...parts, topics: failing });
  const context = contextFor(db, { tenantId });
  const { id } = await imports.startImport(context, "news", ["ada"], []);
  const signal = new AbortController().signal;
  return {
    attempt: (attempt: number) =>
      imports.job.handler({ tenantId, id: "job", payload: { importId: id }, attempt, signal }),
    status: async () => (await imports.getImport(context, "news", id)).status,
  };
}

test("an import whose last attempt fails has failed, and does not run for ever", async () => {
  const { attempt, status } = await failingImport();
  const [job] = await db.sql<{ maxAttempts: number }[]>`
    select max_attempts from jobs where kind = 'topics.import_members'`;
  await assert.rejects(attempt(job!.maxAttempts - 1), /no/);
  assert.equal(await status(), "running");
  await attempt(job!.maxAttempts);
  assert.equal(await status(), "failed");
});

test("an import whose job was lost fails after a week without progress", async () => {
  const { status } = await failingImport();
  const cleanup = topics.jobs.find(({ kind }) => kind === "topics.delete_left")!;
  const job = { tenantId: "", id: "job", payload: {}, attempt: 1, signal: new AbortController().signal };
  await cleanup.handler(job);
  assert.equal(await status(), "running");
  aheadMs.now = 8 * 24 * 3_600_000;
  await cleanup.handler(job);
  assert.equal(await status(), "failed");
});
