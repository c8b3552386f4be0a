import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, describe, test } from "node:test";
import { operations } from "../harness/operations.ts";
import { connect } from "../harness/postgres-server.ts";
import { readRows } from "../harness/rows.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { callOperation } from "../harness/wire.ts";
import {
  freshName,
  inEachProtocol,
  newTenant,
  type ResponseData,
  type TenantFixture,
} from "../routing/tenant-fixture.ts";

let node: TestService;
let tenant: TenantFixture;
before(async () => {
  node = await startService();
  tenant = await newTenant(node);
});

const workflows = "/api/v2/notification/workflows";

async function newSubscriber(fields: object = {}, of = tenant): Promise<string> {
  const profile = { external_id: freshName(), ...fields };
  return (await of.ok("POST", "/api/v2/notification/subscribers", profile)).data.id;
}
const pathOf = (subscriberId: string) => `/api/v2/notification/subscribers/${subscriberId}/preferences`;
const set = async (subscriberId: string, row: object) => (await tenant.ok("POST", pathOf(subscriberId), row)).data;
const preview = async (subscriberId: string, request: object) =>
  (await tenant.ok("POST", `${pathOf(subscriberId)}:preview`, request)).data;
const put = async (key: string, workflow: object = {}) =>
  (await tenant.ok("PUT", `${workflows}/${key}`, workflow)).data;
/** A short form of a preview's result for one channel. */
function said({ channels }: ResponseData, channel: string) {
  const { allowed, reason_code, winning_layer } = channels.find((each: ResponseData) => each.channel === channel);
  return [allowed, reason_code, winning_layer];
}
const effects = ({ channels }: ResponseData, channel: string) =>
  channels
    .find((each: ResponseData) => each.channel === channel)
    .trace.map(({ layer, effect }: ResponseData) => `${layer} ${effect}`);

