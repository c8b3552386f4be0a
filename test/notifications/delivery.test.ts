import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { type Reply, startReceiver } from "../routing/receiver.ts";
import { freshName, newSender, type Sender, serveChannel } from "./sender-fixture.ts";

let node: TestService;
let sender: Sender;
let sql: TestSql;
before(async () => {
  node = await startService();
  sql = connect(node.databaseUrl, 1);
});
after(() => sql.end());

/** A text message gateway with configurable responses, and a tenant that uses it. */
async function gateway(answer: (nth: number) => Reply | Promise<Reply>, fields: object = {}) {
  const receiver = await startReceiver((_, nth) => answer(nth));
  sender = await newSender(node);
  const integration = await serveChannel(sender, "sms", "http_sms", connectionTo(receiver.url), fields);
  return { receiver, integration, target: await textable(sender) };
}

const connectionTo = (url: string) => ({ settings: { url, from: "Switchyard" }, credentials: { token: "t0ken" } });

/** A subscriber with a phone number, and a workflow that texts it. */
async function textable(owner: Sender) {
  const workflow_key = await owner.workflow({ channels: { sms: { body: "Your code is {{ payload.code }}." } } });
  const { id: subscriber_id } = await owner.subscriber({ phone: "+4930901820" });
  return { workflow_key, subscriber_id };
}

test("a message goes to the channel's provider, and sent means that the provider accepted it", async () => {
  const { receiver, integration, target } = await gateway(() => ({ status: 202 }));
  const { outcomes } = await sender.trigger({ ...target, payload: { code: 1234 } });
  assert.equal(outcomes[0].outcome, "sent");
  const delivery = await sender.delivery(outcomes[0].delivery_id);
  assert.deepEqual([delivery.status, delivery.integration_id, delivery.provider_attempt], ["sent", integration.id, 1]);
  assert.notEqual(delivery.provider_message_id, "");
  const sent = JSON.parse(receiver.received[0]!.body);
  assert.deepEqual([sent.to, sent.text], ["+4930901820", "Your code is 1234."]);
});

test("a temporary failure of a provider is retried later, and the response says so", async () => {
  const { receiver, target } = await gateway((nth) => ({ status: nth === 0 ? 503 : 200 }));
  const { outcomes } = await sender.trigger(target);
  const [{ outcome, retryable, failure_phase, failure_code, next_attempt_at, delivery_id }] = outcomes;
  assert.deepEqual([outcome, retryable, failure_phase, failure_code], ["failed", true, "provider", "unavailable"]);
  assert.ok(Date.parse(next_attempt_at) > 0);
  const sent = await until(
    () => sender.delivery(delivery_id),
    ({ status }) => status === "sent",
  );
  assert.deepEqual([sent.execution_attempt, sent.provider_attempt, sent.failure_code], [2, 2, ""]);
  assert.equal(receiver.received.length, 2);
  assert.equal(new Set(receiver.received.map(({ headers }) => headers["idempotency-key"])).size, 1);
});

test("a permanent rejection is not retried, and only a notification admin can redrive it", async () => {
  let status = 422;
  const { receiver, target } = await gateway(() => ({ status }));
  const { outcomes } = await sender.trigger(target);
  const [{ outcome, retryable, failure_code, delivery_id }] = outcomes;
  assert.deepEqual([outcome, retryable, failure_code], ["failed", false, "content_rejected"]);
  const [letter] = await sender.letters("status=open");
  assert.deepEqual([letter.delivery_id, letter.kind, letter.attempts], [delivery_id, "delivery", 1]);
  assert.ok(!JSON.stringify(letter).includes("code is"));
  const path = `/api/v2/notifications/dead-letters/${letter.id}:redrive`;
  const operator = await sender.caller({ roles: ["operator"] });
  assert.equal((await operator.call("POST", path, {})).body.errorCode, "PERMISSION_DENIED");
  status = 200;
  const admin = await sender.caller({ roles: ["notification_admin"] });
  const redriven = await admin.call("POST", path, { reason: "the text was mended" });
  assert.equal(redriven.status, 200, redriven.text);
  await until(
    () => sender.delivery(delivery_id),
    (each) => each.status === "sent",
  );
  const [ended] = await sender.letters("status=redriven");
  assert.deepEqual([ended.id, ended.redrive_count, ended.redrive_reason], [letter.id, 1, "the text was mended"]);
  assert.equal(receiver.received.length, 2);
  assert.equal((await admin.call("POST", path, {})).body.errorCode, "FAILED_PRECONDITION");
});

