import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  DeleteEndpointRequestSchema,
  DeleteSubscriberRequestSchema,
  ListEndpointsRequestSchema,
  UpsertEndpointRequestSchema,
  UpsertSubscriberRequestSchema,
} from "../../../../gen/service/api/subscriber_pb.ts";
import { untilBlocked } from "../../../../test/harness/blocked-statements.ts";
import {
  type ContextChoice,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { notFound } from "../../../platform/db/index.ts";
import { endpointsMax } from "./domain/endpoint.ts";
import { createSubscribers } from "./index.ts";

const db = await testDatabase(20);
const events = recordedEvents();
const connections = new Set<string>();
const subscribers = createSubscribers({
  events,
  async checkConnection({ tenantId }, id) {
    if (!connections.has(`${tenantId} ${id}`)) throw notFound("connection");
  },
});
const { handlers } = subscribers;

async function newSubscriber(choice: ContextChoice, externalId = "ada"): Promise<string> {
  const request = { externalId };
  return (await perform(db, choice, handlers.upsertSubscriber, UpsertSubscriberRequestSchema, request)).subscriber!.id;
}
async function add(choice: ContextChoice, subscriberId: string, request: object = {}) {
  const message = { subscriberId, channel: "email", identity: "ada@example.com", ...request };
  return (await perform(db, choice, handlers.upsertEndpoint, UpsertEndpointRequestSchema, message)).endpoint!;
}
async function remove(choice: ContextChoice, subscriberId: string, endpointId: string) {
  const message = { subscriberId, endpointId };
  return (await perform(db, choice, handlers.deleteEndpoint, DeleteEndpointRequestSchema, message)).endpoint!;
}
const list = (choice: ContextChoice, subscriberId: string, request: object = {}) =>
  perform(db, choice, handlers.listEndpoints, ListEndpointsRequestSchema, { subscriberId, ...request });
const eventsOf = (tenantId: string) =>
  events.recorded.filter((event) => event.tenantId === tenantId && event.type.startsWith("subscriber.endpoint."));

test("an endpoint is added unverified with the default provider, and no event contains its address", async () => {
  const tenantId = freshTenant();
  const subscriberId = await newSubscriber({ tenantId });
  const endpoint = await add({ tenantId }, subscriberId);
  assert.deepEqual(
    [endpoint.channel, endpoint.providerKey, endpoint.identity, endpoint.connectionId, endpoint.verified],
    ["email", "default", "ada@example.com", "", false],
  );
  assert.deepEqual([endpoint.metadata, endpoint.suppressedAt, endpoint.recordVersion], [{}, undefined, 1n]);
  const data = { endpoint_id: endpoint.id, channel: "email", provider_key: "default" };
  assert.deepEqual(eventsOf(tenantId), [{ tenantId, type: "subscriber.endpoint.added", subject: subscriberId, data }]);
  assert.ok(!JSON.stringify(events.recorded).includes("ada@example.com"));
});

test("adding an endpoint again updates its last use and leaves absent fields unchanged", async () => {
  const tenantId = freshTenant();
  const subscriberId = await newSubscriber({ tenantId });
  const details = { verified: true, metadata: { device: "phone" } };
  const first = await add({ tenantId, nowMs: 1_000_000_000_000 }, subscriberId, details);
  const again = await add({ tenantId, nowMs: 1_000_000_005_000 }, subscriberId);
  assert.equal(timestampMs(first.lastUsedAt!), 1_000_000_000_000);
  assert.equal(timestampMs(again.lastUsedAt!), 1_000_000_005_000);
  assert.deepEqual({ ...again, lastUsedAt: first.lastUsedAt }, first);
  assert.equal(eventsOf(tenantId).length, 1);
});

test("adding an endpoint again with new values updates them, and the event names the fields", async () => {
  const tenantId = freshTenant();
  const subscriberId = await newSubscriber({ tenantId });
  const { id } = await add({ tenantId }, subscriberId, { metadata: { device: "phone" } });
  const changed = await add({ tenantId }, subscriberId, { verified: true, metadata: { device: "phone" } });
  assert.deepEqual([changed.id, changed.verified, changed.recordVersion], [id, true, 2n]);
  assert.deepEqual(eventsOf(tenantId).at(-1)!.data, { endpoint_id: id, channel: "email", fields: ["verified"] });
  assert.equal((await add({ tenantId }, subscriberId, { verified: false })).verified, false);
});

test("the same identity with another channel, provider or tenant is another endpoint", async () => {
  const tenantId = freshTenant();
  const subscriberId = await newSubscriber({ tenantId });
  const identity = "token-1";
  await add({ tenantId }, subscriberId, { channel: "push", identity });
  await add({ tenantId }, subscriberId, { channel: "push", providerKey: "fcm", identity });
  await add({ tenantId }, subscriberId, { channel: "chat", identity });
  const other = { tenantId: freshTenant() };
  await add(other, await newSubscriber(other), { channel: "push", identity });
  assert.equal((await list({ tenantId }, subscriberId)).totalSize, 3);
});

test("another subscriber's address is refused, even if that subscriber is inactive, until it is deleted there", async () => {
  const choice = { tenantId: freshTenant() };
  const ada = await newSubscriber(choice, "ada");
  const bob = await newSubscriber(choice, "bob");
  const { id } = await add(choice, ada);
  const taken = failsWith("ALREADY_EXISTS", /^identity: is already the address of another subscriber/);
  await assert.rejects(add(choice, bob), taken);
  await perform(db, choice, handlers.deleteSubscriber, DeleteSubscriberRequestSchema, { id: ada });
  await assert.rejects(add(choice, bob), taken);
  assert.equal((await list(choice, ada)).endpoints[0]!.id, id);
  await remove(choice, ada, id);
  assert.equal((await add(choice, bob)).subscriberId, bob);
});

/** Suppresses an endpoint as a provider's report does. */
async function suppress(tenantId: TenantId, endpointId: string, nowMs: number): Promise<void> {
  const cause = { reason: "bounced", deliveryId: "", providerKey: "" } as const;
  const address = { endpointId, subscriberId: "", channel: "email", used: { at: new Date(nowMs) }, ...cause } as const;
  await subscribers.suppress(db.sql, tenantId, [address], nowMs);
}

test("a deleted endpoint is not listed or found, and adding its address creates a new endpoint", async () => {
  const choice = { tenantId: freshTenant() };
  const subscriberId = await newSubscriber(choice);
  const { id } = await add(choice, subscriberId, { verified: true });
  const removed = await remove(choice, subscriberId, id);
  assert.equal(removed.id, id);
  assert.equal((await list(choice, subscriberId)).totalSize, 0);
  await assert.rejects(remove(choice, subscriberId, id), failsWith("NOT_FOUND", /^No such endpoint\.$/));
  const anew = await add(choice, subscriberId);
  assert.notEqual(anew.id, id);
  assert.deepEqual([anew.verified, anew.suppressedAt], [false, undefined]);
  assert.deepEqual(
    eventsOf(choice.tenantId).map(({ type }) => type.split(".").at(-1)),
    ["added", "removed", "added"],
  );
});

test("a push token that a provider did not reach is used again when its device registers it again", async () => {
  const choice = { tenantId: freshTenant() };
  const subscriberId = await newSubscriber(choice);
  const device = { channel: "push", providerKey: "fcm", identity: "token-1" };
  const { id } = await add(choice, subscriberId, device);
  await suppress(choice.tenantId, id, Date.now());
  const suppressed = (await list(choice, subscriberId)).endpoints[0]!.suppressedAt;
  assert.ok(suppressed);
  assert.equal((await add(choice, subscriberId, device)).suppressedAt, undefined);
});

test("a suppressed endpoint stays suppressed from the first time, even when it is added again", async () => {
  const choice = { tenantId: freshTenant() };
  const subscriberId = await newSubscriber(choice);
  const { id } = await add(choice, subscriberId);
  await suppress(freshTenant(), id, 1_000_000_000_000);
  assert.equal((await add(choice, subscriberId)).suppressedAt, undefined);
  await suppress(choice.tenantId, id, 1_000_000_000_000);
  await suppress(choice.tenantId, id, 1_000_000_009_000);
  assert.equal(timestampMs((await add(choice, subscriberId)).suppressedAt!), 1_000_000_000_000);
});

test("an address must be valid for its channel", async () => {
  const choice = { tenantId: freshTenant() };
  const subscriberId = await newSubscriber(choice);
  const bad = failsWith("INVALID_ARGUMENT", /^identity: /);
  await assert.rejects(add(choice, subscriberId, { channel: "email", identity: "nobody" }), bad);
  await assert.rejects(add(choice, subscriberId, { channel: "sms", identity: "0301234567" }), bad);
  const metadata = { text: "x".repeat(16_384) };
  await assert.rejects(add(choice, subscriberId, { metadata }), failsWith("INVALID_ARGUMENT", /^metadata: /));
  assert.equal((await list(choice, subscriberId)).totalSize, 0);
  await add(choice, subscriberId, { channel: "sms", identity: "+49301234567" });
  // The maximum length, and hard to compress.
  await add(choice, subscriberId, { channel: "push", identity: randomBytes(1024).toString("hex") });
});

test("an endpoint can only be pinned to a connection of its own tenant", async () => {
  const choice = { tenantId: freshTenant() };
  const subscriberId = await newSubscriber(choice);
  connections.add(`${choice.tenantId} mine`).add(`${freshTenant()} theirs`);
  const none = failsWith("NOT_FOUND", /^No such connection\.$/);
  await assert.rejects(add(choice, subscriberId, { connectionId: "theirs" }), none);
  assert.equal((await list(choice, subscriberId)).totalSize, 0);
  assert.equal((await add(choice, subscriberId, { connectionId: "mine" })).connectionId, "mine");
  assert.equal((await add(choice, subscriberId)).connectionId, "mine");
  assert.equal((await add(choice, subscriberId, { connectionId: "" })).connectionId, "");
});

test("another tenant's subscriber and another subscriber's endpoint are not found", async () => {
  const choice = { tenantId: freshTenant() };
  const other = { tenantId: freshTenant() };
  const ada = await newSubscriber(choice);
  const bob = await newSubscriber(choice, "bob");
  const { id } = await add(choice, ada);
  const none = failsWith("NOT_FOUND", /^No such subscriber\.$/);
  await assert.rejects(add(other, ada), none);
  await assert.rejects(list(other, ada), none);
  await assert.rejects(remove(other, ada, id), none);
  await assert.rejects(remove(choice, bob, id), failsWith("NOT_FOUND", /^No such endpoint\.$/));
  assert.equal((await list(choice, ada)).totalSize, 1);
});

test("endpoints are listed oldest first, in pages, and by channel", async () => {
  const choice = { tenantId: freshTenant() };
  const subscriberId = await newSubscriber(choice);
  for (const identity of ["a", "b", "c"]) await add(choice, subscriberId, { channel: "push", identity });
  await add(choice, subscriberId, { channel: "in_app", identity: "inbox" });
  const first = await list(choice, subscriberId, { pageSize: 2, channel: "push" });
  const second = await list(choice, subscriberId, { pageSize: 2, channel: "push", pageToken: first.nextPageToken });
  assert.deepEqual(
    [...first.endpoints, ...second.endpoints].map(({ identity }) => identity),
    ["a", "b", "c"],
  );
  assert.deepEqual([first.totalSize, second.nextPageToken], [3, ""]);
  const wrong = list(choice, subscriberId, { channel: "in_app", pageToken: first.nextPageToken });
  await assert.rejects(wrong, failsWith("INVALID_ARGUMENT", /page_token/));
});

test("one address added concurrently by many subscribers belongs to one of them", async () => {
  const choice = { tenantId: freshTenant() };
  const ids = await Promise.all(Array.from({ length: 12 }, (_, i) => newSubscriber(choice, `s${i}`)));
  const outcomes = await Promise.allSettled(ids.map((id) => add(choice, id)));
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") assert.ok(failsWith("ALREADY_EXISTS")(outcome.reason), String(outcome.reason));
  }
  assert.equal(eventsOf(choice.tenantId).length, 1);
});

