import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { after, before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { startReceiver } from "../routing/receiver.ts";
import { newSender, type ResponseData, type Sender, serveChannel } from "./sender-fixture.ts";

let node: TestService;
let sql: TestSql;
before(async () => {
  node = await startService();
  sql = connect(node.databaseUrl, 1);
});
after(() => sql.end());

const connectionTo = (url: string) => ({ settings: { url, from: "S" }, credentials: { token: "t" } });

/** A gateway that disconnects after reading the first message, and returns a status to later ones. */
async function cuttingGateway(status: number) {
  let count = 0;
  const server = http.createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      if (count++ === 0) request.socket.destroy();
      else response.writeHead(status).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, count: () => count };
}

/** A status of a first attempt. Further ones follow when the test makes them due. */
const untilDue = (status: number) => ({ status, headers: { "retry-after": "900" } });

async function textable(owner: Sender): Promise<{ workflow_key: string; subscriber_id: string }> {
  const workflow_key = await owner.workflow({ channels: { sms: { body: "B" } } });
  const { id: subscriber_id } = await owner.subscriber({ phone: "+4930901820" });
  return { workflow_key, subscriber_id };
}

/** Waits for a state of a delivery, whose attempts are due at once. */
function deliveryIn(owner: Sender, id: string, holds: (delivery: ResponseData) => boolean): Promise<ResponseData> {
  return until(async () => {
    await sql`
      update notification_deliveries set next_attempt_at = now()
      where id = ${id} and status = 'queued' and next_attempt_at > now()`;
    return owner.delivery(id);
  }, holds);
}

test("a message that a provider may have accepted goes to no other provider, and ends with that provider", async () => {
  const sender = await newSender(node);
  const first = await serveChannel(sender, "sms", "http_sms", connectionTo("http://127.0.0.1:9"), { priority: 1 });
  const gateway = await cuttingGateway(200);
  const second = await serveChannel(sender, "sms", "http_sms", connectionTo(gateway.url), { priority: 2 });
  const { outcomes } = await sender.trigger(await textable(sender));
  const [{ outcome, retryable, reconciliation_required, delivery_id }] = outcomes;
  assert.deepEqual([outcome, retryable, reconciliation_required], ["failed", true, true]);
  // The first choice is available again but is not called.
  const available = await startReceiver(() => ({ status: 200 }));
  const { settings } = connectionTo(available.url);
  await sender.ok("PATCH", `/api/v2/connector/connections/${first.connection_id}`, { settings });
  const sent = await deliveryIn(sender, delivery_id, ({ status }) => status === "sent");
  assert.deepEqual(
    [sent.integration_id, sent.reconciliation_required, available.received.length, gateway.count()],
    [second.id, false, 0, 2],
  );
});

test("an internal failure does not lose which provider may have a message", async () => {
  const sender = await newSender(node);
  // A gateway that returns 500 may have accepted the message.
  const gateway = await startReceiver((_, nth) => (nth === 0 ? untilDue(500) : { status: 200 }));
  const first = await serveChannel(sender, "sms", "http_sms", connectionTo(gateway.url), { priority: 1 });
  const { outcomes } = await sender.trigger(await textable(sender));
  const other = await startReceiver(() => ({ status: 200 }));
  await serveChannel(sender, "sms", "http_sms", connectionTo(other.url), { priority: 0 });
  await sql`alter table notification_preferences rename to elsewhere`;
  const [{ delivery_id }] = outcomes;
  const within = await deliveryIn(sender, delivery_id, ({ failure_phase }) => failure_phase === "system");
  assert.deepEqual([within.integration_id, within.reconciliation_required], [first.id, true]);
  await sql`alter table elsewhere rename to notification_preferences`;
  const sent = await deliveryIn(sender, delivery_id, ({ status }) => status === "sent");
  assert.deepEqual([sent.integration_id, other.received.length, gateway.received.length], [first.id, 0, 2]);
});