test("a running redrive is not started again", async () => {
  const held = Promise.withResolvers<void>();
  const { receiver, target } = await gateway(async (nth) => {
    if (nth > 0) await held.promise;
    return { status: nth === 0 ? 422 : 200 };
  });
  await sender.trigger(target);
  const [letter] = await sender.letters();
  const path = `/api/v2/notifications/dead-letters/${letter.id}:redrive`;
  await sender.ok("POST", path, {});
  await until(
    () => receiver.received.length,
    (count) => count === 2,
  );
  await sender.refused("CONFLICT", "POST", path, {});
  held.resolve();
  await until(
    () => sender.letters("status=redriven"),
    (letters) => letters.length === 1,
  );
});

test("a redrive after a definite rejection has a new idempotency key, and one in doubt the same", async () => {
  const statuses = [422, 200];
  const { receiver, target } = await gateway((nth) => ({ status: statuses[nth] ?? 200 }));
  const { outcomes } = await sender.trigger(target);
  const redrive = async () => {
    const [letter] = await sender.letters("status=open");
    await sender.ok("POST", `/api/v2/notifications/dead-letters/${letter.id}:redrive`, {});
    return until(
      () => sender.letters("status=redriven"),
      (letters) => letters.some(({ id }) => id === letter.id),
    );
  };
  await redrive();
  const keys = receiver.received.map(({ headers }) => headers["idempotency-key"]);
  assert.equal(keys[0], outcomes[0].delivery_id);
  assert.notEqual(keys[1], keys[0]);
  // The message id stays the same, so that callbacks find it.
  assert.equal(new Set(receiver.received.map(({ body }) => JSON.parse(body).id)).size, 1);
  // In doubt: the gateway returned a status to all attempts after which it may have accepted the message.
  statuses[2] = 500;
  await sql`update notification_deliveries set execution_attempt = 7, status = 'queued', next_attempt_at = now()
    where tenant_id = ${sender.id}`;
  const failed = await until(
    () => sender.delivery(outcomes[0].delivery_id),
    ({ status }) => status === "failed",
  );
  assert.equal(failed.reconciliation_required, true);
  await redrive();
  const later = receiver.received.map(({ headers }) => headers["idempotency-key"]).slice(1);
  assert.equal(later.length, 3);
  assert.equal(new Set(later).size, 1);
});

test("a message in doubt keeps its idempotency key in every redrive, even after a permanent rejection", async () => {
  const cases = [
    // A gateway that returns 500 may have accepted the message.
    { statuses: [500, 422, 422, 200], inDoubt: true },
    { statuses: [422, 422, 200], inDoubt: false },
  ];
  for (const { statuses, inDoubt } of cases) {
    const { receiver, target } = await gateway((nth) => ({ status: statuses[nth]! }));
    const { outcomes } = await sender.trigger(target);
    for (let left = 2; left > 0; left--) {
      const [letter] = await until(
        () => sender.letters("status=open"),
        (letters) => letters.length === 1 && receiver.received.length === statuses.length - left,
      );
      await sender.ok("POST", `/api/v2/notifications/dead-letters/${letter.id}:redrive`, {});
    }
    await until(
      () => sender.delivery(outcomes[0].delivery_id),
      ({ status }) => status === "sent",
    );
    const keys = receiver.received.map(({ headers }) => headers["idempotency-key"]);
    assert.equal(keys.length, statuses.length);
    assert.equal(new Set(keys).size, inDoubt ? 1 : keys.length, keys.join());
  }
});

test("a dead letter records when its message first failed and when it last failed", async () => {
  const { receiver, target } = await gateway((nth) => ({ status: nth === 0 ? 503 : 422 }));
  const { outcomes } = await sender.trigger(target);
  const answeredAtMs = Date.now();
  await until(
    () => sender.delivery(outcomes[0].delivery_id),
    ({ status }) => status === "failed",
  );
  const [letter] = await sender.letters("status=open");
  assert.ok(Date.parse(letter.first_failed_at) <= answeredAtMs, letter.first_failed_at);
  assert.ok(Date.parse(letter.last_failed_at) >= receiver.received[1]!.atMs, letter.last_failed_at);
  assert.notEqual(letter.first_failed_at, letter.last_failed_at);
});

test("a repeat of a trigger that is still being sent gets a retryable error, and later the first response", async () => {
  const held = Promise.withResolvers<void>();
  const { receiver, target } = await gateway(async () => {
    await held.promise;
    return { status: 200 };
  });
  const trigger = () => sender.rest.call("POST", "/api/v2/notifications/trigger", target, { "idempotency-key": "one" });
  const first = trigger();
  await until(
    () => receiver.received.length,
    (count) => count === 1,
  );
  const early = await trigger();
  assert.deepEqual([early.status, early.body.errorCode], [409, "IDEMPOTENCY_IN_PROGRESS"]);
  assert.equal(early.headers.get("retry-after"), "1");
  held.resolve();
  const { body } = await first;
  assert.equal(body.data.outcomes[0].outcome, "sent");
  const later = await trigger();
  assert.deepEqual(later.body.data, body.data);
  assert.equal(receiver.received.length, 1);
});

