import assert from "node:assert/strict";
import { test } from "node:test";
import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  BatchCreateRecipientsRequestSchema,
  DeleteRecipientRequestSchema,
  GetRecipientRequestSchema,
  ListRecipientsRequestSchema,
  RecipientDelivery_Mode as Mode,
  PauseRecipientRequestSchema,
  ResumeRecipientRequestSchema,
  Recipient_Status as Status,
  UpdateRecipientRequestSchema,
} from "../../../../../gen/service/api/recipient_pb.ts";
import { type ContextChoice, failsWith, perform } from "../../../../../test/harness/context.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { classifyDatabaseError, type Sql } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { createPoolFixture } from "../testing/pool-fixture.ts";

const {
  db,
  events,
  pools,
  handlers: all,
  newTenant,
  environmentId,
  createPool,
  createRecipient,
  putItem,
} = await createPoolFixture();
const handlers = all.recipients;

async function newPool() {
  const tenantId = await newTenant();
  return { tenantId, poolId: (await createPool({ tenantId })).id };
}
async function get(choice: ContextChoice, recipientId: string) {
  return (await perform(db, choice, handlers.getRecipient, GetRecipientRequestSchema, { recipientId })).recipient!;
}
async function update(choice: ContextChoice, recipientId: string, change: object) {
  const request = { recipientId, ...change };
  return (await perform(db, choice, handlers.updateRecipient, UpdateRecipientRequestSchema, request)).recipient!;
}
async function pause(choice: ContextChoice, recipientId: string, reason = "", forS = 0) {
  const request = { recipientId, reason, forS };
  return (await perform(db, choice, handlers.pauseRecipient, PauseRecipientRequestSchema, request)).recipient!;
}
async function resume(choice: ContextChoice, recipientId: string) {
  return (await perform(db, choice, handlers.resumeRecipient, ResumeRecipientRequestSchema, { recipientId }))
    .recipient!;
}
async function remove(choice: ContextChoice, recipientId: string) {
  return (await perform(db, choice, handlers.deleteRecipient, DeleteRecipientRequestSchema, { recipientId }))
    .recipient!;
}
async function batch(choice: ContextChoice, poolId: string, recipients: object[]) {
  const request = { poolId, recipients };
  const response = perform(db, choice, handlers.batchCreateRecipients, BatchCreateRecipientsRequestSchema, request);
  return (await response).recipients;
}
async function list(choice: ContextChoice, poolId: string, request: object = {}) {
  return perform(db, choice, handlers.listRecipients, ListRecipientsRequestSchema, { poolId, ...request });
}
async function insertState(
  tenantId: TenantId,
  poolId: string,
  recipientId: string,
  ejectedUntil: Date | null,
  at: Date,
) {
  await db.sql`
    insert into recipient_states (tenant_id, pool_id, recipient_id, ejected_until, last_assigned_at, updated_at)
    values (${tenantId}, ${poolId}, ${recipientId}, ${ejectedUntil}, ${at}, ${at})`;
}
const eventOf = (subject: string) => events.recorded.findLast((event) => event.subject === subject)!;

test("a new recipient is active with weight 100, unlimited capacity, pull delivery and nothing in flight", async () => {
  const { tenantId, poolId } = await newPool();
  const recipient = await createRecipient({ tenantId }, poolId, { name: "ada" });
  assert.deepEqual(
    [recipient.status, recipient.weight, recipient.capacity, recipient.priority, recipient.cost, recipient.inFlight],
    [Status.ACTIVE, 100, 0, 100, 0, 0],
  );
  assert.deepEqual([recipient.delivery!.mode, recipient.delivery!.url], [Mode.PULL, ""]);
  assert.deepEqual([recipient.attributes, recipient.skills], [{}, {}]);
  assert.deepEqual(recipient.availableSince, recipient.createdAt);
  assert.deepEqual(await get({ tenantId }, recipient.id), recipient);
  assert.deepEqual(eventOf(recipient.id), {
    tenantId,
    type: "recipient.created",
    subject: recipient.id,
    data: { pool_id: poolId, name: "ada" },
  });
});

