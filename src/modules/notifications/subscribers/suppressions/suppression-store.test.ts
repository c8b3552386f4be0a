import assert from "node:assert/strict";
import { before, test } from "node:test";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type SuppressionFilter, suppressionStore } from "./suppression-store.ts";

const db = await testDatabase(2);
const tenantId = freshTenant();
/** A list takes up to three statements, and an address has at most two suppressions here. */
const readMax = 6;
before(async () => {
  await db.sql`
    insert into notification_suppressions (tenant_id, id, channel, identity, reason, created_at)
    select ${tenantId}, lpad(n::text, 26, '0'), (array['email', 'sms', 'push', 'chat'])[n % 4 + 1], 'other' || n, 'bounced',
      now()
    from generate_series(1, 10000) n
    union all
    select ${tenantId}, lpad('A' || n, 26, '0'), channel, identity, reason, now()
    from (values (1, 'email', 'ada', 'bounced'), (2, 'sms', 'ada', 'manual'), (3, 'push', 'Ada', 'manual'),
      (4, 'chat', 'ADA', 'manual')) as own(n, channel, identity, reason)`;
  await db.sql`analyze notification_suppressions`;
});

/** The number of rows of the table that the transaction has read. Rows that the connection read shortly before count too. */
async function rowsRead(tx: Sql): Promise<number> {
  const [read] = await tx<{ count: number }[]>`
    select (seq_tup_read + idx_tup_fetch)::int as count from pg_stat_xact_user_tables
    where relname = 'notification_suppressions'`;
  return read!.count;
}

/** Lists suppressions newest first; returns them, and the number of rows that were read to find them. */
function list(filter: Partial<SuppressionFilter>, after?: string) {
  return db.transaction(async (tx) => {
    const earlier = await rowsRead(tx);
    const all = { channel: undefined, identity: undefined, reason: undefined };
    const page = { fetch: 51, offset: 0, after };
    const { rows, total } = await suppressionStore(tx).list(tenantId, { ...all, ...filter }, page);
    const found = rows.map(({ channel, identity }) => `${channel} ${identity}`);
    return { found, total, read: (await rowsRead(tx)) - earlier };
  });
}

test("a list by address has the address in the form of each channel, and reads no suppressions of other addresses", async () => {
  const push = "push Ada";
  for (const [filter, expected] of [
    [{ identity: "Ada" }, [push, "email ada"]],
    [{ identity: "ada" }, ["sms ada", "email ada"]],
    [{ identity: "Ada", channel: "email" }, ["email ada"]],
    [{ identity: "Ada", channel: "push" }, [push]],
    [{ identity: "Ada", channel: "sms" }, []],
    [{ identity: "Ada", reason: "manual" }, [push]],
    [{ identity: "nobody" }, []],
  ] as const) {
    // A connection may change to a generic plan after five executions.
    for (let nth = 0; nth < 7; nth++) {
      const { found, total, read } = await list(filter);
      assert.deepEqual(found, expected);
      assert.deepEqual(total, { count: expected.length, capped: false });
      assert.ok(read <= readMax, `${JSON.stringify(filter)} reads ${read} rows`);
    }
  }
});

test("a page of a list by channel reads no suppressions of other channels", async () => {
  for (const channel of ["email", "sms", "push", "chat"]) {
    for (let nth = 0; nth < 7; nth++) {
      const { found, read } = await list({ channel }, "5000".padStart(26, "0"));
      assert.equal(found.filter((each) => each.startsWith(`${channel} other`)).length, 51);
      assert.ok(read <= 51, `a page of ${channel} reads ${read} rows`);
    }
  }
});
