import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService } from "../harness/service.ts";
import { newSender, type Sender } from "./sender-fixture.ts";
import { contents } from "./step-fixture.ts";

let sender: Sender;
before(async () => {
  sender = await newSender(await startService({}));
});

const path = "/api/v2/notification/workflows/checked";
const inbox = { key: "inbox", send: { channels: ["in_app"] } };
const wait = (delay: object) => [{ key: "wait", delay }, inbox];

const refusals: readonly (readonly [string, readonly object[], string])[] = [
  ["a key that is used twice", [inbox, inbox], "steps[1].key"],
  ["a key that expressions cannot read", [{ ...inbox, key: "2nd" }], "steps[0].key"],
  ["a step that does nothing", [{ key: "a" }, inbox], "steps[0]"],
  ["a step that does two things", [{ ...inbox, delay: { for_s: 1 } }], "steps[0]"],
  ["steps that never send", [{ key: "wait", delay: { for_s: 1 } }], "steps"],
  ["a channel without content", [{ key: "a", send: { channels: ["in_app", "chat"] } }], "steps[0].send.channels[1]"],
  ["an unknown channel", [{ key: "a", send: { channels: ["fax"] } }], "steps[0].send.channels[0]"],
  ["a delay without a time", wait({}), "steps[0].delay"],
  ["a delay with two times", wait({ for_s: 1, at: "09:00" }), "steps[0].delay"],
  ["a delay that is too long", wait({ for_s: 40_000_000 }), "steps[0].delay.for_s"],
  ["a time of day that does not exist", wait({ at: "25:00" }), "steps[0].delay.at"],
  ["a time zone that does not exist", wait({ at: "09:00", timezone: "Mars/Olympus" }), "steps[0].delay.timezone"],
  ["days without a time of day", wait({ for_s: 1, days: ["mon"] }), "steps[0].delay.days"],
  ["an expression that returns no time", wait({ until: "1 + 1" }), "steps[0].delay.until"],
  ["an expression with an unknown variable", wait({ until: "data.at" }), "steps[0].delay.until"],
  ["a condition that is not a condition", [{ ...inbox, condition: "'yes'" }], "steps[0].condition"],
  ["a condition on a later step", [{ ...inbox, condition: "steps.mail.sent" }], "steps[0].condition"],
  ["a throttle without a limit", [{ key: "t", throttle: { window_s: 60 } }, inbox], "steps[0].throttle.limit"],
  [
    "a digest key that is a list",
    [{ key: "d", digest: { key: "[1]", window: { for_s: 1 } } }, inbox],
    "steps[0].digest.key",
  ],
  ["a digest without a window", [{ key: "d", digest: {} }, inbox], "steps[0].digest.window"],
  [
    "two digests",
    [{ key: "d", digest: { window: { for_s: 1 } } }, { key: "e", digest: { window: { for_s: 1 } } }, inbox],
    "steps",
  ],
  [
    "a wait for a step without an inbox message",
    [
      { key: "mail", send: { channels: ["email"] } },
      { key: "a", await_inbox: { step: "mail", state: "read", for_s: 1 } },
    ],
    "steps[1].await_inbox.step",
  ],
];

for (const [what, steps, field] of refusals) {
  test(`${what} is refused`, async () => {
    const { body } = await sender.refused("INVALID_ARGUMENT", "PUT", path, { channels: contents, steps });
    assert.equal(body.violations[0].field, field, JSON.stringify(body));
    assert.notEqual(body.violations[0].message, "");
    await sender.refused("NOT_FOUND", "GET", path);
  });
}

test("steps are returned as they were stored, and a workflow can be sent back", async () => {
  const steps = [
    { key: "limit", throttle: { limit: 3, window_s: 60, key: "payload.a" } },
    { key: "batch", digest: { key: "payload.b", window: { at: "09:00", days: ["mon"], timezone: "Europe/Berlin" } } },
    { key: "inbox", condition: "digest.count > 1", send: { channels: ["in_app"] } },
    { key: "seen", await_inbox: { step: "inbox", state: "seen", for_s: 60 } },
    { key: "wait", delay: { until: "payload.at" } },
    { key: "mail", condition: "!steps.inbox.seen", send: { channels: ["email", "sms"] } },
  ];
  const url = `${path}.stored`;
  const { data: stored } = await sender.ok("PUT", url, { channels: contents, steps });
  const { data: again } = await sender.ok("PUT", url, { channels: stored.channels, steps: stored.steps });
  assert.deepEqual(again.steps, stored.steps);
  const kinds = stored.steps.map((step: Record<string, unknown>) =>
    ["send", "delay", "digest", "throttle", "await_inbox"].filter((kind) => step[kind] != null),
  );
  assert.deepEqual(kinds, [["throttle"], ["digest"], ["send"], ["await_inbox"], ["delay"], ["send"]]);
  assert.equal(stored.steps[1].digest.events_max, 100);
});

test("a workflow with steps needs the queue", async () => {
  const alone = await newSender(await startService({ "notification.dispatch.queue": "none" }));
  const workflow_key = await alone.workflow({ channels: contents, steps: [inbox] });
  const { id: subscriber_id } = await alone.subscriber();
  await alone.refused("FAILED_PRECONDITION", "POST", "/api/v2/notifications/trigger", { workflow_key, subscriber_id });
});
