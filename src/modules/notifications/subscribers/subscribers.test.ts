import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DeleteSubscriberRequestSchema,
  GetSubscriberRequestSchema,
  ListSubscribersRequestSchema,
  UpdateSubscriberRequestSchema,
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
import { createSubscribers } from "./index.ts";

const db = await testDatabase();
const events = recordedEvents();
const subscribers = createSubscribers({
  events,
  checkConnection: async () => {},
});
const { handlers } = subscribers;

async function upsert(choice: ContextChoice, request: object) {
  const message = { externalId: "ada", ...request };
  return (await perform(db, choice, handlers.upsertSubscriber, UpsertSubscriberRequestSchema, message)).subscriber!;
}
async function get(choice: ContextChoice, id: string) {
  return (await perform(db, choice, handlers.getSubscriber, GetSubscriberRequestSchema, { id })).subscriber!;
}
async function update(choice: ContextChoice, id: string, request: object = {}) {
  const message = { id, ...request };
  return (await perform(db, choice, handlers.updateSubscriber, UpdateSubscriberRequestSchema, message)).subscriber!;
}
async function remove(choice: ContextChoice, id: string) {
  return (await perform(db, choice, handlers.deleteSubscriber, DeleteSubscriberRequestSchema, { id })).subscriber!;
}
const list = (choice: ContextChoice, request: object = {}) =>
  perform(db, choice, handlers.listSubscribers, ListSubscribersRequestSchema, request);
const eventsOf = (tenantId: string) =>
  events.recorded.filter((event) => event.tenantId === tenantId).map(({ type, data }) => [type, data]);

const profile = {
  firstName: "Ada",
  lastName: "Lovelace",
  email: "ada@example.com",
  phone: "+442079460000",
  avatar: "https://example.com/ada.png",
  locale: "en-GB",
  timezone: "Europe/London",
  data: { plan: "pro", seats: 3, tags: ["a", { b: null }] },
};

function shown(subscriber: Awaited<ReturnType<typeof get>>) {
  const { firstName, lastName, email, phone, avatar, locale, timezone, data } = subscriber;
  return { firstName, lastName, email, phone, avatar, locale, timezone, data };
}

test("an upsert creates an active subscriber with all given fields, and a second upsert finds it", async () => {
  const choice = { tenantId: freshTenant() };
  const created = await upsert(choice, profile);
  assert.deepEqual(shown(created), profile);
  assert.deepEqual([created.externalId, created.active, created.recordVersion], ["ada", true, 1n]);
  assert.deepEqual(await get(choice, created.id), created);
  assert.equal((await upsert(choice, {})).id, created.id);
  assert.deepEqual(eventsOf(choice.tenantId), [["subscriber.created", { external_id: "ada" }]]);
});

test("an upsert sets present fields, clears empty ones, and leaves the rest unchanged", async () => {
  const choice = { tenantId: freshTenant() };
  await upsert(choice, profile);
  const changed = await upsert(choice, { lastName: "King", phone: "", data: { plan: "free" } });
  assert.deepEqual(shown(changed), { ...profile, lastName: "King", phone: "", data: { plan: "free" } });
  assert.equal(changed.recordVersion, 2n);
  const fields = ["last_name", "phone", "data"];
  assert.deepEqual(eventsOf(choice.tenantId).at(-1), ["subscriber.updated", { external_id: "ada", fields }]);
});

test("an upsert without changes writes nothing and records no event", async () => {
  const choice = { tenantId: freshTenant() };
  const created = await upsert(choice, profile);
  const eventCount = eventsOf(choice.tenantId).length;
  const again = await upsert(choice, { ...profile, data: { tags: ["a", { b: null }], seats: 3, plan: "pro" } });
  assert.deepEqual(again, created);
  assert.equal(eventsOf(choice.tenantId).length, eventCount);
});

test("a deleted subscriber is inactive, still found and listed, and an upsert makes it active again", async () => {
  const choice = { tenantId: freshTenant() };
  const created = await upsert(choice, profile);
  const deleted = await remove(choice, created.id);
  assert.deepEqual([deleted.active, shown(deleted)], [false, profile]);
  assert.deepEqual(await get(choice, created.id), deleted);
  assert.deepEqual((await list(choice)).subscribers, [deleted]);
  assert.deepEqual(await remove(choice, created.id), deleted);
  const back = await upsert(choice, {});
  assert.deepEqual([back.id, back.active, shown(back)], [created.id, true, profile]);
  assert.deepEqual(eventsOf(choice.tenantId), [
    ["subscriber.created", { external_id: "ada" }],
    ["subscriber.deactivated", { external_id: "ada" }],
    ["subscriber.updated", { external_id: "ada", fields: ["active"] }],
  ]);
});

