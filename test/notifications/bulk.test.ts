import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newSender, type ResponseData, type Sender } from "./sender-fixture.ts";

let node: TestService;
let sender: Sender;
let sql: TestSql;
before(async () => {
  node = await startService({ "notification.outbox.enabled": "true" });
  sender = await newSender(node);
  sql = connect(node.databaseUrl, 1);
});
after(() => sql.end());

const subscribersPath = "/api/v2/notification/subscribers";
const triggerPath = "/api/v2/notifications/trigger";
const strict = { channels: { in_app: { body: "{{ payload.order }}", strict_variables: true } } };

const upsertAll = async (subscribers: readonly object[], headers = {}): Promise<ResponseData> =>
  (await sender.ok("POST", `${subscribersPath}:batch`, { subscribers }, headers)).data;
const triggerAll = async (triggers: readonly object[], headers = {}): Promise<ResponseData> =>
  (await sender.ok("POST", `${triggerPath}:batch`, { triggers }, headers)).data;

test("a mistyped workflow_key is refused with the nearest key, until the tenant allows unknown keys", async () => {
  const tenant = await newSender(node);
  const { id } = await tenant.subscriber();
  await tenant.ok("PUT", "/api/v2/notification/workflows/order.paid", { channels: { in_app: { body: "Paid" } } });
  const mistyped = { workflow_key: "order.payed", subscriber_id: id };
  const { body } = await tenant.refused("INVALID_ARGUMENT", "POST", triggerPath, mistyped);
  assert.deepEqual(body.violations[0], {
    field: "workflow_key",
    rule: "exists",
    message: "must be the key of a notification workflow; did you mean order.paid?",
  });
  const topic = await tenant.topic([id]);
  await tenant.refused("INVALID_ARGUMENT", "POST", triggerPath, { workflow_key: "order.payed", topic });
  assert.deepEqual(await tenant.deliveries(`subscriber_id=${id}`), []);
  await tenant.ok("PUT", "/api/config/values/notification.allow_unknown_workflows", { value: true });
  const overrides = { in_app: { body: "Once" } };
  const allowed = () => tenant.rest.call("POST", triggerPath, { ...mistyped, overrides });
  const { body: sent } = await until(allowed, ({ status }) => status === 200);
  assert.equal(sent.data.outcomes[0].outcome, "sent");
});

test("an inline profile does not bring back a deleted subscriber", async () => {
  const { id, external_id } = await sender.subscriber({ first_name: "Ada" });
  await sender.ok("DELETE", `${subscribersPath}/${id}`);
  const workflow_key = await sender.workflow();
  const inline = { workflow_key, subscriber_external_id: external_id, subscriber: { first_name: "Eve" } };
  const { outcomes } = await sender.trigger(inline);
  const { results } = await triggerAll([inline]);
  for (const each of [outcomes[0], results[0].outcomes[0]]) {
    assert.deepEqual([each.outcome, each.preference_reason_code], ["skipped", "denied_subscriber_inactive"]);
  }
  const { data } = await sender.ok("GET", `${subscribersPath}/${id}`);
  assert.deepEqual([data.active, data.first_name], [false, "Ada"]);
});

test("an address moves only with take_over, a push token by itself, and the old owner loses it", async () => {
  const [ada, bob] = [await sender.subscriber(), await sender.subscriber()];
  const address = { channel: "email", identity: `${freshName()}@example.com` };
  await sender.endpoint(ada.id, address);
  const path = (id: string) => `${subscribersPath}/${id}/endpoints`;
  const { body } = await sender.refused("ALREADY_EXISTS", "POST", path(bob.id), address);
  assert.match(body.detail, /take_over/);
  const moved = await sender.endpoint(bob.id, { ...address, take_over: true });
  assert.equal(moved.subscriber_id, bob.id);
  const token = { channel: "push", identity: freshName() };
  await sender.endpoint(ada.id, token);
  await sender.endpoint(bob.id, token);
  const owned = async (id: string) =>
    (await sender.rest.call("GET", path(id))).body.data.map(({ identity }: ResponseData) => identity).sort();
  assert.deepEqual(await owned(ada.id), []);
  assert.deepEqual(await owned(bob.id), [address.identity, token.identity].sort());
  const events = (await sender.rest.call("GET", "/api/events?types=subscriber.endpoint.added")).body.data;
  assert.ok(events.some(({ data }: ResponseData) => data.taken_over_from === ada.id));
});