describe("rows", () => {
  test("a subscriber's rows are identified by their keys, and setting one again replaces it completely", async () => {
    const ada = await newSubscriber();
    await put("order.shipped");
    const contexts = { workflow_key: "order.shipped", topic_key: "team", context_keys: ["b", "a", "b"] };
    const schedule = { timezone: "Europe/Berlin", ranges: [{ days: ["mon"], start: "22:00", end: "07:00" }] };
    const channels = {
      email: { enabled: false, read_only: false, condition: "" },
      in_app: { read_only: true, condition: "true" },
    };
    const rows = [
      await set(ada, { all: true, schedule }),
      await set(ada, { workflow_key: "order.shipped", channels, condition: "payload.n > 1" }),
      await set(ada, { layer: 5, ...contexts, read_only: true }),
    ];
    assert.deepEqual(
      rows.map(({ layer, workflow_key, topic_key, context_keys }) => [layer, workflow_key, topic_key, context_keys]),
      [
        [3, "", "", []],
        [4, "order.shipped", "", []],
        [5, "order.shipped", "team", ["a", "b"]],
      ],
    );
    assert.deepEqual([rows[0].all, rows[0].schedule], [true, { ...schedule, mode: "skip" }]);
    assert.deepEqual([rows[1].channels, rows[1].condition], [channels, "payload.n > 1"]);
    assert.equal("all" in rows[1], false);
    assert.equal(rows[2].read_only, true);

    const again = await set(ada, { ...contexts, context_keys: ["a", "b"], all: false });
    assert.deepEqual([again.id, again.read_only, again.all, again.record_version], [rows[2].id, false, false, 2]);
    await set(ada, { ...contexts, context_keys: ["a"], all: true });
    const { data, total } = await tenant.ok("GET", pathOf(ada));
    assert.equal(total, 4);
    assert.deepEqual(data[0], rows[0]);
    const events = (await tenant.ok("GET", "/api/events?types=subscriber.preference.set")).data;
    assert.ok(events.some((event: ResponseData) => event.subject === ada && event.data.layer === 5));
  });

  test("a subscriber cannot set layers 1 and 2, and keys must match the layer", async () => {
    const ada = await newSubscriber();
    const refused = async (field: string, row: object) => {
      const { body } = await tenant.refused("INVALID_ARGUMENT", "POST", pathOf(ada), row);
      assert.deepEqual(
        body.violations.map((each: ResponseData) => each.field),
        [field],
        JSON.stringify(row),
      );
    };
    for (const layer of [0, 1, 2, 6]) await refused("layer", { layer, workflow_key: "w" });
    await refused("workflow_key", { layer: 3, workflow_key: "w" });
    await refused("workflow_key", { layer: 4 });
    await refused("workflow_key", { topic_key: "t" });
    await refused("topic_key", { layer: 5, workflow_key: "w" });
    await refused("topic_key", { layer: 4, workflow_key: "w", topic_key: "t" });
    await refused("context_keys", { workflow_key: "w", context_keys: ["a"] });
    await refused("schedule.timezone", { schedule: { timezone: "Mars/Olympus" } });
    const range = { days: ["mon"], start: "22:00", end: "07:00" };
    await refused("schedule.ranges[0].start", { schedule: { ranges: [{ ...range, start: "24:00" }] } });
    await refused("schedule.ranges[0].end", { schedule: { ranges: [{ ...range, end: "7:00" }] } });
    await refused("schedule.ranges[0].days[0]", { schedule: { ranges: [{ ...range, days: ["monday"] }] } });
    await refused("schedule.ranges[0].days", { schedule: { ranges: [{ ...range, days: [] }] } });
    assert.equal((await tenant.ok("GET", pathOf(ada))).total, 0);
  });

  test("a condition that cannot be evaluated is rejected with the position of the error", async () => {
    const ada = await newSubscriber();
    const { body } = await tenant.refused("INVALID_ARGUMENT", "POST", pathOf(ada), {
      channels: { sms: { condition: "payload.n >\n > 3" } },
    });
    assert.deepEqual([body.violations[0].field, body.violations[0].rule], ["channels.sms.condition", "cel.syntax"]);
    assert.equal(body.position.line, 2);
    for (const condition of ["item.x == 1", "subscriber", "1 + 1", "payload.n > "]) {
      await tenant.refused("INVALID_ARGUMENT", "POST", pathOf(ada), { condition });
    }
    assert.equal((await tenant.ok("GET", pathOf(ada))).total, 0);
  });

  test("a subscriber has at most 1,000 rows, and existing ones can still be set", async () => {
    const ada = await newSubscriber();
    const sql = connect(node.databaseUrl, 1);
    try {
      await sql`
        insert into notification_preferences (tenant_id, subscriber_id, id, layer, workflow_key, preferences, created_at, updated_at)
        select ${tenant.id}, ${ada}, lpad(n::text, 26, '0'), 4, 'w' || n, '{"channels":{},"readOnly":false,"condition":""}', now(), now()
        from generate_series(1, 999) as n`;
    } finally {
      await sql.end();
    }
    for (const key of ["a", "b", "c", "w7"]) await put(key);
    const created = await Promise.all(
      ["a", "b", "c"].map((workflow_key) => tenant.rest.call("POST", pathOf(ada), { workflow_key, all: false })),
    );
    const codes = created.map(({ status, body }) => (status === 200 ? "OK" : body.errorCode)).sort();
    assert.deepEqual(codes, ["FAILED_PRECONDITION", "FAILED_PRECONDITION", "OK"]);
    assert.equal((await set(ada, { workflow_key: "w7", all: false })).record_version, 2);
    assert.equal((await tenant.ok("GET", `${pathOf(ada)}?limit=1`)).total, 1000);
  });
});

test("a preference for a workflow that does not exist is refused with the nearest key, unless the tenant allows it", async () => {
  const own = await newTenant(node);
  const ada = await newSubscriber({}, own);
  await own.ok("PUT", `${workflows}/invoice.due`, {});
  const mistyped = { workflow_key: "invoice.dew", all: false };
  const nearest = "must be the key of a notification workflow; did you mean invoice.due?";
  for (const row of [mistyped, { ...mistyped, topic_key: "team" }]) {
    const { body } = await own.refused("INVALID_ARGUMENT", "POST", pathOf(ada), row);
    assert.deepEqual(body.violations, [{ field: "workflow_key", rule: "exists", message: nearest }]);
  }
  assert.equal((await own.ok("GET", pathOf(ada))).total, 0);

  // The subscriber itself learns no keys.
  const { data } = await own.ok("POST", `/api/v2/notification/subscribers/${ada}/tokens`, { ttl_s: 60 });
  const headers = { authorization: `Bearer ${data.token}`, "content-type": "application/json" };
  const url = node.baseUrl + pathOf(ada);
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(mistyped) });
  assert.equal(response.status, 400);
  assert.ok(!(await response.text()).includes("invoice.due"));

  await own.ok("PUT", "/api/config/values/notification.allow_unknown_workflows", { value: true });
  await until(
    () => own.rest.call("POST", pathOf(ada), mistyped),
    ({ status }) => status === 200,
  );
});