test("an update replaces the whole profile, keeps the external id and does not activate a subscriber", async () => {
  const choice = { tenantId: freshTenant() };
  const { id } = await upsert(choice, profile);
  await remove(choice, id);
  const replaced = await update(choice, id, { firstName: "Augusta", email: "augusta@example.com" });
  const empty = { lastName: "", phone: "", avatar: "", locale: "", timezone: "", data: {} };
  assert.deepEqual(shown(replaced), { ...empty, firstName: "Augusta", email: "augusta@example.com" });
  assert.deepEqual([replaced.externalId, replaced.active, replaced.recordVersion], ["ada", false, 3n]);
  const stale = failsWith("VERSION_CONFLICT", /version 3/);
  await assert.rejects(update(choice, id, { firstName: "Late", recordVersion: 1n }), stale);
  assert.equal((await update(choice, id, { firstName: "Next", recordVersion: 3n })).firstName, "Next");
});

const refused: [field: string, value: unknown][] = [
  ["email", "nobody"],
  ["email", "a b@example.com"],
  ["phone", "030 901820"],
  ["phone", "+0301234567"],
  ["locale", "en_US"],
  ["locale", "not a language"],
  ["timezone", "Mars/Olympus"],
  ["timezone", "+02:00"],
  ["data", { text: "x".repeat(65_536) }],
];

for (const [field, value] of refused) {
  const shortValue = JSON.stringify(value).slice(0, 30);
  test(`${field} ${shortValue} is refused by name, and nothing changes`, async () => {
    const choice = { tenantId: freshTenant() };
    const named = failsWith("INVALID_ARGUMENT", new RegExp(`^${field}: `));
    await assert.rejects(upsert(choice, { [field]: value }), named);
    assert.equal((await list(choice)).totalSize, 0);
    const created = await upsert(choice, profile);
    await assert.rejects(upsert(choice, { [field]: value, firstName: "Other" }), named);
    await assert.rejects(update(choice, created.id, { [field]: value }), named);
    assert.deepEqual(await get(choice, created.id), created);
  });
}

test("common time zones, locales and telephone numbers are accepted", async () => {
  const choice = { tenantId: freshTenant() };
  const cases = [
    { timezone: "UTC", locale: "de", phone: "+4930901820" },
    { timezone: "America/Argentina/Ushuaia", locale: "zh-Hant-TW", email: "o'hara+news@mail.example" },
    { timezone: "Asia/Calcutta", locale: "sr-Latn-RS" },
  ];
  for (const each of cases) {
    const stored = shown(await upsert(choice, each));
    assert.deepEqual({ ...stored, ...each }, stored);
  }
});

test("another tenant's subscriber is not found, and its external id is free", async () => {
  const choice = { tenantId: freshTenant() };
  const other = { tenantId: freshTenant() };
  const created = await upsert(choice, profile);
  const none = failsWith("NOT_FOUND", /^No such subscriber\.$/);
  await assert.rejects(get(other, created.id), none);
  await assert.rejects(update(other, created.id), none);
  await assert.rejects(remove(other, created.id), none);
  assert.notEqual((await upsert(other, {})).id, created.id);
  assert.deepEqual(await get(choice, created.id), created);
});

test("subscribers are listed newest first, in pages, and by external id, email and activity", async () => {
  const choice = { tenantId: freshTenant() };
  await upsert({ tenantId: freshTenant() }, { ...profile, externalId: "c" });
  for (const externalId of ["a", "b", "c", "d"]) {
    await upsert(choice, {
      externalId,
      email: externalId === "b" ? "" : `${externalId === "d" ? "C" : externalId}@example.com`,
    });
  }
  const shownIn = async (request: object) =>
    (await list(choice, request)).subscribers.map((subscriber) => subscriber.externalId);
  const first = await list(choice, { pageSize: 3 });
  assert.deepEqual(
    [first.subscribers.map((subscriber) => subscriber.externalId), first.totalSize],
    [["d", "c", "b"], 4],
  );
  assert.deepEqual(await shownIn({ pageSize: 3, pageToken: first.nextPageToken }), ["a"]);
  await assert.rejects(list(choice, { pageToken: first.nextPageToken, active: true }), failsWith("INVALID_ARGUMENT"));
  await remove(choice, first.subscribers[1]!.id);
  assert.deepEqual(await shownIn({ externalId: "b" }), ["b"]);
  assert.deepEqual(await shownIn({ externalId: "B" }), []);
  assert.deepEqual(await shownIn({ email: "c@EXAMPLE.com" }), ["d", "c"]);
  assert.deepEqual(await shownIn({ email: "c@example.com", active: true }), ["d"]);
  assert.deepEqual(await shownIn({ active: false }), ["c"]);
});