test("a redriven message whose subscriber has opted out ends as skipped", async () => {
  const { receiver, target } = await gateway(() => ({ status: 422 }));
  const { outcomes } = await sender.trigger(target);
  await sender.prefer(target.subscriber_id, { channels: { sms: { enabled: false } } });
  const [letter] = await sender.letters();
  await sender.ok("POST", `/api/v2/notifications/dead-letters/${letter.id}:redrive`, {});
  const skipped = await until(
    () => sender.delivery(outcomes[0].delivery_id),
    ({ status }) => status === "skipped",
  );
  assert.equal(skipped.preference_reason_code, "denied_by_layer");
  assert.equal(receiver.received.length, 1);
  assert.equal((await sender.letters("status=redriven")).length, 1);
});

test("the next integration takes over when the first is unavailable, and only when nothing can have been sent", async () => {
  const { target } = await gateway(() => ({ status: 503 }), { priority: 1 });
  const second = await startReceiver(() => ({ status: 200 }));
  const backup = await serveChannel(sender, "sms", "http_sms", connectionTo(second.url), { priority: 2 });
  const { outcomes } = await sender.trigger(target);
  const delivery = await sender.delivery(outcomes[0].delivery_id);
  assert.deepEqual([delivery.status, delivery.integration_id, delivery.provider_attempt], ["sent", backup.id, 2]);
});

test("an integration whose condition is false is skipped", async () => {
  const { receiver, target } = await gateway(() => ({ status: 200 }), {
    condition: "payload.vip == true",
  });
  const plain = await sender.trigger({ ...target, payload: { vip: false } });
  assert.deepEqual([plain.outcomes[0].outcome, plain.outcomes[0].failure_code], ["failed", "condition_no_match"]);
  const vip = await sender.trigger({ ...target, payload: { vip: true } });
  assert.equal(vip.outcomes[0].outcome, "sent");
  assert.equal(receiver.received.length, 1);
});

test("without an integration a channel fails clearly, and a revoked connection is named as the cause", async () => {
  const owner = await newSender(node);
  const target = await textable(owner);
  const none = await owner.trigger(target);
  assert.deepEqual([none.outcomes[0].failure_phase, none.outcomes[0].failure_code], ["integration", "none_active"]);
  const receiver = await startReceiver(() => ({ status: 200 }));
  const { connection_id } = await serveChannel(owner, "sms", "http_sms", connectionTo(receiver.url));
  await owner.ok("POST", `/api/v2/connector/connections/${connection_id}/revoke`, {});
  const revoked = await owner.trigger(target);
  assert.deepEqual([revoked.outcomes[0].failure_phase, revoked.outcomes[0].failure_code], ["credential", "revoked"]);
  assert.equal(receiver.received.length, 0);
});

test("a mail server that disconnects after receiving a mail leaves an unknown outcome and no second mail", async () => {
  let mails = 0;
  const server = createServer((socket) => {
    let content: string | undefined;
    socket.write("220 ready\r\n");
    socket.on("error", () => {});
    socket.on("data", (data) => {
      const text = data.toString();
      if (content !== undefined) {
        content += text;
        if (!content.endsWith("\r\n.\r\n")) return;
        mails++;
        socket.destroy();
      } else if (/^DATA/im.test(text)) {
        content = "";
        socket.write("354 go on\r\n");
      } else socket.write("250 fine\r\n");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const owner = await newSender(node);
  const settings = { host: "127.0.0.1", port, tls: "none", from: "news@example.org" };
  await serveChannel(owner, "email", "smtp", { settings, credentials: {} });
  await serveChannel(owner, "email", "smtp", { settings, credentials: {} }, { priority: 200 });
  const workflow_key = await owner.workflow({ channels: { email: { subject: "S", body: "<p>B</p>" } } });
  const { id } = await owner.subscriber({ email: `${freshName()}@example.org` });
  const { outcomes } = await owner.trigger({ workflow_key, subscriber_id: id });
  const [{ outcome, failure_code, retryable, reconciliation_required, delivery_id }] = outcomes;
  assert.deepEqual([outcome, failure_code, retryable], ["failed", "outcome_unknown", false]);
  assert.equal(reconciliation_required, true);
  const delivery = await owner.delivery(delivery_id);
  assert.deepEqual([delivery.reconciliation_required, delivery.observation_state], [true, "unknown"]);
  assert.equal(mails, 1);
  server.close();
});