test("a subscriber can opt out of every workflow that can be triggered, whatever its key", async () => {
  for (const key of ["order-shipped", "Order.Paid", "a_b", "invoice-2.sent"]) {
    const ada = await newSubscriber();
    const workflow_key = `${key}${freshName()}`;
    await put(workflow_key, { channels: { in_app: { body: "B" } } });
    assert.equal((await set(ada, { workflow_key, all: false })).workflow_key, workflow_key);
    const trigger = { workflow_key, subscriber_id: ada };
    const { data } = await tenant.ok("POST", "/api/v2/notifications/trigger", trigger);
    assert.deepEqual(
      [data.outcomes[0].outcome, data.outcomes[0].preference_reason_code],
      ["skipped", "denied_by_layer"],
    );
  }
});

describe("preview", () => {
  test("reports every layer's effect on each channel, equally in every protocol", async () => {
    const key = `w.${freshName()}`;
    const ada = await newSubscriber({ data: { plan: "pro" } });
    await put(key, {
      preferences: {
        all: true,
        channels: { sms: { enabled: false, read_only: true }, chat: { condition: "payload.n > 3" } },
      },
    });
    await tenant.ok("PUT", `${workflows}/${key}/users/u1`, { preferences: { channels: { push: { enabled: false } } } });
    await set(ada, { all: true, condition: "subscriber.data.plan == 'pro'" });
    await set(ada, { workflow_key: key, channels: { email: { enabled: false } } });
    await set(ada, {
      workflow_key: key,
      topic_key: "t",
      context_keys: ["x", "y"],
      channels: { email: { enabled: true } },
    });
    const request = {
      subscriber_id: ada,
      workflow_key: key,
      user_id: "u1",
      topic_key: "t",
      context_keys: ["y", "x", "y"],
      channels: ["email", "sms", "push", "chat"],
      payload_context: { n: 3 },
    };
    for (const { protocol, data, text } of await inEachProtocol(
      node,
      tenant,
      "SubscriberService/PreviewPreferences",
      request,
    )) {
      assert.equal(data.resolver_version, "preference-v2", text);
      assert.deepEqual(
        data.channels.map((each: ResponseData) => each.channel),
        ["email", "sms", "push", "chat", "in_app"],
      );
      assert.deepEqual(said(data, "email").slice(0, 2), [true, "allowed_by_layer"], protocol);
      assert.equal(said(data, "email")[2], 5, protocol);
      assert.deepEqual(effects(data, "email"), ["1 allows", "2 silent_on_channel", "3 allows", "4 denies", "5 allows"]);
      assert.deepEqual(effects(data, "sms"), [
        "1 denies",
        "2 silent_on_channel",
        "3 locked",
        "4 silent_on_channel",
        "5 silent_on_channel",
      ]);
      assert.equal(said(data, "sms")[1], "denied_read_only");
      assert.deepEqual(effects(data, "chat").slice(0, 3), ["1 denies", "2 silent_on_channel", "3 allows"]);
      assert.equal(said(data, "in_app")[1], "denied_not_requested");
    }
    const rest = await preview(ada, { workflow_key: key, payload_context: { n: 3 } });
    const [first, , third] = rest.channels[3].trace;
    assert.deepEqual(first, {
      layer: 1,
      present: true,
      applied: true,
      enabled: true,
      read_only: false,
      condition: "false",
      effect: "denies",
    });
    assert.deepEqual([third.condition, third.applied], ["true", true]);
    assert.deepEqual(effects(rest, "push"), ["1 allows", "2 absent", "3 allows", "4 silent_on_channel", "5 absent"]);
  });

  test("an unknown workflow, topic or row leaves channels allowed by default, with 0 as the winning layer", async () => {
    const ada = await newSubscriber();
    const nobody = await preview(ada, { workflow_key: "no.such.workflow", topic_key: "t", user_id: "u" });
    assert.deepEqual(said(nobody, "email"), [true, "allowed_default", 0]);
    await tenant.refused("INVALID_ARGUMENT", "POST", `${pathOf(ada)}:preview`, {});
    await tenant.refused("INVALID_ARGUMENT", "POST", `${pathOf(ada)}:preview`, {
      workflow_key: "w",
      channels: ["fax"],
    });
  });

  test("reflects a change immediately", async () => {
    const key = `w.${freshName()}`;
    const ada = await newSubscriber();
    for (const all of [false, true, false]) {
      await put(key, { preferences: { all } });
      assert.equal(said(await preview(ada, { workflow_key: key }), "push")[0], all);
    }
    await tenant.ok("DELETE", `${workflows}/${key}`);
    assert.equal(said(await preview(ada, { workflow_key: key }), "push")[1], "allowed_default");
    await tenant.ok("DELETE", `/api/v2/notification/subscribers/${ada}`);
    assert.equal(said(await preview(ada, { workflow_key: key }), "push")[1], "denied_subscriber_inactive");
  });

  test("accepts a payload of at most 64 KiB, changes nothing, and leaves no trace of the payload", async () => {
    const ada = await newSubscriber();
    const mark = randomBytes(16).toString("hex");
    // The value on which the condition fails must not be revealed either.
    await set(ada, { condition: "payload.secret.missing == payload.secret" });
    const sql = connect(node.databaseUrl, 1);
    try {
      const held = await readRows(sql);
      const payloadOf = (bytes: number) => ({ secret: mark, fill: "ä".repeat((bytes - 60) / 2) });
      const fitting = payloadOf(65_536);
      const response = await tenant.rest.call("POST", `${pathOf(ada)}:preview`, {
        workflow_key: "w",
        payload_context: fitting,
      });
      assert.equal(response.status, 200, response.text);
      assert.ok(!response.text.includes(mark));
      const large = await tenant.refused("INVALID_ARGUMENT", "POST", `${pathOf(ada)}:preview`, {
        workflow_key: "w",
        payload_context: payloadOf(65_640),
      });
      assert.equal(large.body.violations[0].field, "payload_context");
      assert.ok(!large.text.includes(mark));
      assert.deepEqual(await readRows(sql), held);
    } finally {
      await sql.end();
    }
  });
});