test("concurrent upserts of one external id create one subscriber with all their fields", async () => {
  const choice = { tenantId: freshTenant() };
  const entries = Object.entries(profile);
  const many = await Promise.all(
    Array.from({ length: 24 }, (_, i) => upsert(choice, Object.fromEntries([entries[i % entries.length]!]))),
  );
  assert.equal(new Set(many.map(({ id }) => id)).size, 1);
  assert.deepEqual(shown(await get(choice, many[0]!.id)), profile);
  assert.equal(eventsOf(choice.tenantId).filter(([type]) => type === "subscriber.created").length, 1);
});

test("an upsert of a subscriber that another transaction is creating updates that subscriber", async () => {
  const tenantId = freshTenant();
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
  const { promise: hasCreated, resolve: markCreated } = Promise.withResolvers<void>();
  const first = db.transaction(async (sql) => {
    const context = { sql, tenantId, nowMs: Date.now() };
    const created = await subscribers.upsert(context, { externalId: "ada", firstName: "Ada", email: "a@example.com" });
    markCreated();
    await mayCommit;
    return created;
  });
  await hasCreated;
  const second = upsert({ tenantId }, { firstName: "Augusta", lastName: "King" });
  await untilBlocked(db.sql, "insert into notification_subscribers");
  commit();
  const { id, firstName, lastName, email } = await second;
  assert.deepEqual([id, firstName, lastName, email], [(await first).id, "Augusta", "King", "a@example.com"]);
});

test("other modules find subscribers by id, by external id and by either, and only their tenant's", async () => {
  const tenantId = freshTenant();
  const ada = await upsert({ tenantId }, profile);
  // Its external id equals the other subscriber's id.
  const eve = await upsert({ tenantId }, { externalId: ada.id });
  const foreign = await upsert({ tenantId: freshTenant() }, { externalId: "bob" });
  const { sql } = db;
  assert.equal((await subscribers.find(sql, tenantId, ada.id))?.externalId, "ada");
  assert.equal(await subscribers.find(sql, tenantId, foreign.id), undefined);
  assert.equal((await subscribers.findByExternalId(sql, tenantId, "ada"))?.id, ada.id);
  assert.equal(await subscribers.findByExternalId(sql, tenantId, "bob"), undefined);
  const found = await subscribers.findMany(sql, tenantId, [eve.id, foreign.id, ada.id, "nobody"]);
  assert.deepEqual([...found.keys()].sort(), [ada.id, eve.id].sort());
  assert.equal(found.get(ada.id)?.email, profile.email);
  const named = await subscribers.resolveIds(sql, tenantId, ["ada", ada.id, eve.id, foreign.id, "bob", "nobody"]);
  assert.deepEqual(
    named,
    new Map([
      ["ada", ada.id],
      [ada.id, ada.id],
      [eve.id, eve.id],
    ]),
  );
});

test("an upsert outside of a call is validated and records events like any other", async () => {
  const tenantId = freshTenant();
  const context = { sql: db.sql, tenantId, nowMs: Date.now() };
  const created = await subscribers.upsert(context, { externalId: "ada", firstName: "Ada", locale: undefined });
  assert.deepEqual([created.firstName, created.locale, created.active], ["Ada", "", true]);
  const bad = subscribers.upsert(context, { externalId: "ada", email: "nobody" });
  await assert.rejects(bad, failsWith("INVALID_ARGUMENT", /^email: /));
  assert.deepEqual(eventsOf(tenantId), [["subscriber.created", { external_id: "ada" }]]);
});

test("an upsert accepts a call context, whose sql is a getter", async () => {
  const tenantId = freshTenant();
  class CallContext {
    readonly tenantId = tenantId;
    readonly nowMs = Date.now();
    get sql() {
      return db.sql;
    }
  }
  const created = await subscribers.upsert(new CallContext(), { externalId: "ada" });
  assert.equal(created.externalId, "ada");
});