test("one thousand subscribers are stored at once, and each invalid one is reported by itself", async () => {
  const name = freshName();
  const known = await sender.subscriber({ external_id: `${name}-0`, first_name: "Old" });
  const gone = await sender.subscriber({ external_id: `${name}-1` });
  await sender.ok("DELETE", `${subscribersPath}/${gone.id}`);
  const many = Array.from({ length: 1000 }, (_, at) => ({ external_id: `${name}-${at}`, first_name: "New" }));
  Object.assign(many[2]!, { email: "nobody" });
  Object.assign(many[3]!, { first_name: "x".repeat(201) });
  Object.assign(many[5]!, { external_id: `${name}-4` });
  const headers = { "idempotency-key": name };
  const first = await upsertAll(many, headers);
  assert.deepEqual([first.created, first.updated, first.unchanged, first.failed], [995, 2, 0, 3]);
  assert.deepEqual(
    first.results.slice(0, 6).map(({ outcome, error_field }: ResponseData) => [outcome, error_field]),
    [
      ["updated", ""],
      ["reactivated", ""],
      ["failed", "subscribers[2].email"],
      ["failed", "subscribers[3].first_name"],
      ["created", ""],
      ["failed", "subscribers[5].external_id"],
    ],
  );
  assert.equal(first.results[0].id, known.id);
  assert.deepEqual(await upsertAll(many, headers), first);
  const again = await upsertAll(many);
  assert.deepEqual([again.created, again.updated, again.unchanged, again.failed], [0, 0, 997, 3]);
  const { data } = await sender.ok("GET", `${subscribersPath}/${first.results[999].id}`);
  assert.deepEqual([data.external_id, data.first_name, data.record_version], [`${name}-999`, "New", 1]);
});

test("different triggers are accepted together, once per key; a refused one does not affect the others", async () => {
  const [plain, failing] = [await sender.workflow(), await sender.workflow(strict)];
  const mail = await sender.workflow({ channels: { email: { subject: "S", body: "B" } } });
  const { id } = await sender.subscriber();
  const topic = await sender.topic([id]);
  const external = freshName();
  const profile = { subscriber_external_id: external, subscriber: { email: `${external}@example.com` } };
  const triggers = [
    { workflow_key: plain, subscriber_id: id, payload: { order: 1 } },
    { workflow_key: mail, ...profile },
    { workflow_key: plain, subscriber_external_id: external },
    { workflow_key: failing, subscriber_id: id },
    { workflow_key: plain, topic },
    { workflow_key: "no.such", subscriber_id: id },
    { workflow_key: plain, subscriber_external_id: freshName() },
    { workflow_key: plain, topic: "no_such_topic" },
    { workflow_key: plain },
    { workflow_key: plain, subscriber_external_id: freshName(), subscriber: { email: "no address" } },
  ];
  const headers = { "idempotency-key": freshName() };
  const { results, accepted, refused } = await triggerAll(triggers, headers);
  assert.deepEqual([accepted, refused], [5, 5]);
  assert.deepEqual(
    results.map(({ outcomes, broadcast, error_code, error_field }: ResponseData) =>
      error_code === "" ? (broadcast?.status ?? outcomes[0].outcome) : [error_code, error_field],
    ),
    [
      "sent",
      "queued",
      "sent",
      "failed",
      "accepted",
      ["INVALID_ARGUMENT", "triggers[5].workflow_key"],
      ["NOT_FOUND", ""],
      ["NOT_FOUND", ""],
      ["INVALID_ARGUMENT", "triggers[8].subscriber_external_id"],
      ["INVALID_ARGUMENT", "triggers[9].subscriber.email"],
    ],
  );
  assert.deepEqual((await triggerAll(triggers, headers)).results, results);
  await until(
    () => sender.delivery(results[1].outcomes[0].delivery_id),
    ({ status }) => status === "sent",
  );
  await until(
    () => sender.inbox(id),
    (messages) => messages.length === 2,
  );
});

