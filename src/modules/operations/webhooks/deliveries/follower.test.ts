import assert from "node:assert/strict";
import { test } from "node:test";
import {
  WebhookEndpoint_Status as EndpointStatus,
  UpdateWebhookEndpointRequestSchema,
} from "../../../../../gen/service/api/webhook_pb.ts";
import { contextFor } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import { startWebhookFixture } from "../../../../../test/webhooks/webhook-fixture.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { createLog } from "../../../../platform/log/log.ts";
import { createFollower } from "./follower.ts";

// Nothing is sent in this file: the tests read deliveries from the table.
const fixture = await startWebhookFixture();
const url = "http://127.0.0.1:9/";

async function deliveredTo(endpointId: string): Promise<string[]> {
  const rows = await fixture.sql`
    select event_id from webhook_deliveries where endpoint_id = ${endpointId} order by event_id`;
  return rows.map((row) => row.event_id);
}

async function setStatus(tenantId: TenantId, endpointId: string, status: EndpointStatus): Promise<void> {
  const { updateWebhookEndpoint } = fixture.webhooks.handlers;
  await fixture.call(tenantId, updateWebhookEndpoint, UpdateWebhookEndpointRequestSchema, { endpointId, status });
}

/** A separate follower that is never started, so that only explicit calls follow logs. */
const follower = createFollower({
  db: fixture.db,
  signals: fixture.signals,
  reader: fixture.events.reader,
  log: createLog("silent"),
  onDue: () => {},
});

/** Follows a log to its end. Transactions of other tests on the same server can delay it. */
async function followToEnd(tenantId: TenantId): Promise<void> {
  await until(async () => {
    await follower.follow(tenantId);
    const [row] = await fixture.sql`
      select from webhook_cursors c where tenant_id = ${tenantId} and not exists (
        select from events e where e.tenant_id = c.tenant_id and (e.stamp, e.id) > (c.stamp, c.id))`;
    return row !== undefined;
  });
}

test("an endpoint gets only events after its creation", async () => {
  const tenantId = await fixture.tenant();
  await fixture.publish(tenantId);
  const first = await fixture.endpoint(tenantId, url);
  const between = await fixture.publish(tenantId);
  const second = await fixture.endpoint(tenantId, url, { eventTypes: ["order.*"] });
  const last = await fixture.publish(tenantId);
  await followToEnd(tenantId);
  assert.deepEqual(await deliveredTo(second.id), [last]);
  const toFirst = await deliveredTo(first.id);
  assert.ok(toFirst.includes(between) && toFirst.includes(last));
  // The first endpoint gets the creation of the second one, but not its own.
  assert.equal(toFirst.length, 3);
});

test("each event is delivered once, regardless of how often and by how many nodes a log is followed", async () => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, url);
  const ids: string[] = [];
  for (let i = 0; i < 450; i++) ids.push(await fixture.publish(tenantId));
  await Promise.all(Array.from({ length: 6 }, () => followToEnd(tenantId)));
  assert.deepEqual(await deliveredTo(id), ids.sort());
  // Follow from the start again, as after a restore of an old cursor.
  await fixture.sql`update webhook_cursors set stamp = '0', id = '' where tenant_id = ${tenantId}`;
  await followToEnd(tenantId);
  assert.deepEqual(await deliveredTo(id), ids);
});

test("an event that commits after later ones were followed is not skipped", async (t) => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, url);
  const early = Promise.withResolvers<void>();
  // All logs of the server wait for an open transaction.
  t.after(() => early.resolve());
  const begun = Promise.withResolvers<string>();
  const late = fixture.db.transaction(async (sql) => {
    const eventId = ulid(fixture.clock.now());
    const context = contextFor(fixture.db, { tenantId, sql, nowMs: fixture.clock.now() });
    await fixture.events.recorder.record(context, "secret.created", "s", {}, tenantId, eventId);
    // The event was sent without waiting for it. After this statement it is stored.
    await sql`select`;
    begun.resolve(eventId);
    await early.promise;
  });
  const lateId = await begun.promise;
  const others = [await fixture.publish(tenantId), await fixture.publish(tenantId)];
  await follower.follow(tenantId);
  assert.deepEqual(await deliveredTo(id), [], "what stands behind a transaction under way waits for it");
  early.resolve();
  await late;
  await followToEnd(tenantId);
  assert.deepEqual(await deliveredTo(id), [lateId, ...others].sort());
});