test("readers can preview and list, but not set", async () => {
  const ada = await newSubscriber();
  const reader = await tenant.caller({ scopes: ["notification:read"], roles: ["viewer"] });
  assert.equal((await reader.call("POST", `${pathOf(ada)}:preview`, { workflow_key: "w" })).status, 200);
  assert.equal((await reader.call("GET", pathOf(ada))).status, 200);
  assert.equal((await reader.call("POST", pathOf(ada), { all: true })).status, 403);
  assert.equal((await reader.call("PUT", `${workflows}/w`, {})).status, 403);
});

test("rows and workflows can be set over Connect and REST", async () => {
  const ada = await newSubscriber();
  const caller = { baseUrl: node.baseUrl, headers: { "x-api-key": tenant.key } };
  const over = async (name: string, message: object) => {
    const operation = operations.find(({ id }) => id === `service.api.${name}`)!;
    const outcome = await callOperation("Connect", operation, caller, message as Record<string, unknown>);
    assert.equal(outcome.code, "OK", outcome.text);
    return outcome.body;
  };
  const key = `w.${freshName()}`;
  await over("NotificationWorkflowService/UpsertNotificationWorkflow", {
    workflowKey: key,
    preferences: { all: false },
  });
  await over("SubscriberService/UpsertPreference", {
    subscriberId: ada,
    workflowKey: key,
    channels: { inApp: { enabled: true } },
  });
  const { preferences } = await over("SubscriberService/ListPreferences", { subscriberId: ada });
  assert.deepEqual(preferences[0].channels, { inApp: { enabled: true, readOnly: false, condition: "" } });
  assert.deepEqual(said(await preview(ada, { workflow_key: key }), "in_app"), [true, "allowed_by_layer", 4]);
  assert.deepEqual(said(await preview(ada, { workflow_key: key }), "email"), [false, "denied_by_layer", 1]);
});