test("the doubt whether a message arrived outlasts a later rejection", async () => {
  const sender = await newSender(node);
  const gateway = await cuttingGateway(422);
  await serveChannel(sender, "sms", "http_sms", connectionTo(gateway.url));
  const { outcomes } = await sender.trigger(await textable(sender));
  const failed = await deliveryIn(sender, outcomes[0].delivery_id, ({ status }) => status === "failed");
  assert.deepEqual(
    [failed.failure_code, failed.reconciliation_required, failed.observation_state],
    ["content_rejected", true, "unknown"],
  );
});

test("an internal failure before anything is sent is retried without doubt", async () => {
  const sender = await newSender(node);
  const receiver = await startReceiver((_, nth) => (nth === 0 ? untilDue(503) : { status: 200 }));
  await serveChannel(sender, "sms", "http_sms", connectionTo(receiver.url));
  await sql`alter table notification_preferences rename to elsewhere`;
  const target = await textable(sender);
  const refused = await sender.rest.call("POST", "/api/v2/notifications/trigger", target);
  assert.equal(refused.status, 500);
  await sql`alter table elsewhere rename to notification_preferences`;
  const { outcomes } = await sender.trigger(target);
  await sql`alter table notification_preferences rename to elsewhere`;
  const [{ delivery_id }] = outcomes;
  const hasFailed = ({ failure_phase, status }: ResponseData) => failure_phase === "system" && status !== "running";
  const within = await deliveryIn(sender, delivery_id, hasFailed);
  assert.deepEqual([within.status, within.failure_code, within.reconciliation_required], ["queued", "internal", false]);
  await sql`alter table elsewhere rename to notification_preferences`;
  await deliveryIn(sender, delivery_id, ({ status }) => status === "sent");
});

test("a name that a template splits inside a surrogate pair harms neither its own message nor others", async () => {
  const sender = await newSender(node);
  const members = await Promise.all(["😀Ada", "Grace"].map((first_name) => sender.subscriber({ first_name })));
  const content = { engine: "liquid", title: "{{ subscriber.first_name | slice: 0 }}", body: "B" };
  const workflow_key = await sender.workflow({ channels: { in_app: content } });
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: members[0].id });
  assert.equal(outcomes[0].outcome, "sent");
  await sender.trigger({ workflow_key, topic: await sender.topic(members.map(({ id }) => id)) });
  const [title] = await until(
    async () => (await sender.inbox(members[1].id)).map((message: ResponseData) => message.title),
    (titles) => titles.length === 1,
  );
  assert.equal(title, "G");
});

test("a suspended tenant sends nothing until it is active again", async () => {
  const sender = await newSender(node);
  const receiver = await startReceiver((_, nth) => (nth === 0 ? untilDue(503) : { status: 200 }));
  await serveChannel(sender, "sms", "http_sms", connectionTo(receiver.url));
  const { outcomes } = await sender.trigger(await textable(sender));
  await sql`update tenants set status = 'suspended' where id = ${sender.id}`;
  await sql`update notification_deliveries set next_attempt_at = now() where tenant_id = ${sender.id}`;
  // Another tenant's later message is sent, so this tenant's turn has passed.
  const other = await newSender(node);
  const theirs = await startReceiver((_, nth) => ({ status: nth === 0 ? 503 : 200 }));
  await serveChannel(other, "sms", "http_sms", connectionTo(theirs.url));
  const { outcomes: later } = await other.trigger(await textable(other));
  await deliveryIn(other, later[0].delivery_id, ({ status }) => status === "sent");
  assert.equal(receiver.received.length, 1);
  await sql`update tenants set status = 'active' where id = ${sender.id}`;
  await deliveryIn(sender, outcomes[0].delivery_id, ({ status }) => status === "sent");
  assert.equal(receiver.received.length, 2);
});

test("every dead letter is announced by an event", async () => {
  const sender = await newSender(node);
  const { id } = await sender.subscriber();
  const workflow_key = await sender.workflow({ channels: { sms: { body: "Elsewhere" } } });
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: id, channels: ["in_app"] });
  const path = "/api/events?types=notification.delivery.failed";
  const [event] = (await sender.rest.call("GET", path)).body.data;
  assert.equal(event.subject, outcomes[0].delivery_id);
  assert.equal(event.data.failure_code, "template_missing");
  assert.equal(event.data.dead_letter_id, (await sender.delivery(outcomes[0].delivery_id)).dead_letter_id);
});
