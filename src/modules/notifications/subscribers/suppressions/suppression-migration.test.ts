import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant } from "../../../../../test/harness/context.ts";
import { earlierDatabase } from "../../../../../test/harness/earlier-schema.ts";
import { openDatabase } from "../../../../platform/db/index.ts";
import { suppressionStore } from "./suppression-store.ts";

test("the upgrade that lists suppressions has all addresses on it that were suppressed before, once each", async (t) => {
  const { url, upgrade } = await earlierDatabase(t, "0058");
  const db = openDatabase(url, { maxConnections: 2, steadyConnections: 1 });
  t.after(() => db.close());
  const tenantId = freshTenant();
  const idOf = (nth: number) => String(nth).padStart(26, "0");
  const at = new Date("2026-01-02T03:04:05.678Z");
  await db.sql`
    insert into notification_subscribers (tenant_id, id, external_id, email, phone, email_suppressed_at,
      phone_suppressed_at, created_at, updated_at)
    values (${tenantId}, ${idOf(1)}, 'ada', 'Ada@example.com', '+4930901820', ${at}, ${at}, ${at}, ${at}),
      (${tenantId}, ${idOf(2)}, 'bob', 'bob@example.com', '', null, null, ${at}, ${at})`;
  await db.sql`
    insert into notification_endpoints (tenant_id, id, subscriber_id, channel, provider_key, identity, last_used_at,
      suppressed_at, created_at, updated_at)
    values (${tenantId}, ${idOf(3)}, ${idOf(2)}, 'email', 'default', 'ada@example.com', ${at}, ${at}, ${at}, ${at}),
      (${tenantId}, ${idOf(4)}, ${idOf(2)}, 'push', 'fcm', 'Token', ${at}, ${at}, ${at}, ${at})`;
  await upgrade();
  const { rows } = await suppressionStore(db.sql).list(
    tenantId,
    { channel: undefined, identity: undefined, reason: undefined },
    { fetch: 10, offset: 0, after: undefined },
  );
  assert.deepEqual(
    rows.map(({ channel, identity, reason, createdAt }) => [channel, identity, reason, createdAt.getTime()]).sort(),
    [
      ["email", "ada@example.com", "unreachable", at.getTime()],
      ["push", "Token", "unreachable", at.getTime()],
      ["sms", "+4930901820", "unreachable", at.getTime()],
    ],
  );
});