test("dead letters are counted by a preview and redriven by a filter", async () => {
  const tenant = await newSender(node);
  const workflow_key = await tenant.workflow(strict);
  const [one, other] = [await tenant.subscriber(), await tenant.subscriber()];
  for (const { id } of [one, one, other]) await tenant.trigger({ workflow_key, subscriber_id: id });
  const path = "/api/v2/notifications/dead-letters:redrive";
  const filter = { subscriber_id: one.id, failure_code: "variable_missing" };
  const { data: counted } = await tenant.ok("POST", path, { filter, preview: true });
  assert.deepEqual([counted.matched, counted.redriven], [2, 0]);
  assert.equal((await tenant.letters("status=open")).length, 3);
  await tenant.ok("PUT", `/api/v2/notification/workflows/${workflow_key}`, { channels: { in_app: { body: "Now" } } });
  const { data: redriven } = await tenant.ok("POST", path, { filter, limit: 1, reason: "corrected" });
  assert.deepEqual([redriven.matched, redriven.redriven], [2, 1]);
  assert.equal((await tenant.ok("POST", path, { filter })).data.redriven, 1);
  await until(
    () => tenant.inbox(one.id),
    (messages) => messages.length === 2,
  );
  const [left] = await tenant.letters("status=open");
  assert.equal(left.subscriber_id, other.id);
});

test("an import adds members in the background, reports progress and names unknown subscribers", async () => {
  const topic = await sender.topic();
  const name = freshName();
  await upsertAll(Array.from({ length: 600 }, (_, at) => ({ external_id: `${name}-${at}` })));
  const foreign = await (await newSender(node)).subscriber();
  const names = Array.from({ length: 602 }, (_, at) => `${name}-${at}`);
  const path = `/api/v2/notification/topics/${topic}`;
  const { data: accepted } = await sender.ok("POST", `${path}/subscribers:import`, {
    subscriber_ids: [...names, names[0], foreign.id],
    context_keys: ["web"],
  });
  assert.deepEqual([accepted.status, accepted.total, accepted.processed], ["running", 603, 0]);
  const done = await until(
    async () => (await sender.ok("GET", `${path}/imports/${accepted.id}`)).data as ResponseData,
    ({ status }) => status === "completed",
  );
  assert.deepEqual([done.processed, done.added, done.changed, done.unchanged, done.unknown], [603, 600, 0, 0, 3]);
  assert.deepEqual(done.unknown_names, [`${name}-600`, `${name}-601`, foreign.id]);
  const members = await sender.rest.call("GET", `${path}/subscribers?limit=1`);
  assert.deepEqual([members.body.total, members.body.data[0].context_keys], [600, ["web"]]);
});

test("a cancelled broadcast skips the messages that wait, and shows what became of the others", async () => {
  const tenant = await newSender(node);
  const workflow_key = await tenant.workflow({
    channels: { in_app: { body: "I" }, email: { subject: "S", body: "B" } },
  });
  const members = await Promise.all(Array.from({ length: 3 }, () => tenant.subscriber({ email: "a@example.com" })));
  const topic = await tenant.topic(members.map(({ id }) => id));
  const { transaction_id } = await tenant.trigger({ workflow_key, topic });
  const path = `/api/v2/notifications/broadcasts/${transaction_id}`;
  const read = async () => (await tenant.ok("GET", path)).data as ResponseData;
  const counts = async () => {
    const { queued, running, sent, skipped } = (await read()).progress;
    return [queued, running, sent, skipped].map(Number);
  };
  await until(counts, ([, , sent]) => sent === 6);
  await tenant.refused("FAILED_PRECONDITION", "POST", `${path}:cancel`, {});
  // Three mails wait again, as after a temporary failure of their provider.
  await sql`
    update notification_deliveries set status = 'queued', retryable = true, next_attempt_at = now() + interval '1 hour'
    where transaction_id = ${transaction_id} and channel = 'email'`;
  assert.deepEqual(await counts(), [3, 0, 3, 0]);
  const { data: cancelling } = await tenant.ok("POST", `${path}:cancel`, {});
  assert.equal(cancelling.status, "cancelling");
  const { cancelled_by } = await until(read, ({ status }) => status === "cancelled");
  assert.notEqual(cancelled_by, "");
  assert.deepEqual(await counts(), [0, 0, 3, 3]);
  const mails = (await tenant.deliveries(`transaction_id=${transaction_id}`)).filter(
    (each) => each.channel === "email",
  );
  assert.deepEqual(
    mails.map(({ status, failure_code, retryable }) => [status, failure_code, retryable]),
    [1, 2, 3].map(() => ["skipped", "cancelled", false]),
  );
  assert.equal((await tenant.ok("POST", `${path}:cancel`, {})).data.status, "cancelled");
});