test("a recipient stores all given values, including zero", async () => {
  const { tenantId, poolId } = await newPool();
  const given = {
    weight: 0,
    capacity: 3,
    priority: -1,
    cost: 1.5,
    attributes: { region: "eu", tags: ["a", { deep: true }], none: null },
    skills: { french: 5 },
    status: Status.PAUSED,
    delivery: { mode: Mode.PUSH, url: "https://example.com/work?x=1", secretRef: "signing" },
  };
  const { id } = await createRecipient({ tenantId }, poolId, given);
  const read = await get({ tenantId }, id);
  const { delivery, ...rest } = given;
  for (const [field, value] of Object.entries(rest)) assert.deepEqual(read[field as never], value, field);
  for (const [field, value] of Object.entries(delivery)) assert.equal(read.delivery![field as never], value, field);
});

test("a push without a URL, with credentials or with an invalid URL is rejected, and so are oversized attributes", async () => {
  const { tenantId, poolId } = await newPool();
  const { id } = await createRecipient({ tenantId }, poolId);
  const refusals: [object, RegExp][] = [
    [{ delivery: { mode: Mode.PUSH } }, /^delivery\.url: is required/],
    [{ delivery: { url: "ftp://example.com" } }, /^delivery\.url: /],
    [{ delivery: { mode: Mode.PUSH, url: "https://me:secret@example.com/" } }, /^delivery\.url: .*credentials/],
    [{ delivery: { mode: Mode.PUSH, url: "example" } }, /^delivery\.url: /],
    [{ attributes: { text: "x".repeat(16_385) } }, /^attributes: must have at most 16384 bytes/],
  ];
  for (const [given, text] of refusals) {
    await assert.rejects(createRecipient({ tenantId }, poolId, given), failsWith("INVALID_ARGUMENT", text));
    await assert.rejects(update({ tenantId }, id, given), failsWith("INVALID_ARGUMENT", text));
    const nested = new RegExp(`^recipients\\[1\\]\\.${text.source.slice(1)}`);
    await assert.rejects(
      batch({ tenantId }, poolId, [{ name: "fine" }, { name: "not", ...given }]),
      failsWith("INVALID_ARGUMENT", nested),
    );
  }
  assert.equal((await list({ tenantId }, poolId)).totalSize, 1);
});

test("an update changes only the fields present, and each delivery field separately", async () => {
  const { tenantId, poolId } = await newPool();
  const { id } = await createRecipient({ tenantId }, poolId, {
    skills: { french: 1 },
    attributes: { region: "eu" },
    delivery: { url: "https://example.com/" },
  });
  const changed = await update({ tenantId }, id, { weight: 0, delivery: { mode: Mode.PUSH }, recordVersion: 1n });
  assert.deepEqual([changed.weight, changed.capacity, changed.recordVersion], [0, 0, 2n]);
  assert.deepEqual([changed.delivery!.mode, changed.delivery!.url], [Mode.PUSH, "https://example.com/"]);
  assert.deepEqual([changed.skills, changed.attributes], [{ french: 1 }, { region: "eu" }]);
  assert.deepEqual(eventOf(id).data, { pool_id: poolId, fields: ["weight", "delivery"] });
  const cleared = await update({ tenantId }, id, { skillSet: { skills: {} }, attributes: {} });
  assert.deepEqual([cleared.skills, cleared.attributes], [{}, {}]);
  await assert.rejects(
    update({ tenantId }, id, { weight: 1, recordVersion: 1n }),
    failsWith("VERSION_CONFLICT", /version 3/),
  );
});

test("concurrent updates of different fields are all applied", async () => {
  const { tenantId, poolId } = await newPool();
  const { id } = await createRecipient({ tenantId }, poolId);
  await Promise.all([
    update({ tenantId }, id, { weight: 7 }),
    update({ tenantId }, id, { capacity: 8 }),
    update({ tenantId }, id, { delivery: { url: "https://example.com/" } }),
    update({ tenantId }, id, { delivery: { secretRef: "signing" } }),
  ]);
  const { weight, capacity, delivery } = await get({ tenantId }, id);
  assert.deepEqual([weight, capacity, delivery!.url, delivery!.secretRef], [7, 8, "https://example.com/", "signing"]);
});

