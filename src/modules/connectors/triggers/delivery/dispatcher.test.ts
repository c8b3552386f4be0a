import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, recordedEvents, testDatabase } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import { createSignals } from "../../../../platform/db/index.ts";
import { createEventLoopScheduler } from "../../../../platform/event-loop/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { createDispatcher } from "./dispatcher.ts";

const db = await testDatabase();

/** Stores an event whose subscription was deleted, so that it cannot be delivered. */
async function storeUndeliverable() {
  const [tenantId, eventId, subscriptionId] = [freshTenant(), ulid(Date.now()), ulid(Date.now())];
  const receivedAt = new Date();
  await db.sql`
    insert into connector_trigger_events (tenant_id, id, subscription_id, environment_key, type, dedup_key, payload, status,
      received_at)
    values (${tenantId}, ${eventId}, ${subscriptionId}, 'production', 't', ${eventId}, '{}', 'pending', ${receivedAt})`;
  await db.sql`
    insert into connector_trigger_deliveries (tenant_id, event_id, subscription_id, received_at, due_at)
    values (${tenantId}, ${eventId}, ${subscriptionId}, ${receivedAt}, now())`;
  return {
    async status() {
      const [row] = await db.sql<{ status: string }[]>`
        select status from connector_trigger_events where tenant_id = ${tenantId} and id = ${eventId}`;
      return row!.status;
    },
  };
}

test("the end of an event that cannot be delivered is stored together with its report, or not at all", async (t) => {
  const { status } = await storeUndeliverable();
  const events = recordedEvents();
  let failures = 0;
  const dispatcher = createDispatcher({
    ...{ db, signals: createSignals(db), clock: { now: Date.now }, log: { warn: () => {} } as never },
    shares: createEventLoopScheduler(),
    events: {
      ...events,
      recordMany(tx: unknown, entries: never[]) {
        if (failures++ === 0) return Promise.reject(new Error("as told"));
        return events.recordMany(tx, entries);
      },
    } as never,
    metrics: { delivered: () => {} } as never,
    callTarget: () => assert.fail("there is no target"),
    storeStatus: async () => {},
    ...{ topic: "test", keyLifeMs: 86_400_000, pollMs: 20, claimMs: 100 },
  });
  t.after(() => dispatcher.stop());
  dispatcher.start();
  await until(async () => failures > 0 && (await status()) === "dead");
  await dispatcher.stop();
  assert.deepEqual(
    events.recorded.map(({ type }) => type),
    ["connector.trigger.event_dead"],
  );
});