test("a cancelled broadcast cancels runs that are due much later, and ends what is being redriven", async () => {
  const tenant = await newSender(node);
  const workflow_key = await tenant.workflow({
    channels: { in_app: { body: "I" } },
    steps: [
      { key: "first", send: { channels: ["in_app"] } },
      { key: "wait", delay: { for_s: 86_400 } },
      { key: "second", send: { channels: ["in_app"] } },
    ],
  });
  const members = await Promise.all([1, 2].map(() => tenant.subscriber()));
  const topic = await tenant.topic(members.map(({ id }) => id));
  const { transaction_id } = await tenant.trigger({ workflow_key, topic });
  const deliveries = () => tenant.deliveries(`transaction_id=${transaction_id}`);
  const runs = async () =>
    (await tenant.ok("GET", `/api/v2/notifications/runs?transaction_id=${transaction_id}`)).data as ResponseData[];
  const [delivery] = await until(deliveries, (found) => found.filter(({ status }) => status === "sent").length === 2);
  await until(runs, (found) => found.every(({ step_key }) => step_key === "wait"));
  const letterId = delivery!.id;
  await sql`
    insert into notification_dead_letters (tenant_id, id, kind, delivery_id, transaction_id, failure_phase, failure_code,
      attempts, first_failed_at, last_failed_at, payload_digest, payload_expires_at, status)
    values (${tenant.id}, ${letterId}, 'delivery', ${delivery!.id}, ${transaction_id}, 'provider', 'unavailable', 1, now(),
      now(), '', now() + interval '1 day', 'redriving')`;
  await sql`
    update notification_deliveries set status = 'queued', next_attempt_at = now() + interval '1 hour', dead_letter_id = ${letterId}
    where id = ${delivery!.id}`;
  // As after a call that cancelled as many other runs as one call can.
  await sql`update notification_payloads set cancelled_at = now() where transaction_id = ${transaction_id}`;
  await sql`
    update notification_broadcasts set status = 'cancelling', position = '', next_page_at = now()
    where transaction_id = ${transaction_id}`;
  await until(runs, (found) => found.every(({ status }) => status === "cancelled"));
  await sql`update notification_deliveries set next_attempt_at = now() where id = ${delivery!.id} and status = 'queued'`;
  const path = `/api/v2/notifications/broadcasts/${transaction_id}`;
  await until(
    async () => (await tenant.ok("GET", path)).data as ResponseData,
    ({ status }) => status === "cancelled",
  );
  assert.equal((await tenant.letters())[0]!.status, "redriven");
});

test("a run of a broadcast that ends early leaves the payload to the runs that wait", async () => {
  const tenant = await newSender(node);
  const workflow_key = await tenant.workflow({
    channels: { in_app: { body: "{{ payload.order }}" } },
    steps: [
      { key: "wait", delay: { for_s: 90 * 86_400 } },
      { key: "inbox", send: { channels: ["in_app"] } },
    ],
  });
  const members = await Promise.all([1, 2].map(() => tenant.subscriber()));
  const topic = await tenant.topic(members.map(({ id }) => id));
  const { transaction_id } = await tenant.trigger({ workflow_key, topic, payload: { order: 7 } });
  const runs = async () =>
    (await tenant.ok("GET", `/api/v2/notifications/runs?transaction_id=${transaction_id}`)).data as ResponseData[];
  const [first] = await until(
    runs,
    (found) => found.length === 2 && found.every(({ step_key }) => step_key === "wait"),
  );
  // The queue may have one lane for everything.
  await sql`update notification_runs set lane = 'single' where transaction_id = ${transaction_id}`;
  await sql`update notification_runs set wake_at = now() where id = ${first!.id}`;
  await until(runs, (found) => found.some(({ status }) => status === "completed"));
  const [payload] = await sql`
    select expires_at > now() + interval '90 days' as "isKept" from notification_payloads
    where transaction_id = ${transaction_id}`;
  assert.equal(payload!.isKept, true);
});

test("a batch tells that a message to a suppressed address of an inline profile is skipped", async () => {
  const tenant = await newSender(node);
  const workflow_key = await tenant.workflow({ channels: { email: { subject: "S", body: "B" } } });
  const email = "gone@example.com";
  await tenant.ok("POST", "/api/v2/notification/suppressions", { channel: "email", identity: email });
  const known = await tenant.subscriber({ email: "new@example.com" });
  const triggers = [freshName(), known.external_id].map((subscriber_external_id) => ({
    ...{ workflow_key, subscriber_external_id },
    subscriber: { email },
  }));
  const { results } = (await tenant.ok("POST", `${triggerPath}:batch`, { triggers })).data;
  assert.deepEqual(
    results.map(({ outcomes }: ResponseData) => outcomes.map(({ outcome }: ResponseData) => outcome)),
    [["skipped"], ["skipped"]],
  );
});