test("pausing keeps items in flight; resuming restarts slow start; repeating either changes nothing", async () => {
  const { tenantId, poolId } = await newPool();
  const { id } = await createRecipient({ tenantId, nowMs: Date.parse("2025-01-01T00:00:00Z") }, poolId);
  await putItem(tenantId, poolId, ulid(Date.now()), "leased", id);
  const paused = await pause({ tenantId }, id);
  assert.deepEqual([paused.status, paused.inFlight, paused.recordVersion], [Status.PAUSED, 1, 2n]);
  assert.deepEqual(timestampDate(paused.availableSince!), new Date("2025-01-01T00:00:00Z"));
  assert.deepEqual(await pause({ tenantId }, id), paused);
  const resumedAt = new Date("2025-06-01T00:00:00Z");
  const resumed = await resume({ tenantId, nowMs: resumedAt.getTime() }, id);
  assert.deepEqual([resumed.status, timestampDate(resumed.availableSince!)], [Status.ACTIVE, resumedAt]);
  assert.deepEqual((await resume({ tenantId }, id)).availableSince, resumed.availableSince);
  const types = events.recorded.filter(({ subject }) => subject === id).map(({ type }) => type);
  assert.deepEqual(types, ["recipient.created", "recipient.paused", "recipient.resumed"]);
});

test("a paused recipient says who paused it, why and since when, whichever operation did", async () => {
  const { tenantId, poolId } = await newPool();
  const at = { tenantId, nowMs: Date.parse("2025-01-01T00:00:00Z") };
  const created = await createRecipient(at, poolId, { status: Status.PAUSED });
  const { id } = await createRecipient(at, poolId);
  assert.equal((await get(at, id)).pause, undefined);
  const paused = await pause(at, id, "on holiday");
  const { cause, reason, actor, since, until } = paused.pause!;
  assert.deepEqual([cause, reason, until], ["request", "on holiday", undefined]);
  assert.ok(actor !== "");
  assert.deepEqual(timestampDate(since!), new Date(at.nowMs));
  assert.deepEqual((await pause(at, id, "again")).pause, paused.pause, "a repeated pause changes nothing");
  assert.deepEqual([created.pause!.cause, created.pause!.actor], ["request", actor]);
  assert.equal((await resume(at, id)).pause, undefined);
  assert.equal((await update(at, id, { status: Status.PAUSED })).pause!.cause, "request");
  assert.equal((await update(at, id, { status: Status.OFFLINE })).pause, undefined);
  const listed = (await list(at, poolId)).recipients.map((each) => each.pause?.cause);
  assert.deepEqual(listed, ["request", undefined]);
});

test("an operator who pauses an automatically paused recipient takes over, so that it does not resume by itself", async () => {
  const { tenantId, poolId } = await newPool();
  const { id } = await createRecipient({ tenantId }, poolId);
  const nowMs = Date.now();
  const context = (sql: Sql) => ({ tenantId, sql, nowMs, afterCommit: () => {} });
  const until = new Date(nowMs + 1000);
  await db.transaction((tx) =>
    pools.pauseRecipients(context(tx), poolId, [{ recipientId: id, reason: "slow", anomalyId: ulid(nowMs), until }]),
  );
  const automatic = (await get({ tenantId }, id)).pause!;
  assert.deepEqual([automatic.cause, timestampDate(automatic.until!)], ["anomaly", until]);
  const own = (await pause({ tenantId }, id, "broken")).pause!;
  assert.deepEqual([own.cause, own.reason, own.until, own.anomalyId], ["request", "broken", undefined, ""]);
  const later = { ...context(db.sql), nowMs: nowMs + 5000 };
  assert.deepEqual(await db.transaction((sql) => pools.resumeRecipients({ ...later, sql }, poolId)), []);
  assert.equal((await get({ tenantId }, id)).status, Status.PAUSED);
});