test("an endpoint gets an event whose transaction started before and committed after its creation", async () => {
  const tenantId = await fixture.tenant();
  await fixture.endpoint(tenantId, url);
  const created = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<string>();
  const spanning = fixture.db.transaction(async (sql) => {
    const eventId = ulid(fixture.clock.now());
    const context = contextFor(fixture.db, { tenantId, sql, nowMs: fixture.clock.now() });
    await fixture.events.recorder.record(context, "secret.created", "s", {}, tenantId, eventId);
    // The event was sent without waiting for it. After this statement it is stored.
    await sql`select`;
    begun.resolve(eventId);
    await created.promise;
  });
  const eventId = await begun.promise;
  const { id } = await fixture.endpoint(tenantId, url);
  created.resolve();
  await spanning;
  await followToEnd(tenantId);
  assert.deepEqual(await deliveredTo(id), [eventId]);
});

test("events during a disabled period are not delivered after the endpoint is enabled again", async () => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, url, { eventTypes: ["order.*"] });
  const before = await fixture.publish(tenantId);
  await followToEnd(tenantId);
  await setStatus(tenantId, id, EndpointStatus.DISABLED);
  for (let i = 0; i < 3; i++) await fixture.publish(tenantId);
  await setStatus(tenantId, id, EndpointStatus.ACTIVE);
  const after = await fixture.publish(tenantId);
  await followToEnd(tenantId);
  assert.deepEqual(await deliveredTo(id), [before, after]);
});

test("a tenant's events go to its own endpoints only", async () => {
  const [one, other] = [await fixture.tenant(), await fixture.tenant()];
  const mine = await fixture.endpoint(one, url);
  const theirs = await fixture.endpoint(other, url);
  const eventId = await fixture.publish(one);
  await followToEnd(one);
  await followToEnd(other);
  assert.deepEqual(await deliveredTo(mine.id), [eventId]);
  assert.deepEqual(await deliveredTo(theirs.id), []);
});

test("endpoints created during concurrent events each get exactly the events committed after their creation", async () => {
  const tenantId = await fixture.tenant();
  await fixture.endpoint(tenantId, url, { eventTypes: ["webhook.none"] });
  /** Events in the order of their responses, with the number of endpoints that were there when they began. */
  const published: { eventId: string; endpoints: number }[] = [];
  let pouring = true;
  const pour = async () => {
    while (pouring) {
      const endpoints = created.length;
      published.push({ eventId: await fixture.publish(tenantId), endpoints });
    }
  };
  const follow = async () => {
    while (pouring) await follower.follow(tenantId);
  };
  const created: { id: string; acknowledged: number }[] = [];
  const background = [pour(), pour(), pour(), follow(), follow()];
  for (let i = 0; i < 15; i++) {
    const acknowledged = published.length;
    const { id } = await fixture.endpoint(tenantId, url, { eventTypes: ["order.*"] });
    created.push({ id, acknowledged });
  }
  await until(() => published.filter(({ endpoints }) => endpoints === created.length).length > 20);
  pouring = false;
  await Promise.all(background);
  await followToEnd(tenantId);
  for (const [nth, { id, acknowledged }] of created.entries()) {
    const got = new Set(await deliveredTo(id));
    for (const [at, { eventId, endpoints }] of published.entries()) {
      if (at < acknowledged) assert.ok(!got.has(eventId), "known before the endpoint was asked for");
      if (endpoints > nth) assert.ok(got.has(eventId), "begun after the endpoint was there");
    }
  }
});
