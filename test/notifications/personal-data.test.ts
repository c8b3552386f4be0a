import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { startReceiver } from "../routing/receiver.ts";
import { freshName, newSender, type ResponseData, type Sender, serveChannel } from "./sender-fixture.ts";

let node: TestService;
let sql: TestSql;
before(async () => {
  node = await startService({ "notification.outbox.enabled": "true" });
  sql = connect(node.databaseUrl, 1);
});
after(() => sql.end());

const path = (id: string, verb = "") => `/api/v2/notification/subscribers/${id}${verb}`;

/** The tables of the database with a row that contains one of some texts. */
async function tablesWith(texts: readonly string[]): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    select relname::text as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`;
  const found: string[] = [];
  for (const { name } of tables) {
    const patterns = texts.map((text) => `%${text}%`);
    const { count } = await sql`select from ${sql(name)} t where t::text ilike any(${patterns}::text[]) limit 1`;
    if (count > 0) found.push(name);
  }
  return found;
}

/** Leaves traces of a subscriber in all kinds of records that notifications have. */
async function leaveTraces(sender: Sender) {
  const name = freshName();
  const email = `Ada.${name}@Example.com`;
  const other = await sender.subscriber({ email: `other.${freshName()}@example.com` });
  const externalId = `crm-${name}`;
  const profile = { external_id: externalId, first_name: "Ada", email, phone: "+4930901820" };
  const created = await sender.ok("POST", "/api/v2/notification/subscribers", profile, { "idempotency-key": name });
  const { id } = created.data;
  await sender.endpoint(id, { channel: "push", provider_key: "fcm", identity: `token-${name}` });
  const gateway = await startReceiver(() => ({ status: 400 }));
  await serveChannel(sender, "sms", "http_sms", {
    settings: { url: gateway.url, from: "Switchyard" },
    credentials: { token: "t0ken" },
  });
  const integration = { channel: "email", name: freshName(), provider_key: "development" };
  await sender.ok("POST", "/api/v2/notification/integrations", integration);
  await sender.prefer(id, { channels: { push: { enabled: false } } });
  const topic = await sender.topic([id, other.id]);
  await sender.ok("POST", `/api/v2/notification/topics/${topic}/subscribers:import`, {
    subscriber_ids: [externalId, "nobody"],
  });
  const workflow_key = await sender.workflow({
    channels: {
      in_app: { body: "Hello {{ subscriber.first_name }}" },
      email: { subject: "Hello", body: "Hello {{ subscriber.email }}" },
      sms: { body: "Hello" },
    },
  });
  const digested = await sender.workflow({
    channels: { in_app: { body: "Later" } },
    steps: [
      { key: "limit", throttle: { limit: 5, window_s: 3600 } },
      { key: "batch", digest: { window: { for_s: 3600 } } },
      { key: "inbox", send: { channels: ["in_app"] } },
    ],
  });
  for (const key of [workflow_key, digested]) {
    await sender.trigger({ workflow_key: key, subscriber_id: id, payload: { contact: email } });
  }
  await until(
    () => sql`select from notification_digest_events where tenant_id = ${sender.id}`,
    ({ count }) => count > 0,
  );
  await sender.trigger({ workflow_key, topic });
  await sender.ok("PUT", `/api/v2/notification/workflows/${workflow_key}/users/${externalId}`, { preferences: {} });
  await sender.ok("POST", "/api/v2/notification/suppressions", { channel: "email", identity: email, note: "asked" });
  await sender.ok("POST", "/api/v2/connector/connections", {
    ...{ name: freshName(), provider_key: "slack", end_user: { id: externalId, email } },
    credentials: { webhook_url: "https://hooks.example.com/services/T0/B0/secret" },
  });
  await until(
    () => sender.deliveries(`subscriber_id=${id}`),
    (deliveries) => deliveries.length >= 5 && deliveries.every(({ status }) => !["queued", "running"].includes(status)),
  );
  return { id, email, externalId, topic, workflow_key, other: other.id as string };
}

test("an export names everything that is stored about a subscriber, and an erasure leaves no trace in any table", async () => {
  const sender = await newSender(node);
  const { id, email, externalId, topic, workflow_key, other } = await leaveTraces(sender);
  const traces = await tablesWith([id, externalId, email]);
  const { data } = await sender.ok("GET", path(id, ":export"));
  const kinds = new Map<string, ResponseData[]>(data.kinds.map((kind: ResponseData) => [kind.name, kind.records]));
  assert.deepEqual(
    traces.filter((table) => !kinds.has(table)),
    [],
  );
  assert.equal(kinds.get("notification_subscribers")![0]!.email, email);
  assert.ok(traces.length >= 17, `${traces}`);
  const before = await sender.deliveries(`subscriber_id=${other}`);

  const { erasure_id } = (await sender.ok("POST", path(id, ":erase"), {})).data;
  const events = async (): Promise<ResponseData[]> =>
    (await sender.rest.call("GET", "/api/events?limit=100")).body.data;
  const isErased = ({ type, subject }: ResponseData) => type === "subscriber.erased" && subject === erasure_id;
  await until(events, (listed) => listed.some(isErased));
  assert.deepEqual(await tablesWith([id, externalId, email]), []);
  await sender.refused("NOT_FOUND", "GET", path(id));
  await sender.refused("NOT_FOUND", "GET", path(id, ":export"));
  await sender.refused("NOT_FOUND", "POST", path(id, ":erase"), {});

  assert.deepEqual(await sender.deliveries(`subscriber_id=${other}`), before);
  const again = await sender.trigger({ workflow_key, topic });
  assert.ok(again.transaction_id);
  const sent = await until(
    () => sender.deliveries(`subscriber_id=${other}`),
    (deliveries) => deliveries.length > before.length,
  );
  assert.ok(sent.length > before.length);
});

test("an export is bounded, has the newest records first, and says that there are more", async () => {
  const sender = await newSender(node);
  const { id } = await sender.subscriber({});
  await sql`
    insert into events (tenant_id, id, type, source, subject, time, data)
    select ${sender.id}, 'large-' || n, 'order.paid', '/t', ${id}, now(), jsonb_build_object('text', repeat('x', 1000000))
    from generate_series(1, 9) n`;
  const { data } = await sender.ok("GET", path(id, ":export"));
  const events = data.kinds.find(({ name }: ResponseData) => name === "events");
  const large = ["large-9", "large-8", "large-7", "large-6", "large-5"];
  assert.deepEqual(events.records.map((record: ResponseData) => record.id).slice(0, 5), large);
  assert.deepEqual([events.records.length, events.truncated], [5, true]);
  const profile = data.kinds.find(({ name }: ResponseData) => name === "notification_subscribers");
  assert.deepEqual([profile.records.length, profile.truncated], [1, false]);
});

test("an erasure leaves alone what only contains a short address, and what belongs to another tenant", async () => {
  const [sender, neighbour] = [await newSender(node), await newSender(node)];
  const { id } = await sender.subscriber({});
  await sender.endpoint(id, { channel: "chat", provider_key: "slack", identity: "4711" });
  const publish = async (data: object) =>
    (await sender.ok("POST", "/api/events", { type: "order.paid", data })).data.id;
  const [about, paid] = [await publish({ chat: "4711" }), await publish({ amount: 4711, note: "No. 47110" })];
  await sender.ok("POST", path(id, ":erase"), {});
  const gone = () => sql`select from notification_subscribers where id = ${id}`;
  await until(gone, ({ count }) => count === 0);
  const events = await sql`select id, data from events where id in (${about}, ${paid}) order by data::text`;
  assert.deepEqual(
    [...events],
    [
      { id: paid, data: { amount: 4711, note: "No. 47110" } },
      { id: about, data: {} },
    ],
  );

  // A job of an imported tenant.
  const other = await neighbour.subscriber({});
  const person = { tenantId: neighbour.id, id: other.id, externalId: "x", addresses: [] };
  await sql`
    insert into jobs (tenant_id, id, kind, payload, run_at, max_attempts, created_at)
    values (${sender.id}, 'forged', 'subscribers.erase', ${sql.json({ erasureId: "e", person })}, now(), 1, now())`;
  await until(
    () => sql`select from jobs where id = 'forged'`,
    ({ count }) => count === 0,
  );
  await neighbour.ok("GET", path(other.id));
});