test("a recipient that is paused for a time resumes then; a repeated pause replaces the end", async () => {
  const { tenantId, poolId } = await newPool();
  const { id } = await createRecipient({ tenantId }, poolId);
  const nowMs = Date.now();
  const resumedAt = (atMs: number) =>
    db.transaction((sql) => pools.resumeRecipients({ tenantId, sql, nowMs: atMs, afterCommit: () => {} }, poolId));
  const at = { tenantId, nowMs };
  const first = (await pause(at, id, "lunch", 600)).pause!;
  assert.deepEqual([first.cause, first.reason, timestampMs(first.until!)], ["request", "lunch", nowMs + 600_000]);
  const longer = (await pause(at, id, "meeting", 1200)).pause!;
  assert.deepEqual([longer.reason, timestampMs(longer.until!)], ["meeting", nowMs + 1_200_000]);
  assert.deepEqual((await update(at, id, { status: Status.PAUSED })).pause, longer, "an update keeps the pause");
  assert.deepEqual(await resumedAt(nowMs + 1_199_000), []);
  assert.deepEqual(await resumedAt(nowMs + 1_200_000), [id]);
  assert.deepEqual([(await get(at, id)).status, (await get(at, id)).pause], [Status.ACTIVE, undefined]);
  const last = eventOf(id);
  assert.deepEqual([last.type, last.data.cause, last.data.actor], ["recipient.resumed", "pause_ended", first.actor]);
  await pause(at, id, "", 600);
  assert.equal((await pause(at, id, "ill")).pause!.until, undefined);
  assert.deepEqual(await resumedAt(nowMs + 3_600_000), []);
});

test("a recipient that returns from draining or offline restarts slow start too", async () => {
  const { tenantId, poolId } = await newPool();
  const at = (nowMs: number) => ({ tenantId, nowMs });
  const { id } = await createRecipient(at(1000), poolId);
  for (const status of [Status.DRAINING, Status.OFFLINE]) {
    assert.equal(timestampDate((await update(at(2000), id, { status })).availableSince!).getTime() < 2000, true);
    const back = await update(at(1999), id, { status: Status.ACTIVE });
    assert.equal(timestampDate(back.availableSince!).getTime(), 1999);
    assert.equal(timestampDate((await update(at(2500), id, { weight: 5 })).availableSince!).getTime(), 1999);
  }
});

test("an ejected recipient is reported as ejected until its time ends; a paused one as paused", async () => {
  const { tenantId, poolId } = await newPool();
  const { id } = await createRecipient({ tenantId }, poolId);
  const quiet = await createRecipient({ tenantId }, poolId);
  const nowMs = Date.now();
  const until = new Date(nowMs + 30_000);
  await insertState(tenantId, poolId, id, until, new Date(nowMs));
  const ejected = await get({ tenantId, nowMs }, id);
  assert.deepEqual([ejected.status, timestampDate(ejected.ejectedUntil!)], [Status.EJECTED, until]);
  assert.deepEqual(timestampDate(ejected.lastAssignedAt!), new Date(nowMs));
  const statuses = async (choice: ContextChoice, request = {}) =>
    (await list(choice, poolId, request)).recipients.map((each) => [each.id, each.status]);
  assert.deepEqual(await statuses({ tenantId, nowMs }), [
    [id, Status.EJECTED],
    [quiet.id, Status.ACTIVE],
  ]);
  assert.deepEqual(await statuses({ tenantId, nowMs }, { status: Status.EJECTED }), [[id, Status.EJECTED]]);
  assert.deepEqual(await statuses({ tenantId, nowMs }, { status: Status.ACTIVE }), [[quiet.id, Status.ACTIVE]]);
  const later = await get({ tenantId, nowMs: nowMs + 30_000 }, id);
  assert.deepEqual([later.status, later.ejectedUntil], [Status.ACTIVE, undefined]);
  assert.equal((await pause({ tenantId, nowMs }, id)).status, Status.PAUSED);
});