test("a subscriber cannot exceed the limit of endpoints, even with concurrent calls", async () => {
  const choice = { tenantId: freshTenant() };
  const subscriberId = await newSubscriber(choice);
  for (let i = 0; i < endpointsMax - 2; i++) await add(choice, subscriberId, { channel: "push", identity: `t${i}` });
  const late = Array.from({ length: 8 }, (_, i) =>
    add(choice, subscriberId, { channel: "push", identity: `late${i}` }),
  );
  const outcomes = await Promise.allSettled(late);
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 2);
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") assert.ok(failsWith("FAILED_PRECONDITION", /at most 100/)(outcome.reason));
  }
  // Existing endpoints can still be refreshed.
  await add(choice, subscriberId, { channel: "push", identity: "t0" });
});

test("other modules read the endpoints of many subscribers by channel, without deleted or foreign ones", async () => {
  const choice = { tenantId: freshTenant() };
  const other = { tenantId: freshTenant() };
  const ada = await newSubscriber(choice, "ada");
  const bob = await newSubscriber(choice, "bob");
  const eve = await newSubscriber(choice, "eve");
  const foreign = await newSubscriber(other);
  await add(choice, ada, { channel: "push", identity: "a1" });
  const deleted = await add(choice, ada, { channel: "push", identity: "a2" });
  await add(choice, ada, { channel: "email", identity: "ada@example.com" });
  await add(choice, bob, { channel: "push", identity: "b1" });
  await add(other, foreign, { channel: "push", identity: "f1" });
  await remove(choice, ada, deleted.id);
  const reached = async (channels?: readonly ("push" | "email" | "sms")[]) => {
    const found = await subscribers.endpointsOf(db.sql, choice.tenantId, [ada, bob, eve, foreign], channels);
    return [ada, bob, eve, foreign].map((id) => found.get(id)!.map(({ identity }) => identity));
  };
  assert.deepEqual(await reached(), [["a1", "ada@example.com"], ["b1"], [], []]);
  assert.deepEqual(await reached(["push"]), [["a1"], ["b1"], [], []]);
  assert.deepEqual(await reached(["email", "sms"]), [["ada@example.com"], [], [], []]);
  assert.deepEqual(await reached([]), [[], [], [], []]);
});

test("an endpoint that another subscriber takes over while it is refreshed is refused as taken", async () => {
  const tenantId = freshTenant();
  const ada = await newSubscriber({ tenantId });
  const { id } = await add({ tenantId }, ada);
  for (const change of [{}, { verified: true }]) {
    const removed = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const takingOver = db.transaction(async (tx) => {
      await tx`update notification_endpoints set removed_at = now() where tenant_id = ${tenantId} and id = ${id}`;
      removed.resolve();
      await mayCommit.promise;
    });
    await removed.promise;
    const refreshing = assert.rejects(add({ tenantId }, ada, change), failsWith("ALREADY_EXISTS", /^identity: /));
    await untilBlocked(db.sql, "update notification_endpoints");
    mayCommit.resolve();
    await Promise.all([takingOver, refreshing]);
    await db.sql`update notification_endpoints set removed_at = null where tenant_id = ${tenantId} and id = ${id}`;
  }
});
