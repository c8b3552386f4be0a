import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { BroadcastStatus } from "../domain/broadcast.ts";
import { broadcastStore } from "./broadcast-store.ts";

const db = await testDatabase();
const failuresMax = 8;

/** Stores a broadcast whose pages fail; returns its state after some of them. */
async function failPages(status: BroadcastStatus, pages: number) {
  const tenantId = freshTenant();
  const transactionId = ulid(Date.now());
  await db.sql`
    insert into notification_broadcasts (tenant_id, transaction_id, workflow_key, topic_key, cutoff, manifest, status,
      created_at, updated_at)
    values (${tenantId}, ${transactionId}, 'welcome', 'news', '1:1:', '{}'::jsonb, ${status}, now(), now())`;
  const store = broadcastStore(db.sql);
  for (let page = 0; page < pages; page++) {
    const broadcast = await store.find(tenantId, transactionId);
    await store.postpone(broadcast!, failuresMax, "internal", new Date());
  }
  const [row] = await db.sql<{ status: BroadcastStatus; waitS: number }[]>`
    select status, extract(epoch from next_page_at - updated_at)::float8 as wait_s from notification_broadcasts
    where tenant_id = ${tenantId} and transaction_id = ${transactionId}`;
  return row!;
}

test("a page that fails is attempted again later, also while its broadcast is being cancelled", async () => {
  for (const status of ["expanding", "cancelling"] as const) {
    const { status: after, waitS } = await failPages(status, 3);
    assert.equal(after, status);
    assert.ok(waitS > 2, `${status} waits ${waitS} s`);
  }
});

test("a broadcast fails after some failed pages, and a cancellation never does", async () => {
  assert.equal((await failPages("expanding", failuresMax)).status, "failed");
  const cancelling = await failPages("cancelling", failuresMax + 3);
  assert.equal(cancelling.status, "cancelling");
  assert.ok(cancelling.waitS < 62, "it is attempted every minute");
});