test("a removed recipient is not found, and its name is free again", async () => {
  const { tenantId, poolId } = await newPool();
  const { id } = await createRecipient({ tenantId }, poolId, { name: "ada" });
  await assert.rejects(
    createRecipient({ tenantId }, poolId, { name: "ada" }),
    (error) => classifyDatabaseError(error)?.code === "ALREADY_EXISTS",
  );
  assert.equal((await remove({ tenantId }, id)).status, Status.REMOVED);
  assert.equal(eventOf(id).type, "recipient.removed");
  const none = failsWith("NOT_FOUND", /^No such recipient\.$/);
  await assert.rejects(get({ tenantId }, id), none);
  await assert.rejects(remove({ tenantId }, id), none);
  await assert.rejects(resume({ tenantId }, id), none);
  assert.equal((await list({ tenantId }, poolId)).totalSize, 0);
  await createRecipient({ tenantId }, poolId, { name: "ada" });
});

test("a recipient of another tenant is not found by any operation", async () => {
  const { tenantId, poolId } = await newPool();
  const { id } = await createRecipient({ tenantId }, poolId);
  const choice = { tenantId: await newTenant() };
  const none = failsWith("NOT_FOUND");
  for (const call of [get, pause, resume, remove]) await assert.rejects(call(choice, id), none);
  await assert.rejects(update(choice, id, { weight: 1 }), none);
  await assert.rejects(createRecipient(choice, poolId), none);
  await assert.rejects(batch(choice, poolId, [{ name: "x" }]), none);
  await assert.rejects(list(choice, poolId), none);
});

test("a caller restricted to production cannot access recipients of other environments", async () => {
  const tenantId = await newTenant();
  const pool = await createPool({ tenantId }, { environmentId: await environmentId(tenantId, "staging") });
  const { id } = await createRecipient({ tenantId }, pool.id);
  const choice = { tenantId, environmentMode: "production_only" } as const;
  const denied = failsWith("PERMISSION_DENIED");
  for (const call of [get, pause, resume, remove]) await assert.rejects(call(choice, id), denied);
  await assert.rejects(update(choice, id, { weight: 1 }), denied);
  await assert.rejects(batch(choice, pool.id, [{ name: "x" }]), denied);
  await assert.rejects(list(choice, pool.id), denied);
  assert.equal((await get({ tenantId }, id)).recordVersion, 1n);
});

test("the recipients of all pools are listed, with their loads, as far as the caller may use their environments", async () => {
  const { tenantId, poolId } = await newPool();
  const staged = await createPool({ tenantId }, { environmentId: await environmentId(tenantId, "staging") });
  const one = await createRecipient({ tenantId }, poolId, { name: "ada" });
  const other = await createRecipient({ tenantId }, staged.id, { name: "ada" });
  await createRecipient({ tenantId }, poolId, { name: "ben" });
  await putItem(tenantId, poolId, ulid(Date.now()), "leased", one.id);
  const found = (await list({ tenantId }, "-", { name: "ada" })).recipients;
  assert.deepEqual(
    found.map(({ id, poolId: pool, inFlight }) => [id, pool, inFlight]),
    [
      [one.id, poolId, 1],
      [other.id, staged.id, 0],
    ],
  );
  const ids = async (choice: ContextChoice) => (await list(choice, "-")).recipients.map(({ id }) => id);
  assert.equal((await ids({ tenantId })).length, 3);
  assert.deepEqual(await ids({ tenantId, environmentMode: "non_production_only" }), [other.id]);
  assert.deepEqual(await ids({ tenantId: await newTenant() }), []);
});

test("pages of recipients are consecutive, and a cursor is valid only for its pool and status", async () => {
  const { tenantId, poolId } = await newPool();
  const created = await batch({ tenantId }, poolId, [{ name: "a" }, { name: "b" }, { name: "c" }]);
  const first = await list({ tenantId }, poolId, { pageSize: 2 });
  const second = await list({ tenantId }, poolId, { pageSize: 2, pageToken: first.nextPageToken });
  assert.deepEqual([...first.recipients, ...second.recipients], created);
  const other = await createPool({ tenantId });
  const refused = failsWith("INVALID_ARGUMENT", /page_token/);
  await assert.rejects(list({ tenantId }, other.id, { pageToken: first.nextPageToken }), refused);
  await assert.rejects(list({ tenantId }, poolId, { pageToken: first.nextPageToken, status: Status.PAUSED }), refused);
});
