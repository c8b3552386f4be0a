import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import type { Job } from "../../../../platform/jobs/index.ts";
import { deleteExpiredLettersJob } from "./retention-job.ts";

const db = await testDatabase();
const dayMs = 86_400_000;

test("letters are deleted when their retention has ended, whatever their state", async () => {
  const tenantId = freshTenant();
  const nowMs = Date.now();
  const letters = [
    { age: 29, state: "open" },
    { age: 31, state: "open" },
    { age: 31, state: "quarantined" },
    { age: 1, state: "replayed" },
  ];
  for (const [nth, { age, state }] of letters.entries()) {
    const id = `0000000000000000000000000${nth}`;
    await db.sql`
      insert into workflow_dead_letters (tenant_id, run_id, environment_id, definition_id, error_code, step, failed_at,
        replay_count, max_replays, state, replay_run_id, environment_key, definition_key, version, error_message,
        first_failed_at)
      values (${tenantId}, ${id}, ${id}, ${id}, 'broken', 'a', ${new Date(nowMs - age * dayMs)}, 0, 3, ${state}, '', '', '', 1,
        '', now())`;
  }
  const clock = { now: () => nowMs };
  const { handler } = deleteExpiredLettersJob({ db, clock, retentionDays: 30, platformTenantId: () => tenantId });
  await handler({ signal: new AbortController().signal } as Job);
  const left = await db.sql<{ state: string }[]>`
    select state from workflow_dead_letters where tenant_id = ${tenantId} order by run_id`;
  assert.deepEqual(
    left.map(({ state }) => state),
    ["open", "replayed"],
  );
});
