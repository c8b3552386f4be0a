import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { type TestContext, test } from "node:test";
import { create, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  GetEventRequestSchema,
  ListEventsRequestSchema,
  PublishEventRequestSchema,
  type PublishEventResponse,
  SubscribeEventsRequestSchema,
} from "../../../../gen/service/api/event_pb.ts";
import {
  type ContextChoice,
  contextFor,
  failsWith,
  freshTenant,
  perform,
  testDatabase,
} from "../../../../test/harness/context.ts";
import { until } from "../../../../test/harness/until.ts";
import type { OwnCommitHandler } from "../../../chain/call.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Signals } from "../../../platform/db/index.ts";
import { type IdempotencyRecord, readStoredResponse } from "../../../platform/idempotency/index.ts";
import { lowestUlid } from "../../../platform/ids/ulid.ts";
import { eventTypes, reservedFamilies } from "./domain/event-types.ts";
import { createEvents } from "./index.ts";

const db = await testDatabase(20);
const listeners = new Set<() => void>();
const signals: Signals = {
  wake: () => {
    for (const listener of listeners) listener();
  },
  onWake(_topic, listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  onWakeUnder: () => () => {},
  onDue: () => () => {},
  start: async () => {},
  stop: async () => {},
};
const clock = { now: () => Date.now() };
const parts = { db, signals, clock, platformTenantId: () => "" };
const { handlers, recorder, jobs } = createEvents({ ...parts, retentionDays: 30, tenantSettingsEnabled: true });

type Published = MessageInitShape<typeof PublishEventRequestSchema>;

async function publish(tenantId: TenantId, request: Published, key?: string) {
  const context = contextFor(db, { tenantId });
  const { ownCommit } = handlers.publishEvent as OwnCommitHandler;
  const message = create(PublishEventRequestSchema, { type: "order.paid", ...request });
  const claim = { tenantId, principal: "key:test", operation: "PublishEvent", key: key!, createdAt: new Date() };
  let record: IdempotencyRecord | undefined;
  const keep = (response: Message) => {
    record = { ...claim, fingerprint: Buffer.from("f"), response: (response as PublishEventResponse).event!.id };
    return record;
  };
  const answer = await ownCommit(
    context,
    message,
    key === undefined ? undefined : { claim: { ...claim, fingerprint: Buffer.from("f") }, record: keep },
  );
  const outcome = answer === "duplicate" ? "duplicate" : "committed";
  return { event: (answer as PublishEventResponse).event!, claim: record!, outcome };
}
const list = (choice: ContextChoice, request: MessageInitShape<typeof ListEventsRequestSchema> = {}) =>
  perform(db, choice, handlers.listEvents, ListEventsRequestSchema, request);
const idsOf = async (tenantId: TenantId, request: MessageInitShape<typeof ListEventsRequestSchema> = {}) =>
  (await list({ tenantId }, request)).events.map((event) => event.id);

type Subscription = MessageInitShape<typeof SubscribeEventsRequestSchema>;
const subscribe = (choice: ContextChoice, request: Subscription) =>
  handlers.subscribeEvents(contextFor(db, choice), create(SubscribeEventsRequestSchema, request));

/** Follows a tenant's log in the background. */
function follow(t: TestContext, tenantId: TenantId, request: Subscription = {}) {
  const leaving = new AbortController();
  const seen: string[] = [];
  const ended = (async () => {
    for await (const { event } of await subscribe({ tenantId, signal: leaving.signal }, request)) seen.push(event!.id);
  })();
  // The next test starts after all followers have stopped.
  t.after(async () => {
    leaving.abort();
    await ended.catch(() => {});
  });
  return { seen, ended, leaving };
}
/** Resolves when the followers wait for a wake, and so have read up to the end. */
const waiting = (count = 1) => until(() => listeners.size >= count);

test("a published event can be read immediately, as CloudEvents 1.0, and only by its own tenant", async () => {
  const tenantId = freshTenant();
  const { event } = await publish(tenantId, { subject: "order-1", data: { amount: 42 } });
  const read = await perform(db, { tenantId }, handlers.getEvent, GetEventRequestSchema, { eventId: event.id });
  assert.deepEqual(read.event, event);
  assert.deepEqual(
    [event.specversion, event.type, event.source, event.subject, event.datacontenttype, event.data],
    ["1.0", "order.paid", "/custom", "order-1", "application/json", { amount: 42 }],
  );
  for (const [other, eventId] of [
    [freshTenant(), event.id],
    [tenantId, "nothing"],
    [tenantId, "\u0000"],
  ] as const) {
    const reading = perform(db, { tenantId: other }, handlers.getEvent, GetEventRequestSchema, { eventId });
    await assert.rejects(
      reading,
      (error) => failsWith("NOT_FOUND")(error) || (error as { code: string }).code === "22021",
    );
  }
});

test("types of reserved families cannot be published, and all types of the service are in a reserved family", async () => {
  for (const type of [...Object.keys(eventTypes), "tenant.renamed", "api_key.x.y"]) {
    await assert.rejects(publish(freshTenant(), { type }), failsWith("INVALID_ARGUMENT", /type: must not start with/));
  }
  for (const type of ["tenants.created", "api.key", "order.tenant"]) {
    assert.equal((await publish(freshTenant(), { type })).outcome, "committed");
  }
  assert.deepEqual([...reservedFamilies].sort(), [
    "admission",
    "anomaly",
    "api_key",
    "billing",
    "browser_session",
    "config",
    "conformance",
    "connect_session",
    "connection",
    "connector",
    "dead_letter",
    "entitlement",
    "environment",
    "evidence",
    "experiment",
    "group_roles",
    "integration",
    "layout",
    "login_link",
    "marketplace",
    "member",
    "notification",
    "pool",
    "promotion",
    "provider_config",
    "queue",
    "recipient",
    "route",
    "rule",
    "schedule",
    "scim_group",
    "scim_user",
    "secret",
    "sso_connection",
    "subscriber",
    "tenant",
    "topic",
    "webhook",
    "workflow",
  ]);
});

test("data of more than 64 KiB, counted in bytes, is rejected", async () => {
  const sized = (text: string) => ({ data: { text } });
  const overhead = '{"text":""}'.length;
  await publish(freshTenant(), sized("x".repeat(65_536 - overhead)));
  await assert.rejects(
    publish(freshTenant(), sized("x".repeat(65_537 - overhead))),
    failsWith("INVALID_ARGUMENT", /data/),
  );
  await assert.rejects(publish(freshTenant(), sized("€".repeat(30_000))), failsWith("INVALID_ARGUMENT", /data/));
});

test("concurrently published events are all stored, and each call gets its own response", async () => {
  const tenantId = freshTenant();
  const published = await Promise.all(Array.from({ length: 600 }, (_, n) => publish(tenantId, { subject: `${n}` })));
  const rows = await db.sql`select id, subject from events where tenant_id = ${tenantId} order by id`;
  assert.deepEqual(
    rows.map((row) => [row.id, row.subject]),
    published.map(({ event }) => [event.id, event.subject]),
  );
});

test("an event and its idempotency key are stored together; repeats, in one batch or later, get the first response", async () => {
  const tenantId = freshTenant();
  const copies = await Promise.all(Array.from({ length: 30 }, () => publish(tenantId, {}, "once")));
  copies.push(await publish(tenantId, {}, "once"));
  const committed = copies.filter(({ outcome }) => outcome === "committed");
  assert.equal(committed.length, 1);
  assert.deepEqual(await idsOf(tenantId), [committed[0]!.event.id]);
  assert.equal(await readStoredResponse(db.sql, copies[7]!.claim), committed[0]!.event.id);
});

test("an event that cannot be stored fails alone, and its key is not stored", async () => {
  const tenantId = freshTenant();
  const outcomes = await Promise.allSettled([
    publish(tenantId, { subject: "good" }, "a"),
    publish(tenantId, { subject: "bad\u0000" }, "b"),
    publish(tenantId, { subject: "good too" }),
    publish(tenantId, { data: { text: "bad \u0000 too" } }, "c"),
  ]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled", "rejected"],
  );
  const keys = await db.sql`select key from idempotency_records where tenant_id = ${tenantId}`;
  assert.deepEqual([...keys], [{ key: "a" }]);
});

test("a list is filtered by type, family, subject and time, newest first", async () => {
  const tenantId = freshTenant();
  const at = (minute: number) => timestampFromDate(new Date(Date.UTC(2024, 0, 1, 0, minute)));
  const publishAt = async (type: string, subject: string, minute: number) =>
    (await publish(tenantId, { type, subject, time: at(minute) })).event.id;
  const paid = await publishAt("order.paid", "1", 1);
  const shipped = await publishAt("order.shipped", "1", 2);
  const partly = await publishAt("order.shipped.partly", "2", 3);
  const lookalike = await publishAt("orders.paid", "1", 4);
  const underscored = await publishAt("order_x.paid", "2", 5);
  const unlike = await publishAt("orderax.paid", "3", 6);
  const cases: [MessageInitShape<typeof ListEventsRequestSchema>, string[]][] = [
    [{}, [unlike, underscored, lookalike, partly, shipped, paid]],
    [{ types: ["order.paid"] }, [paid]],
    [{ types: ["order.*"] }, [partly, shipped, paid]],
    [{ types: ["order.shipped.*"] }, [partly]],
    [{ types: ["order.shipped", "orders.*"] }, [lookalike, shipped]],
    // An underscore is a literal character, not a wildcard.
    [{ types: ["order_x.*"] }, [underscored]],
    [{ types: ["order_x.paid"] }, [underscored]],
    [{ types: ["order_paid"] }, []],
    [{ subject: "1" }, [lookalike, shipped, paid]],
    [{ subject: "1", types: ["order.*"] }, [shipped, paid]],
    [{ since: at(2), until: at(4) }, [partly, shipped]],
    [{ since: at(4), until: at(4) }, []],
    [{ types: ["nothing.here"] }, []],
  ];
  for (const [request, expected] of cases) assert.deepEqual(await idsOf(tenantId, request), expected);
  assert.equal(timestampDate((await list({ tenantId })).events[0]!.time!).getUTCMinutes(), 6);
  assert.deepEqual(await idsOf(freshTenant()), []);
});

test("a cursor is rejected for another filter, including times", async () => {
  const tenantId = freshTenant();
  for (let n = 0; n < 3; n++) await publish(tenantId, {});
  const since = timestampFromDate(new Date(0));
  const { nextPageToken: pageToken } = await list({ tenantId }, { since, pageSize: 1 });
  assert.equal((await list({ tenantId }, { since, pageToken })).events.length, 2);
  const others = [{}, { since: timestampFromDate(new Date(1)) }, { since, until: since }, { since, subject: "x" }];
  for (const other of others) {
    await assert.rejects(list({ tenantId }, { ...other, pageToken }), failsWith("INVALID_ARGUMENT", /page_token/));
  }
});

test("a reader gets events from now on, or all events after its cursor", async (t) => {
  const tenantId = freshTenant();
  const first = (await publish(tenantId, {})).event.id;
  const second = (await publish(tenantId, {})).event.id;
  const fresh = follow(t, tenantId);
  const resumed = follow(t, tenantId, { cursor: first });
  await waiting(2);
  const third = (await publish(tenantId, {})).event.id;
  await publish(freshTenant(), {});
  await until(() => fresh.seen.length >= 1 && resumed.seen.length >= 2);
  assert.deepEqual([fresh.seen, resumed.seen], [[third], [second, third]]);
});

test("a reader that starts during an older transaction gets no event that was already committed", async (t) => {
  const tenantId = freshTenant();
  const { promise: end, resolve: finish } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const older = db.transaction(async (tx) => {
    await tx`select current_stamp()`;
    begin();
    await end;
  });
  await begun;
  await publish(tenantId, {});
  const { seen } = follow(t, tenantId);
  await waiting();
  const next = (await publish(tenantId, {})).event.id;
  finish();
  await older;
  await until(() => seen.length >= 1);
  assert.deepEqual(seen, [next]);
});

test("a reader gets the requested types and subject, and can continue after them", async (t) => {
  const tenantId = freshTenant();
  const { seen } = follow(t, tenantId, { types: ["order.*"], subject: "1" });
  await waiting();
  const wanted = [
    (await publish(tenantId, { subject: "1" })).event.id,
    (await publish(tenantId, { subject: "1", type: "order.shipped" })).event.id,
  ];
  await publish(tenantId, { subject: "2" });
  await publish(tenantId, { subject: "1", type: "invoice.paid" });
  wanted.push((await publish(tenantId, { subject: "1" })).event.id);
  await until(() => seen.length >= 3);
  assert.deepEqual(seen, wanted);
});

test("a reader that is far behind catches up without gaps or duplicates", async (t) => {
  const tenantId = freshTenant();
  const start = (await publish(tenantId, {})).event.id;
  await Promise.all(Array.from({ length: 1001 }, () => publish(tenantId, {})));
  const { seen } = follow(t, tenantId, { cursor: start });
  await until(() => seen.length >= 1001);
  const rows = await db.sql`select id from events where tenant_id = ${tenantId} and id <> ${start} order by stamp, id`;
  assert.deepEqual(
    seen,
    rows.map((row) => row.id),
  );
});

test("a cursor that is not an event of the tenant is rejected", async () => {
  const { event } = await publish(freshTenant(), {});
  for (const cursor of [event.id, "nothing"]) {
    await assert.rejects(subscribe({}, { cursor }), failsWith("INVALID_ARGUMENT", /cursor/));
  }
});

test("an event of another module appears in the log when its transaction commits, and only then", async (t) => {
  const tenantId = freshTenant();
  const { seen } = follow(t, tenantId);
  await waiting();
  const record = (tx: typeof db.sql) =>
    recorder.record({ tenantId, sql: tx, nowMs: Date.now() }, "environment.created", "e1", { key: "lab" });
  await assert.rejects(
    db.transaction(async (tx) => {
      await record(tx);
      throw new Error("undone");
    }),
    /undone/,
  );
  await db.transaction(record);
  await until(() => seen.length >= 1);
  const { events } = await list({ tenantId });
  assert.deepEqual([events.length, events[0]!.type, events[0]!.source], [1, "environment.created", "/environment"]);
});

test("recording events wakes the readers of their logs after the commit, and nobody after a rollback", async (t) => {
  const [one, other] = [freshTenant(), freshTenant()];
  const woken: string[] = [];
  t.mock.method(signals, "wake", (topic: string) => woken.push(topic));
  const record = async (tx: typeof db.sql) => {
    const entry = { type: "environment.created", subject: "e1", data: { key: "lab" } } as const;
    const entries = [one, other, one].map((tenantId) => ({ tenantId, ...entry }));
    await recorder.recordMany(tx, entries, Date.now());
    assert.deepEqual(woken, []);
  };
  await assert.rejects(
    db.transaction(async (tx) => {
      await record(tx);
      throw new Error("undone");
    }),
    /undone/,
  );
  await db.transaction(record);
  assert.deepEqual(woken, [`events:${one}`, `events:${other}`]);
});

test("a reader that disconnects ends its stream and leaks nothing, however long it was connected", async (t) => {
  const tenantId = freshTenant();
  const before = listeners.size;
  const { seen, ended, leaving } = follow(t, tenantId);
  await waiting(before + 1);
  for (let n = 1; n <= 30; n++) {
    await publish(tenantId, {});
    await until(() => seen.length >= n);
  }
  assert.ok(getEventListeners(leaving.signal, "abort").length <= 1);
  leaving.abort();
  await ended;
  assert.equal(listeners.size, before);

  // A caller that stops reading early leaks nothing either.
  const stream = (await subscribe({ tenantId }, { cursor: seen[0]! }))[Symbol.asyncIterator]();
  assert.equal((await stream.next()).value!.event!.id, seen[1]);
  await stream.return!(undefined);
  assert.equal(listeners.size, before);
});

test("only events older than their tenant's retention are deleted", async () => {
  const [usual, longer] = [freshTenant(), freshTenant()];
  const now = Date.now();
  for (const tenantId of [usual, longer]) {
    await db.sql`
      insert into tenants (id, name, slug, status, created_at, updated_at)
      values (${tenantId}, 'test', ${tenantId.toLowerCase()}, 'active', now(), now())`;
    for (const days of [100, 40, 29]) {
      // Retention depends on the time of recording, not on the event's `time`.
      await db.sql`
        insert into events (tenant_id, id, type, source, subject, time)
        values (${tenantId}, ${lowestUlid(now - days * 86_400_000)}, 'order.paid', '/custom', ${String(days)}, now())`;
    }
    await publish(tenantId, { subject: "ancient", time: timestampFromDate(new Date(0)) });
  }
  await db.sql`
    insert into config_values (tenant_id, key, value, updated_by, updated_at)
    values (${longer}, 'events.retention_days', '90', 'test', now())`;
  const left = async (tenantId: TenantId) => (await list({ tenantId })).events.map((event) => event.subject);
  const job = { tenantId: "", id: "", payload: {}, attempt: 1, signal: new AbortController().signal };
  await jobs[0]!.handler(job);
  assert.deepEqual(
    [await left(usual), await left(longer)],
    [
      ["ancient", "29"],
      ["ancient", "29", "40"],
    ],
  );
  // When tenants cannot change settings, their stored values are not effective.
  const [without] = createEvents({ ...parts, retentionDays: 30, tenantSettingsEnabled: false }).jobs;
  await without!.handler(job);
  assert.deepEqual(await left(longer), ["ancient", "29"]);
});
