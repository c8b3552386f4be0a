import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { insertDeliveries } from "./delivery-store.ts";
import { dispatchStore, type Settlement, type SettlementRow } from "./dispatch-store.ts";

const db = await testDatabase();
const nowMs = Date.now();
const tenantId = freshTenant();

/** Stores deliveries of one broadcast that this node is sending; returns their ids. */
async function storeDeliveries(channels: readonly string[]): Promise<string[]> {
  const rows = channels.map((channel, nth) => ({
    id: ulid(nowMs),
    subscriber_id: ulid(nowMs),
    ...(channel === "push" && { endpoint_id: `endpoint ${nth}` }),
    ...{ channel, status: "running" as const, reason: "allowed_default", lease_token: "mine" },
  }));
  const transactionId = ulid(nowMs);
  await insertDeliveries(db.sql, [
    {
      ...{ tenantId, transactionId, broadcastId: transactionId, workflowKey: "w", topicKey: "t", userId: "" },
      ...{ lane: "broadcast", at: new Date(nowMs), payload: undefined, rows, record: undefined },
    },
  ]);
  return rows.map(({ id }) => id);
}

function settlement(id: string, status: Settlement["status"], row: SettlementRow, leaseToken = "mine"): Settlement {
  return {
    delivery: { tenantId, id, leaseToken, deadLetterId: "" },
    status,
    waitMs: 0,
    row,
    newDeadLetterId: undefined,
  };
}

test("deliveries that are stored and settled together keep what each of them has alone", async () => {
  const [first, second, third, lost] = await storeDeliveries(["sms", "push", "sms", "sms"]);
  const sent = { provider_key: "http_sms", provider_attempts: 1 };
  const owned = await dispatchStore(db.sql).settle([
    settlement(first!, "sent", { ...sent, provider_message_id: "m1" }),
    settlement(second!, "skipped", { reason: "denied_by_layer", layer: 3 }),
    settlement(third!, "sent", { ...sent, provider_message_id: "m3" }),
    settlement(lost!, "sent", { ...sent, provider_message_id: "m4" }, "of another node"),
  ]);
  assert.deepEqual([...owned].sort(), [first, second, third].sort());
  const rows = await db.sql`
    select id, channel, endpoint_id, status, provider_key, provider_message_id, preference_reason_code as reason
    from notification_deliveries where tenant_id = ${tenantId}`;
  const stored = new Map(rows.map(({ id, ...row }) => [id, Object.values(row)]));
  assert.deepEqual(
    [first, second, third, lost].map((id) => stored.get(id)),
    [
      ["sms", "", "sent", "http_sms", "m1", "allowed_default"],
      ["push", "endpoint 1", "skipped", "", "", "denied_by_layer"],
      ["sms", "", "sent", "http_sms", "m3", "allowed_default"],
      ["sms", "", "running", "", "", "allowed_default"],
    ],
  );
});
