import assert from "node:assert/strict";
import { test } from "node:test";
import { untilBlocked } from "../../../../../test/harness/blocked-statements.ts";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { inboxStore } from "../inbox/inbox-store.ts";
import { runStore } from "./run-store.ts";

const db = await testDatabase(5);

test("a run that begins to wait for a message while it is marked as read is woken", async () => {
  const tenantId = freshTenant();
  const [id, runId, subscriberId] = [ulid(1), ulid(1), ulid(1)];
  const now = new Date();
  await db.sql`
    insert into notification_inbox (tenant_id, subscriber_id, id, workflow_key, body, created_at)
    values (${tenantId}, ${subscriberId}, ${id}, 'w', 'B', ${now})`;
  const marked = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const marking = db.transaction(async (tx) => {
    const mark = { seen: true, read: true, archived: undefined };
    await inboxStore(tx).mark(tenantId, subscriberId, [id], mark, now, 1);
    // The run does not wait yet.
    assert.equal(await runStore(tx).wakeAwaiting(tenantId, [id]), 0);
    marked.resolve();
    await mayCommit.promise;
  });
  await marked.promise;
  await db.sql`
    insert into notification_runs (tenant_id, id, transaction_id, workflow_key, subscriber_id, lane, status, wake_at,
      awaited_id, created_at, updated_at)
    values (${tenantId}, ${runId}, ${ulid(1)}, 'w', ${subscriberId}, 'single', 'waiting', now() + interval '1 day', ${id},
      ${now}, ${now})`;
  const checking = runStore(db.sql).wakeIfReached({ tenantId, subscriberId }, id, "read");
  await Promise.race([checking, untilBlocked(db.sql, "from notification_inbox")]);
  mayCommit.resolve();
  await Promise.all([marking, checking]);
  const run = await runStore(db.sql).find(tenantId, runId);
  assert.ok(run!.wakeAt!.getTime() <= Date.now() + 1000, "the run is due");
});
